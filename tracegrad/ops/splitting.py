"""Tensors taken apart, as views: split, chunk, unbind and their relatives."""

from __future__ import annotations

import itertools
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import IndexRangeError, ShapeError
from tracegrad.ops._families import view_family
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.joining import cat, stack
from tracegrad.ops.shaping import zeros_of
from tracegrad.ops.views import at_dim
from tracegrad.spec import TensorSpec

# -- split --------------------------------------------------------------------------


def _bounds(sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return where each part starts and ends."""
    bounds = []
    start = 0
    for size in sizes:
        bounds.append((start, start + size))
        start = start + size
    return bounds


def _split_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape, sizes = operands[0]._array.shape, attributes["split_sizes"]
    if not shape:
        raise ShapeError("split: a 0-dim tensor has no dimension to split")
    dim = canonical_dim("split", attributes["dim"], len(shape))
    if any(s < 0 for s in sizes) or sum(sizes) != shape[dim]:
        raise ShapeError(
            f"split: sizes {list(sizes)} must not be negative and must add up to "
            f"{shape[dim]}, the size of dimension {dim}"
        )
    return {"split_sizes": sizes, "dim": dim}


def _split_abstract(
    input: TensorSpec, split_sizes: tuple[int, ...], dim: int
) -> tuple[TensorSpec, ...]:
    return tuple(
        TensorSpec(
            input.dtype,
            (*input.shape[:dim], size, *input.shape[dim + 1 :]),
            input.strides,
            input.device,
        )
        for size in split_sizes
    )


@view_family(
    abstract=_split_abstract,
    kernel=lambda xp, input, split_sizes, dim: [
        input[at_dim(dim, slice(a, b))] for a, b in _bounds(split_sizes)
    ],
    canonical=_split_canonical,
    examples=lambda rng: [((rng.standard_normal((2, 5)), (2, 3), 1), {})],
)
def split_with_sizes(
    input: Tensor, split_sizes: tuple[int, ...], dim: int = 0
) -> tuple[Tensor, ...]:
    """Parts of given sizes along a dimension."""


def _split_vjp(
    cts: Any, input_spec: Any, split_sizes: tuple[int, ...], dim: int
) -> Tensor:
    known = next(ct for ct in cts if ct is not None)
    shape, dtype = input_spec
    parts = []
    for ct, size in zip(cts, split_sizes, strict=True):
        part = (*shape[:dim], size, *shape[dim + 1 :])
        parts.append(zeros_of((part, dtype), known) if ct is None else ct)
    return cat(parts, dim)  # type: ignore[no-any-return]


split_with_sizes.vjp(input=_split_vjp)


@public_function()
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Return parts along a dimension, as views.

    Parameters
    ----------
    tensor : Tensor, shape (...)
    split_size_or_sections : int or sequence of int
        The size of each part (the last may be smaller), or all their sizes.
    dim : int

    Raises
    ------
    ShapeError
        If the sizes do not add up, or the tensor has no dimension.
    """
    if not isinstance(split_size_or_sections, int):
        return split_with_sizes(tensor, tuple(split_size_or_sections), dim)
    size = split_size_or_sections
    if tensor.ndim == 0:
        raise ShapeError("split: a 0-dim tensor has no dimension to split")
    length = tensor._array.shape[canonical_dim("split", dim, tensor.ndim)]
    if size < 0 or (size == 0 and length > 0):
        raise ShapeError(f"split: the size of a part must be positive, it is {size}")
    return split_with_sizes(tensor, _equal_parts(length, size), dim)


def _equal_parts(length: int, size: int) -> tuple[int, ...]:
    if length == 0:
        return (0,)
    return tuple(min(size, length - start) for start in range(0, length, size))


@public_function()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """Return at most `chunks` parts of equal size (the last smaller), as views.

    Raises
    ------
    ShapeError
        If `chunks` is not positive.
    """
    if chunks <= 0:
        raise ShapeError(f"chunk: the number of parts must be positive, it is {chunks}")
    if input.ndim == 0:
        raise ShapeError("chunk: a 0-dim tensor has no dimension to split")
    length = input._array.shape[canonical_dim("chunk", dim, input.ndim)]
    if length == 0:
        return split_with_sizes(input, (0,) * chunks, dim)
    return split_with_sizes(input, _equal_parts(length, -(-length // chunks)), dim)


@public_function()
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> Any:
    """Return exactly so many parts of nearly equal size, or parts between indices.

    Parameters
    ----------
    input : Tensor, shape (...)
    indices_or_sections : int or sequence of int
    dim : int

    Raises
    ------
    ShapeError
        If the number of parts is not positive, or the tensor has no dimension.
    """
    if input.ndim == 0:
        raise ShapeError("tensor_split: a 0-dim tensor has no dimension to split")
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    length = input._array.shape[canonical_dim("tensor_split", dim, input.ndim)]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise ShapeError(f"tensor_split: {count} parts can't be made")
        small, more = divmod(length, count)
        sizes = tuple(small + (place < more) for place in range(count))
        return split_with_sizes(input, sizes, dim)
    return _between(input, tuple(indices_or_sections), dim, length)


def _between(input: Tensor, indices: tuple[int, ...], dim: int, length: int) -> Any:
    from_front = [min(max(i + length if i < 0 else i, 0), length) for i in indices]
    bounds = [0, *from_front, length]
    pairs = list(itertools.pairwise(bounds))
    if all(a <= b for a, b in pairs):
        return split_with_sizes(input, tuple(b - a for a, b in pairs), dim)
    return tuple(_part(input, a, b, dim) for a, b in pairs)


def _part(input: Tensor, start: int, stop: int, dim: int) -> Tensor:
    return input.narrow(dim, start, max(stop - start, 0))  # type: ignore[attr-defined, no-any-return]


def _split_along(name: str, dim_of: Any, least: int) -> None:
    def function(input: Tensor, indices_or_sections: Any) -> Any:
        if input.ndim < least:
            raise ShapeError(
                f"{name} wants at least {least} dimensions, the tensor has {input.ndim}"
            )
        if isinstance(indices_or_sections, int):
            length = input._array.shape[dim_of(input)]
            if indices_or_sections <= 0 or length % indices_or_sections:
                raise ShapeError(
                    f"{name}: size {length} does not divide into "
                    f"{indices_or_sections} parts"
                )
        return tensor_split(input, indices_or_sections, dim_of(input))

    function.__name__ = name
    function.__doc__ = f"Return parts of `input`, as `tensor_split` does ({name[0]})."
    public_function()(function)


_split_along("hsplit", lambda input: 0 if input.ndim == 1 else 1, 1)
_split_along("vsplit", lambda input: 0, 2)
_split_along("dsplit", lambda input: 2, 3)

# -- unbind -------------------------------------------------------------------------


def _unbind_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    if ndim == 0:
        raise IndexRangeError("unbind: a 0-dim tensor has no dimension to take apart")
    return {"dim": canonical_dim("unbind", attributes["dim"], ndim)}


def _unbind_abstract(input: TensorSpec, dim: int) -> tuple[TensorSpec, ...]:
    shape = input.shape[:dim] + input.shape[dim + 1 :]
    strides = input.strides[:dim] + input.strides[dim + 1 :]
    one = TensorSpec(input.dtype, shape, strides, input.device)
    return (one,) * int(input.shape[dim])


@view_family(
    abstract=_unbind_abstract,
    kernel=lambda xp, input, dim: [
        input[at_dim(dim, place)] for place in range(input.shape[dim])
    ],
    canonical=_unbind_canonical,
    examples=lambda rng: [((rng.standard_normal((2, 3)), 1), {})],
)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All places along a dimension, which disappears."""


def _unbind_vjp(cts: Any, input_spec: Any, dim: int) -> Tensor:
    known = next(ct for ct in cts if ct is not None)
    shape, dtype = input_spec
    part = (shape[:dim] + shape[dim + 1 :], dtype)
    parts = [zeros_of(part, known) if ct is None else ct for ct in cts]
    return stack(parts, dim)  # type: ignore[no-any-return]


unbind.vjp(input=_unbind_vjp)
