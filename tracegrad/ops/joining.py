"""Tensors put together: cat, stack and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.dispatch.argument_errors import wrong_type
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, result_type_of
from tracegrad.errors import ArgumentError, ArgumentValueError, DTypeError, ShapeError
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.casts import cast
from tracegrad.ops.rearranging import atleast_1d, atleast_2d, atleast_3d
from tracegrad.ops.shaping import fit, zeros_of
from tracegrad.ops.views import reshape, slice_, unsqueeze
from tracegrad.sizes import Shape, shape_text
from tracegrad.spec import TensorSpec


def _is_skipped(shape: Shape) -> bool:
    """Say whether `cat` leaves it out: an empty vector fits anywhere."""
    return shape == (0,)


def _cat_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    tensors = operands[0]
    if not tensors:
        raise ArgumentError("cat: there is no tensor to join")
    if any(t.ndim == 0 for t in tensors):
        raise ShapeError("cat: tensors without dimensions can't be joined; use stack")
    ranks = [t.ndim for t in tensors if not _is_skipped(t._array.shape)]
    return {"dim": canonical_dim("cat", attributes["dim"], ranks[0] if ranks else 1)}


def _cat_abstract(tensors: Sequence[TensorSpec], dim: int) -> TensorSpec:
    if any(t.dtype is not tensors[0].dtype for t in tensors):
        raise DTypeError("cat: the operator takes tensors of one dtype; use cat()")
    kept = [t for t in tensors if not _is_skipped(t.shape)] or [tensors[0]]
    first = kept[0].shape
    total = kept[0].shape[dim]
    for t in kept[1:]:
        if t.shape[:dim] + t.shape[dim + 1 :] != first[:dim] + first[dim + 1 :]:
            raise ShapeError(
                f"cat: shapes {shape_text(first)} and {shape_text(t.shape)} differ in "
                f"more than dimension {dim}"
            )
        total = total + t.shape[dim]
    shape = (*first[:dim], total, *first[dim + 1 :])
    return TensorSpec(tensors[0].dtype, shape, (), tensors[0].device)


def _cat_kernel(xp: Any, tensors: Any, dim: int) -> Any:
    kept = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    return xp.ascontiguousarray(xp.concatenate(kept, axis=dim))


@primitive(
    "movement",
    name="cat",
    abstract=_cat_abstract,
    kernel=_cat_kernel,
    canonical=_cat_canonical,
    linear_in=("tensors",),
    public=False,
    method=False,
    examples=lambda rng: [
        (([rng.standard_normal((2, 3)), rng.standard_normal((2, 1))], 1), {})
    ],
)
def joined(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one dtype one after the other along a dimension.

    An empty vector fits anywhere and is left out.
    """


def _cat_vjp(ct: Tensor, tensors_spec: Any, dim: int) -> list[Tensor]:
    parts = []
    start = 0
    for shape, dtype in tensors_spec:
        if _is_skipped(shape):
            parts.append(zeros_of((shape, dtype), ct))
            continue
        part = slice_(ct, dim, start, start + shape[dim])
        parts.append(fit(part, (shape, dtype)))
        start = start + shape[dim]
    return parts


joined.vjp(tensors=_cat_vjp)


@public_function(method=False)
def cat(tensors: Any, dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Return the tensors one after the other along a dimension.

    Parameters
    ----------
    tensors : sequence of Tensor
        Of shapes that differ in `dim` at most; an empty vector fits anywhere. Their
        dtypes are promoted.
    dim : int
    out : Tensor, optional
        What to write the result into.

    Raises
    ------
    ArgumentError
        If there is no tensor.
    ShapeError
        If the shapes do not fit, or a tensor has no dimension.
    """
    given = list(_several("cat", tensors))
    if all(isinstance(t, Tensor) for t in given) and len({t.dtype for t in given}) > 1:
        dtype = _joined_dtype(given)
        given = [t if t.dtype is dtype else cast(t, dtype) for t in given]
    return joined(given, dim, out=out)  # type: ignore[no-any-return]


def _several(name: str, tensors: Any) -> tuple[Tensor, ...]:
    """Return tensors given as a sequence; one tensor, of rows, is none."""
    if isinstance(tensors, Tensor):
        raise wrong_type(name, "tensors", "a sequence of Tensors", tensors)
    return tuple(tensors)


def _nonempty(name: str, tensors: Any) -> tuple[Tensor, ...]:
    given = _several(name, tensors)
    if not given:
        raise ArgumentValueError(f"{name}: there is no tensor to join")
    return given


def _joined_dtype(tensors: Sequence[Tensor]) -> DType:
    ranked = [t.dtype for t in tensors if t.ndim]
    return result_type_of(ranked, [t.dtype for t in tensors if not t.ndim], [])


public_function(method=False, name="concat")(cat)
public_function(method=False, name="concatenate")(cat)


@composite(
    method=False,
    examples=lambda rng: [(([*rng.standard_normal((2, 2, 3))], 1), {})],
)
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    if not tensors:
        raise ShapeError("stack: there is no tensor to join")
    first = tensors[0]._array.shape
    for tensor in tensors:
        if tensor._array.shape != first:
            raise ShapeError(
                f"stack: shapes {shape_text(first)} and "
                f"{shape_text(tensor._array.shape)} differ"
            )
    place = canonical_dim("stack", dim, len(first) + 1)
    return cat([unsqueeze(t, place) for t in tensors], place)  # type: ignore[no-any-return]


@public_function(method=False)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors side by side: along dimension 1, of vectors along 0."""
    given = atleast_1d(_nonempty("hstack", tensors))
    return cat(given, 0 if given and given[0].ndim == 1 else 1)  # type: ignore[no-any-return]


@public_function(method=False)
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors, as rows at least, one below the other."""
    return cat(atleast_2d(_nonempty("vstack", tensors)), 0)  # type: ignore[no-any-return]


public_function(method=False, name="row_stack")(vstack)


@public_function(method=False)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors one behind the other, along dimension 2."""
    return cat(atleast_3d(_nonempty("dstack", tensors)), 2)  # type: ignore[no-any-return]


@public_function(method=False)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors side by side, vectors as columns."""
    given = _nonempty("column_stack", tensors)
    columns = [reshape(t, t.numel(), 1) if t.ndim <= 1 else t for t in given]
    return hstack(columns)  # type: ignore[no-any-return]
