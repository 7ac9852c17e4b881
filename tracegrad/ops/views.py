"""Views: other shapes and orders over the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.dtypes import DType, float64, uint8
from tracegrad.errors import ArgumentError, IndexRangeError, ShapeError
from tracegrad.location import publish
from tracegrad.ops._families import view_family
from tracegrad.ops._functions import METHODS
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.casts import clone
from tracegrad.ops.creation import shape_of
from tracegrad.ops.shaping import sum_to_shape, written_into_zeros
from tracegrad.sizes import Dimension, Shape, numel, shape_text
from tracegrad.spec import TensorSpec

# -- transpose, permute -----------------------------------------------------------


def _permuted(spec: TensorSpec, dims: tuple[int, ...]) -> TensorSpec:
    return TensorSpec(
        spec.dtype,
        tuple(spec.shape[d] for d in dims),
        tuple(spec.strides[d] for d in dims),
        spec.device,
    )


def _permute_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    if len(attributes["dims"]) != ndim:
        raise ShapeError(
            f"permute: {len(attributes['dims'])} dims for a tensor of {ndim} dimensions"
        )
    dims = tuple(canonical_dim("permute", d, ndim) for d in attributes["dims"])
    if sorted(dims) != list(range(ndim)):
        raise ShapeError(
            f"permute: dims {list(attributes['dims'])} are no order of the "
            f"{ndim} dimensions"
        )
    return {"dims": dims}


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((2, 3))


@view_family(
    abstract=_permuted,
    kernel=lambda xp, input, dims: xp.transpose(input, dims),
    canonical=_permute_canonical,
    numpy="{input}.transpose({dims})",
    examples=lambda rng: [((rng.standard_normal((2, 3, 4)), 2, 0, 1), {})],
)
def permute(input: Tensor, *dims: int) -> Tensor:
    """The dimensions in another order."""


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(dims))


permute.vjp(input=lambda ct, dims: permute(ct, *_inverse(dims)))


def _transpose_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    return {
        name: canonical_dim("transpose", attributes[name], ndim)
        for name in ("dim0", "dim1")
    }


def _swapped(ndim: int, dim0: int, dim1: int) -> tuple[int, ...]:
    dims = list(range(ndim))
    if ndim:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return tuple(dims)


@view_family(
    abstract=lambda input, dim0, dim1: _permuted(
        input, _swapped(input.ndim, dim0, dim1)
    ),
    kernel=lambda xp, input, dim0, dim1: xp.transpose(
        input, _swapped(input.ndim, dim0, dim1)
    ),
    canonical=_transpose_canonical,
    numpy="np.swapaxes({input}, {dim0}, {dim1})",
    examples=lambda rng: [((_matrix(rng), 0, 1), {})],
)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""


transpose.vjp(input=lambda ct, dim0, dim1: transpose(ct, dim0, dim1))


# -- view, reshape ----------------------------------------------------------------


def resolved_shape(name: str, shape: Shape, count: Dimension) -> Shape:
    """Return `shape` with its -1 replaced.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to `count`, or -1 is ambiguous.
    """
    unknown = [i for i, s in enumerate(shape) if isinstance(s, int) and s == -1]
    if len(unknown) > 1:
        raise ShapeError(f"{name}: only one size can be -1 in {shape_text(shape)}")
    if any(isinstance(s, int) and s < -1 for s in shape):
        raise ShapeError(f"{name}: {shape_text(shape)} has a negative size")
    known = numel(s for i, s in enumerate(shape) if i not in unknown)
    if unknown:
        return _with_missing(name, shape, unknown[0], known, count)
    if known != count:
        raise ShapeError(
            f"{name}: shape {shape_text(shape)} has {known} elements, "
            f"the tensor has {count}"
        )
    return shape


def _with_missing(
    name: str, shape: Shape, place: int, known: Dimension, count: Dimension
) -> Shape:
    if known == 0:
        raise ShapeError(
            f"{name}: -1 is ambiguous in {shape_text(shape)}, another size is 0"
        )
    if isinstance(count, int) and isinstance(known, int) and count % known:
        raise ShapeError(
            f"{name}: {count} elements do not fill shape {shape_text(shape)}"
        )
    return (*shape[:place], count // known, *shape[place + 1 :])  # type: ignore[operator]


def _view_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    count = operands[0]._array.size
    return {"shape": resolved_shape("view", attributes["shape"], count)}


def view_strides(spec: TensorSpec, shape: Shape) -> Shape | None:
    """Return the strides of `spec` seen as `shape`, or None if it needs a copy.

    Dimensions that lie next to each other in memory are joined, then split again;
    a new dimension may not reach over a gap.
    """
    if spec.size == 0 or spec.is_contiguous():
        return TensorSpec(spec.dtype, shape).strides
    chunks = _joined(spec)
    strides: list[Dimension] = []
    remaining = list(reversed(shape))
    for size, step in reversed(chunks):
        filled: Dimension = 1
        while remaining and filled != size:
            strides.append(step * filled)
            filled = filled * remaining.pop(0)
            if isinstance(filled, int) and isinstance(size, int) and filled > size:
                return None
        if filled != size:
            return None
    strides.extend(1 for _ in remaining)
    return tuple(reversed(strides))


def _joined(spec: TensorSpec) -> list[tuple[Dimension, Dimension]]:
    chunks: list[tuple[Dimension, Dimension]] = []
    for size, step in zip(spec.shape, spec.strides, strict=True):
        if size == 1:
            continue
        if chunks and chunks[-1][1] == step * size:
            chunks[-1] = (chunks[-1][0] * size, step)
        else:
            chunks.append((size, step))
    return chunks


def _view_abstract(input: TensorSpec, shape: Shape) -> TensorSpec:
    shape = resolved_shape("view", shape, input.size)
    strides = view_strides(input, shape)
    if strides is None:
        raise ShapeError(
            f"view: shape {shape_text(shape)} does not fit the strides "
            f"{shape_text(input.strides)} of shape {shape_text(input.shape)} without "
            "a copy; use reshape()"
        )
    return TensorSpec(input.dtype, shape, strides, input.device)


def _view_kernel(xp: Any, input: Any, shape: Shape) -> Any:
    if input.flags.c_contiguous:
        return input.reshape(shape)
    step = input.itemsize
    spec = TensorSpec(uint8, input.shape, tuple(s // step for s in input.strides))
    strides = view_strides(spec, shape)
    if strides is None:
        raise ShapeError(f"view: shape {shape_text(shape)} needs a copy")
    return xp.lib.stride_tricks.as_strided(input, shape, [s * step for s in strides])


@view_family(
    name="view",
    abstract=_view_abstract,
    kernel=_view_kernel,
    canonical=_view_canonical,
    shape_only=True,
    numpy="{input}.reshape({shape})",
    public=False,
    method=False,
    examples=lambda rng: [((_matrix(rng), 3, 2), {})],
)
def reshaped_view(input: Tensor, *shape: int) -> Tensor:
    """The same elements in another shape, without a copy."""


reshaped_view.vjp(input=lambda ct, input_spec: reshape(ct, *input_spec[0]))


@public_function()
def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Return the elements in another shape: a view where possible, else a copy.

    Parameters
    ----------
    input : Tensor, shape (...)
    *shape : int, or one sequence of int
        One size may be -1: what is left.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to the number of elements.
    """
    resolved = resolved_shape("reshape", shape_of(shape), input._array.size)
    if view_strides(spec_of(input), resolved) is None:
        input = clone(input, True)
    return reshaped_view(input, *resolved)  # type: ignore[no-any-return]


# Some views depend on the strides, not only on the shape. A gradient has strides of
# its own, so on a path such an operator is replaced by its logical form, which may
# copy: "abstract", "kernel" and "call", under `facts["logical"]`.
reshaped_view.facts["logical"] = {
    "abstract": lambda input, shape: TensorSpec(input.dtype, shape, (), input.device),
    "kernel": lambda xp, input, shape: input.reshape(shape),
    "call": lambda input, shape: reshape(input, *shape),
}


def _same_memory_dtype(input: TensorSpec, dtype: DType) -> TensorSpec:
    old, new = input.dtype.itemsize, dtype.itemsize
    if old == new:
        return TensorSpec(dtype, input.shape, input.strides, input.device)
    if input.ndim == 0 or input.strides[-1] != 1:
        raise ShapeError(
            f"view: elements of {old} bytes seen as {new} bytes need a last dimension "
            "without gaps"
        )
    last = input.shape[-1] * old
    if last % new:  # type: ignore[operator]
        raise ShapeError(
            f"view: rows of {last} bytes do not divide into {dtype.name}, {new} bytes"
        )
    strides = tuple(s * old // new for s in input.strides[:-1])
    return TensorSpec(
        dtype, (*input.shape[:-1], last // new), (*strides, 1), input.device
    )


@view_family(
    abstract=_same_memory_dtype,
    kernel=lambda xp, input, dtype: input.view(dtype.numpy),
    examples=lambda rng: [((rng.integers(0, 9, (2, 3)), float64), {})],
    public=False,
    method=False,
)
def view_dtype(input: Tensor, dtype: DType) -> Tensor:
    """The same memory read as elements of another dtype."""


def _view(input: Tensor, *shape: Any, dtype: DType | None = None) -> Tensor:
    """Return the same memory in another shape, or read as another dtype.

    Parameters
    ----------
    input : Tensor, shape (...)
    *shape : int, one sequence of int, or a DType
    dtype : DType, optional

    Raises
    ------
    ShapeError
        If that needs a copy (use `reshape`), or the sizes do not fit.
    """
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], DType) else dtype
    if wanted is not None:
        return view_dtype(input, wanted)  # type: ignore[no-any-return]
    return reshaped_view(input, *shape_of(shape))  # type: ignore[no-any-return]


publish(_view, "view")
METHODS["view"] = _view


# -- expand -----------------------------------------------------------------------


def _expand_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape, own = attributes["size"], operands[0]._array.shape
    extra = len(shape) - len(own)
    if extra < 0:
        raise ShapeError(
            f"expand: {shape_text(shape)} has fewer dimensions than {shape_text(own)}"
        )
    kept = tuple(
        own[i - extra] if s == -1 and i >= extra else s for i, s in enumerate(shape)
    )
    if any(isinstance(s, int) and s < 0 for s in kept):
        raise ShapeError(
            f"expand: a negative size in {shape_text(shape)} has no size to keep"
        )
    return {"size": kept}


def _expand_abstract(input: TensorSpec, size: Shape) -> TensorSpec:
    extra = len(size) - input.ndim
    strides: list[Dimension] = [0] * extra
    for own, step, wanted in zip(input.shape, input.strides, size[extra:], strict=True):
        if own != wanted and own != 1:
            raise ShapeError(
                f"expand: size {own} can't become {wanted}; only size 1 expands "
                f"({shape_text(input.shape)} to {shape_text(size)})"
            )
        strides.append(step if own == wanted else 0)
    return TensorSpec(input.dtype, size, tuple(strides), input.device)


def _expand_kernel(xp: Any, input: Any, size: Shape) -> Any:
    extra = len(size) - input.ndim
    strides = [0] * extra + [
        step if own == wanted else 0
        for own, step, wanted in zip(
            input.shape, input.strides, size[extra:], strict=True
        )
    ]
    # broadcast_to would mark the result read-only; the stride tells of it instead.
    return xp.lib.stride_tricks.as_strided(input, size, strides)


@view_family(
    abstract=_expand_abstract,
    kernel=_expand_kernel,
    canonical=_expand_canonical,
    broadcasts=True,
    numpy="np.broadcast_to({input}, {size})",
    examples=lambda rng: [((rng.standard_normal((3, 1)), 2, 3, 2), {})],
)
def expand(input: Tensor, *size: int) -> Tensor:
    """Dimensions of size 1 repeated, without a copy; -1 keeps a size."""


expand.vjp(input=lambda ct, input_spec: sum_to_shape(ct, input_spec[0]))


# -- select, slice ----------------------------------------------------------------


def _select_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape = operands[0]._array.shape
    if not shape:
        raise IndexRangeError("select: a 0-dim tensor has no dimension to index")
    dim = canonical_dim("select", attributes["dim"], len(shape))
    index, size = attributes["index"], shape[dim]
    if not -size <= index < size:
        raise IndexRangeError(
            f"index {index} is out of range for dimension {dim} of size {size}"
        )
    return {"dim": dim, "index": index % size}


def _without(values: Shape, dim: int) -> Shape:
    return values[:dim] + values[dim + 1 :]


def at_dim(dim: int, index: Any) -> tuple[Any, ...]:
    """Return the NumPy index that applies `index` to one dimension."""
    return (slice(None),) * dim + (index, ...)


@view_family(
    abstract=lambda input, dim, index: TensorSpec(
        input.dtype,
        _without(input.shape, dim),
        _without(input.strides, dim),
        input.device,
    ),
    kernel=lambda xp, input, dim, index: input[at_dim(dim, index)],
    canonical=_select_canonical,
    numpy=lambda dim, index: "{input}" + _index_text(dim, str(index)),
    examples=lambda rng: [((_matrix(rng), 1, -1), {})],
)
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One place along a dimension, which disappears."""


select.vjp(
    input=lambda ct, input_spec, dim, index: written_into_zeros(
        ct, input_spec, select, dim=dim, index=index
    )
)


def _slice_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape = operands[0]._array.shape
    if not shape:
        raise IndexRangeError("slice: a 0-dim tensor has no dimension to slice")
    dim = canonical_dim("slice", attributes["dim"], len(shape))
    if attributes["step"] == 0:
        raise ArgumentError("slice: the step can't be 0")
    wanted = slice(attributes["start"], attributes["stop"], attributes["step"])
    start, stop, step = wanted.indices(shape[dim])
    return {"dim": dim, "start": start, "stop": stop, "step": step}


def _slice_abstract(
    input: TensorSpec, dim: int, start: int, stop: int, step: int
) -> TensorSpec:
    size = len(range(start, stop, step))
    shape = (*input.shape[:dim], size, *input.shape[dim + 1 :])
    strides = (
        *input.strides[:dim],
        input.strides[dim] * step,
        *input.strides[dim + 1 :],
    )
    return TensorSpec(input.dtype, shape, strides, input.device)


def _index_text(dim: int, index: str) -> str:
    """Return an index of one dimension as one writes it."""
    return f"[{':, ' * dim}{index}, ...]"


def _slice_text(dim: int, start: int, stop: int, step: int) -> str:
    end = "" if stop < 0 else str(stop)
    every = "" if step == 1 else f":{step}"
    return "{input}" + f"[{':, ' * dim}{start}:{end}{every}]"


def _slice_kernel(
    xp: Any, input: Any, dim: int, start: int, stop: int, step: int
) -> Any:
    # A stop of -1 means "down to the first" here, not "up to the last".
    return input[at_dim(dim, slice(start, None if stop < 0 else stop, step))]


@view_family(
    name="slice",
    abstract=_slice_abstract,
    kernel=_slice_kernel,
    canonical=_slice_canonical,
    numpy=_slice_text,
    public=False,
    method=False,
    examples=lambda rng: [
        ((_matrix(rng), 1, 0, 3, 2), {}),
        ((_matrix(rng), 0, None, None, -1), {}),
    ],
)
def slice_(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    stop: int | None = None,
    step: int = 1,
) -> Tensor:
    """Every step-th place from start to stop along a dimension."""


slice_.vjp(
    input=lambda ct, input_spec, dim, start, stop, step: written_into_zeros(
        ct, input_spec, slice_, dim=dim, start=start, stop=stop, step=step
    )
)


# -- unsqueeze, squeeze -------------------------------------------------------------


def _unsqueeze_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    return {"dim": canonical_dim("unsqueeze", attributes["dim"], ndim + 1)}


def _unsqueeze_abstract(input: TensorSpec, dim: int) -> TensorSpec:
    step = input.strides[dim] * input.shape[dim] if dim < input.ndim else 1
    return TensorSpec(
        input.dtype,
        (*input.shape[:dim], 1, *input.shape[dim:]),
        (*input.strides[:dim], step, *input.strides[dim:]),
        input.device,
    )


def _unsqueeze_kernel(xp: Any, input: Any, dim: int) -> Any:
    if input.flags.c_contiguous:
        return xp.expand_dims(input, dim)
    shape, strides = list(input.shape), list(input.strides)
    step = strides[dim] * shape[dim] if dim < input.ndim else input.itemsize
    shape.insert(dim, 1)
    strides.insert(dim, step)
    return xp.lib.stride_tricks.as_strided(input, shape, strides)


@view_family(
    abstract=_unsqueeze_abstract,
    kernel=_unsqueeze_kernel,
    canonical=_unsqueeze_canonical,
    shape_only=True,
    numpy="np.expand_dims({input}, {dim})",
    examples=lambda rng: [((_matrix(rng), 1), {})],
)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1."""


unsqueeze.vjp(input=lambda ct, dim: squeeze(ct, dim))  # type: ignore[has-type]


def _squeeze_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape = operands[0]._array.shape
    dim = attributes["dim"]
    if dim is None:
        return {"dim": tuple(i for i, s in enumerate(shape) if s == 1)}
    dims = dim if isinstance(dim, tuple) else (dim,)
    found = {canonical_dim("squeeze", d, len(shape)) for d in dims}
    if len(found) < len(dims):
        raise ShapeError(f"squeeze: dimension named twice in {list(dims)}")
    return {"dim": tuple(sorted(d for d in found if shape and shape[d] == 1))}


@view_family(
    abstract=lambda input, dim: TensorSpec(
        input.dtype,
        tuple(s for i, s in enumerate(input.shape) if i not in dim),
        tuple(s for i, s in enumerate(input.strides) if i not in dim),
        input.device,
    ),
    kernel=lambda xp, input, dim: xp.squeeze(input, axis=dim),
    canonical=_squeeze_canonical,
    shape_only=True,
    numpy="np.squeeze({input}, {dim})",
    examples=lambda rng: [((rng.standard_normal((1, 3, 1)),), {})],
)
def squeeze(input: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Dimensions of size 1 removed."""


squeeze.vjp(input=lambda ct, input_spec: reshape(ct, *input_spec[0]))
