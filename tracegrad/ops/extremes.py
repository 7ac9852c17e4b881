"""The largest and the smallest: with their places, and PyTorch's overloads."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.results import RETURN_TYPES, MinMax, ValuesIndices
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_, int64, uint8
from tracegrad.errors import ArgumentTypeError, DTypeError, IndexRangeError
from tracegrad.ops._families import primitive
from tracegrad.ops._reduction import canonical_dim, reduced_shape
from tracegrad.ops.casts import cast
from tracegrad.ops.reductions import amax, amin, check_nonempty
from tracegrad.ops.selection import maximum, minimum
from tracegrad.ops.views import select as select_
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec

# -- where the extreme is -------------------------------------------------------------


def _canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    dim, ndim = attributes["dim"], operands[0].ndim
    if dim is not None:
        dim = canonical_dim("argmax", dim, ndim)
    return {"dim": dim, "keepdim": bool(attributes["keepdim"])}


def _place_abstract(input: TensorSpec, dim: int | None, keepdim: bool) -> TensorSpec:
    if input.dtype.kind in ("bool", "complex"):
        raise DTypeError(f"argmax and argmin do not take {input.dtype.name}")
    dims = tuple(range(input.ndim)) if dim is None or not input.ndim else (dim,)
    for d in dims:
        if input.shape[d] == 0:
            raise IndexRangeError(
                f"argmax, argmin: shape {shape_text(input.shape)} has no element along "
                f"dimension {d}"
            )
    shape = reduced_shape(input.shape, dims, keepdim)
    return TensorSpec(int64, shape, (), input.device)


def _place_kernel(
    xp: Any, input: Any, dim: int | None, keepdim: bool, largest: bool
) -> Any:
    find = xp.argmax if largest else xp.argmin
    if input.ndim == 0:
        return xp.zeros((), dtype="int64")
    found = xp.asarray(find(input, axis=dim)).astype("int64")
    if not keepdim:
        return xp.ascontiguousarray(found).reshape(found.shape)
    dims = tuple(range(input.ndim)) if dim is None else (dim,)
    return found.reshape([1 if d in dims else s for d, s in enumerate(input.shape)])


@primitive(
    "library",
    abstract=_place_abstract,
    kernel=lambda xp, input, dim, keepdim: _place_kernel(
        xp, input, dim, keepdim, largest=True
    ),
    canonical=_canonical,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), 1, True), {}),
        ((rng.standard_normal((2, 3)),), {}),
    ],
)
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the largest element, the first of equal ones; of NaN before all.

    Without a dimension, the index among the flat elements.
    """


@primitive(
    "library",
    abstract=_place_abstract,
    kernel=lambda xp, input, dim, keepdim: _place_kernel(
        xp, input, dim, keepdim, largest=False
    ),
    canonical=_canonical,
    examples=lambda rng: [
        ((rng.standard_normal((2, 3)), 1, True), {}),
        ((rng.standard_normal((2, 3)),), {}),
    ],
)
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the smallest element, the first of equal ones; of NaN before all.

    Without a dimension, the index among the flat elements.
    """


# -- values with places ---------------------------------------------------------------


def picked(
    name: str, input: Tensor, places: Tensor, dim: int, keepdim: bool
) -> ValuesIndices:
    """Return the elements at `places` (one along `dim`), and the places.

    `places` has size 1 along `dim`; the gradient goes to the places. The result is
    that of the function `name`.
    """
    made = RETURN_TYPES[name]
    values = OPERATORS["gather"](input, places, dim)
    if keepdim or input.ndim == 0:
        return made(values, places)  # type: ignore[no-any-return]
    return made(select_(values, dim, 0), select_(places, dim, 0))  # type: ignore[no-any-return]


def _along(input: Tensor, dim: Any, keepdim: bool, find: Any, name: str) -> Any:
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ArgumentTypeError(
            f"{name}: the dimension must be an int, not {type(dim).__name__}"
        )
    place = canonical_dim(name, dim, input.ndim)
    ordered = cast(input, uint8) if input.dtype is bool_ else input
    return picked(name, input, find(ordered, place, True), place, keepdim)


@public_function()
def max(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None
) -> Any:
    """Return the largest element: of all, along a dimension, or of two tensors.

    Parameters
    ----------
    input : Tensor, shape (...)
    dim : int or Tensor, optional
        A dimension, or another tensor (as `other`).
    keepdim : bool
        Keep the dimension with size 1.
    other : Tensor, optional
        Give the larger of both, element by element.

    Returns
    -------
    Tensor, or ValuesIndices for a dimension
        Of all, equal ones share the gradient; along a dimension the first gets it.

    Raises
    ------
    ShapeError
        If there is no element to choose.
    IndexRangeError
        If the dimension is empty or out of range.
    """
    if dim is None and other is None:
        check_nonempty("max()", input)
        return amax(input)
    if other is not None or isinstance(dim, Tensor):
        return maximum(input, dim if other is None else other)
    return _along(input, dim, keepdim, argmax, "max")


@public_function()
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None
) -> Any:
    """Return the smallest element: of all, along a dimension, or of two tensors.

    See `max` for the parameters.

    Raises
    ------
    ShapeError
        If there is no element to choose.
    IndexRangeError
        If the dimension is empty or out of range.
    """
    if dim is None and other is None:
        check_nonempty("min()", input)
        return amin(input)
    if other is not None or isinstance(dim, Tensor):
        return minimum(input, dim if other is None else other)
    return _along(input, dim, keepdim, argmin, "min")


@public_function()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> MinMax:
    """Return the smallest and the largest element, of all or along a dimension.

    Raises
    ------
    ShapeError
        If there is no element to choose.
    IndexRangeError
        If the dimension is empty or out of range.
    """
    if dim is None:
        check_nonempty("aminmax()", input)
    return RETURN_TYPES["aminmax"](amin(input, dim, keepdim), amax(input, dim, keepdim))  # type: ignore[no-any-return]
