"""``x[...]`` and ``x[...] = y``: views for basic indices, operators for tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from tracegrad.dispatch.batched import BatchedTensor
from tracegrad.dispatch.inplace import check_overlap, check_writable, write
from tracegrad.dispatch.operator import OpDef, public_function
from tracegrad.dispatch.state import installed, spoil
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import bool_, int64, uint8
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    ElementIndexError,
    IndexRangeError,
)
from tracegrad.location import publish, warn
from tracegrad.ops._indices import indexed_shape
from tracegrad.ops._inplace import inplace_form
from tracegrad.ops._pointwise import wrapped_scalar
from tracegrad.ops.casts import cast
from tracegrad.ops.conversion import tensor
from tracegrad.ops.creation import filled
from tracegrad.ops.index_operators import index, nonzero, nonzero_places, put_at
from tracegrad.ops.selection import where
from tracegrad.ops.view_writes import alias
from tracegrad.ops.views import expand, reshape, select, slice_, unsqueeze
from tracegrad.sizes import shape_text

# -- from a Python index to operators --------------------------------------------------


@final
class _Resolved:
    """An index applied as far as views reach: what is left are index tensors.

    Attributes
    ----------
    view : Tensor
    dims : list of int
        The dimensions of the view to which `indices` belong.
    indices : list of Tensor
    """

    __slots__ = ("dims", "indices", "view")

    def __init__(self, view: Tensor) -> None:
        self.view = view
        self.dims: list[int] = []
        self.indices: list[Tensor] = []

    def add(self, dim: int, index: Tensor) -> None:
        """Add an index tensor for a dimension of the view."""
        self.dims.append(dim)
        self.indices.append(index)


def _as_tuple(key: Any) -> tuple[Any, ...]:
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and _means_tuple(key):
        spoil()
        warn(
            "a list as an index is taken as a tuple here, as PyTorch does for now; "
            "write x[tuple(index)], or x[tensor(index)] for one index tensor",
        )
        return tuple(key)
    return (key,)


def _means_tuple(key: list[Any]) -> bool:
    """Say whether PyTorch takes a bare list as a tuple of indices."""
    if len(key) >= 32:
        return False
    return any(
        item is None
        or item is Ellipsis
        or isinstance(item, Tensor | slice | list | tuple)
        for item in key
    )


def _is_mask(item: Any) -> bool:
    return isinstance(item, Tensor) and item.dtype in (bool_, uint8)


def _as_index(item: Any) -> Any:
    """Return an item of an index as int, slice, None, Ellipsis, bool or Tensor.

    Raises
    ------
    IndexRangeError
        If it is none of these.
    """
    if isinstance(item, slice):
        return _checked_slice(item)
    if item is None or item is Ellipsis or isinstance(item, int):
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, np.ndarray | list | tuple | range):
        item = tensor(_as_data(item))
        item = cast(item, int64) if item.numel() == 0 else item
    if isinstance(item, Tensor):
        return _tensor_index(item)
    try:
        return int(item.__index__())
    except AttributeError:
        raise _not_an_index(item) from None


def _checked_slice(item: slice) -> slice:
    try:
        bounds = [None if n is None else operator.index(n) for n in _bounds(item)]
    except TypeError:
        raise ArgumentTypeError(
            f"the bounds of a slice must be integers or None, not {item}"
        ) from None
    if bounds[2] == 0:
        raise ArgumentError("the step of a slice can't be 0")
    return slice(*bounds)


def _bounds(item: slice) -> tuple[Any, Any, Any]:
    return item.start, item.stop, item.step


def _as_data(item: Any) -> Any:
    return item if isinstance(item, np.ndarray) else list(item)


def _not_an_index(item: Any) -> Exception:
    text = (
        "an index is an integer, a slice, None, an Ellipsis, a bool, or a tensor or "
        f"sequence of integers or bools, not {type(item).__name__}"
    )
    if isinstance(item, str):
        return ArgumentTypeError(text)
    return IndexRangeError(text)


def _tensor_index(item: Tensor) -> Any:
    name = item.dtype.name
    if name not in ("int64", "int32", "bool", "uint8"):
        raise ElementIndexError(
            "a tensor used as an index must be int64, int32, uint8 or bool, not " + name
        )
    if name == "uint8":
        spoil()
        warn(
            "a uint8 tensor as an index is a mask and deprecated; use bool",
        )
    if item.ndim == 0 and name in ("int64", "int32"):
        # Inside vmap the number differs from example to example.
        return item if isinstance(item, BatchedTensor) else int(item.item())
    return item


def _dims_taken(item: Any) -> int:
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if _is_mask(item) else 1


def _resolve(input: Tensor, key: Any) -> _Resolved:
    """Apply the basic part of an index, and collect the rest."""
    items = [_as_index(item) for item in _as_tuple(key)]
    taken = sum(map(_dims_taken, items))
    if taken > input.ndim:
        raise IndexRangeError(
            f"too many indices: {taken} for a tensor of {input.ndim} dimensions"
        )
    resolved = _Resolved(input)
    left = input.ndim - taken
    dim = 0
    for item in items:
        if item is Ellipsis:
            dim += left
            continue
        dim = _apply(resolved, dim, item)
    return resolved


def _apply(resolved: _Resolved, dim: int, item: Any) -> int:
    """Apply one item at `dim` and return the dimension after it."""
    view = resolved.view
    if item is None:
        resolved.view = unsqueeze(view, dim)
        return dim + 1
    if isinstance(item, bool):
        resolved.view = unsqueeze(view, dim)
        resolved.add(dim, filled((int(item),), 0, int64, view.device))
        return dim + 1
    if isinstance(item, int):
        resolved.view = select(view, dim, item)
        return dim
    if isinstance(item, slice):
        if (item.start, item.stop, item.step) != (None, None, None):
            step = 1 if item.step is None else item.step
            resolved.view = slice_(view, dim, item.start, item.stop, step)
        return dim + 1
    if _is_mask(item):
        return _apply_mask(resolved, dim, item)
    resolved.add(dim, item)
    return dim + 1


def _apply_mask(resolved: _Resolved, dim: int, mask: Tensor) -> int:
    if mask.ndim == 0:
        resolved.view = unsqueeze(resolved.view, dim)
        resolved.add(dim, select(nonzero_places(reshape(mask, 1)), 1, 0))
        return dim + 1
    sizes = resolved.view._array.shape[dim : dim + mask.ndim]
    if tuple(mask._array.shape) != tuple(sizes):
        raise IndexRangeError(
            f"a mask of shape {shape_text(mask.shape)} does not match the indexed "
            f"dimensions of sizes {shape_text(sizes)}"
        )
    for place, found in enumerate(nonzero(mask, as_tuple=True)):
        resolved.add(dim + place, found)
    return dim + mask.ndim


def _getitem(self: Tensor, key: Any) -> Tensor:
    """Return the part of this tensor at an index.

    Integers, slices (with negative steps too), None and Ellipsis give a view; masks,
    index tensors and lists give a copy.

    Raises
    ------
    IndexRangeError
        If an index is out of range or of a wrong type, or there are too many.
    """
    # The common indices, without a detour.
    if key.__class__ is int:
        return select(self, 0, key)  # type: ignore[no-any-return]
    resolved = _resolve(self, key)
    if resolved.indices:
        return index(resolved.view, resolved.indices, tuple(resolved.dims))  # type: ignore[no-any-return]
    return alias(self) if resolved.view is self else resolved.view


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    """Write `value` into the part of this tensor at an index.

    Raises
    ------
    IndexRangeError
        If an index is out of range or of a wrong type, or there are too many.
    ShapeError
        If the value does not broadcast to that part.
    DTypeError
        If a number can't be stored in the dtype.
    InplaceError
        If autograd or the memory layout forbids the write.
    """
    if isinstance(value, np.ndarray):
        value = Tensor.from_numpy(value)  # type: ignore[attr-defined]
    mask = _only_mask(self, key, value)
    if mask is not None:
        _write_masked(self, mask, value)
        return
    resolved = _resolve(self, key)
    target = resolved.view
    check_writable(target, "x[...] = y")
    number = as_element(value, target)
    if not resolved.indices:
        _write_view(target, number, target is self)
        return
    dims = tuple(resolved.dims)
    shape = indexed_shape(
        target._array.shape, [i._array for i in resolved.indices], dims
    )
    if isinstance(value, Tensor):
        check_overlap(target, value, "x[...] = y")
        number = _without_leading_ones(value, len(shape))
    write(target, put_at(target, resolved.indices, number, dims))


def _only_mask(self: Tensor, key: Any, value: Any) -> Tensor | None:
    """Return the mask of ``x[mask] = number``, which needs no list of places."""
    if isinstance(value, Tensor) and value.ndim:
        return None
    if not isinstance(key, Tensor) or key.dtype is not bool_ or key.ndim == 0:
        return None
    if tuple(key._array.shape) != tuple(self._array.shape[: key.ndim]):
        return None
    return key


def _write_masked(self: Tensor, mask: Tensor, value: Any) -> None:
    check_writable(self, "x[mask] = y")
    check_overlap(self, mask, "x[mask] = y")
    ones = (1,) * (self.ndim - mask.ndim)
    wide = reshape(mask, *mask._array.shape, *ones)
    number = as_element(value, self)
    if number.dtype is not self.dtype:
        number = cast(number, self.dtype)
    write(self, where(wide, number, self))


def as_element(value: Any, target: Tensor) -> Tensor:
    """Return a tensor as it is, a number as a 0-dim tensor that fits the target.

    Raises
    ------
    ArgumentTypeError
        If it is neither.
    DTypeError
        If the number can't be stored in the target's dtype.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | complex):
        raise ArgumentTypeError(
            f"a tensor or a number can be written into a tensor, not a "
            f"{type(value).__name__}"
        )
    dtype = target.dtype
    if not _fits(value, target):
        raise DTypeError(f"{value!r} can't be stored as {dtype.name}")
    if dtype.kind == "int":
        value = int(value)  # type: ignore[arg-type]
    if not installed.busy and target._array.__class__ is np.ndarray:
        return wrap(np.asarray(wrapped_scalar(value, dtype)))
    return filled((), value, dtype, target.device)  # type: ignore[no-any-return]


def _fits(value: Any, target: Tensor) -> bool:
    kind = target.dtype.kind
    if kind == "complex" or kind == "bool":
        return True
    if isinstance(value, complex):
        return False
    if kind == "float":
        return True
    if not math.isfinite(value):
        return False
    limits = np.iinfo(target.dtype.numpy)
    # PyTorch wraps negative numbers in unsigned dtypes.
    lowest = -int(limits.max) if limits.min == 0 else int(limits.min)
    return bool(lowest <= int(value) <= int(limits.max))


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    shape = value._array.shape
    extra = len(shape) - ndim
    if extra > 0 and all(s == 1 for s in shape[:extra]):
        return reshape(value, *shape[extra:])  # type: ignore[no-any-return]
    return value


def _write_view(target: Tensor, value: Tensor, whole: bool) -> None:
    check_overlap(target, value, "x[...] = y")
    value = _without_leading_ones(value, target.ndim)
    if whole:
        # What the tensor held gets a gradient of zeros, not none: `copy_` sees to it.
        target.copy_(value)  # type: ignore[attr-defined]
        return
    if value._array.shape != target._array.shape and _is_watched(target, value):
        value = expand(value, *target._array.shape)
    write(target, value)


def _is_watched(target: Tensor, value: Tensor) -> bool:
    """Say whether more than memory takes part in a write: the tape or a recorder.

    If not, the copy broadcasts a number itself.
    """
    base = target if target._view is None else target._view.base
    return bool(
        value.ndim or installed.busy or value._node or base._node or target.is_meta
    )


publish(_getitem, "__getitem__")
publish(_setitem, "__setitem__")
Tensor.__getitem__ = OpDef.planned(_getitem)  # type: ignore[misc]
Tensor.__setitem__ = _setitem  # type: ignore[index]


# -- index_put ------------------------------------------------------------------------


@public_function()
def index_put(
    input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return `input` with the elements at `indices` replaced by `values`.

    Parameters
    ----------
    input : Tensor, shape (...)
    indices : sequence of Tensor
        Integers or masks, for the first dimensions.
    values : Tensor
        Broadcast to the indexed elements.
    accumulate : bool
        Add to the elements, each duplicate too.

    Raises
    ------
    IndexRangeError
        If an index is out of range.
    DTypeError
        If the dtypes differ.
    """
    resolved = _resolve(input, tuple(indices))
    if not resolved.indices or resolved.view is not input:
        raise IndexRangeError("index_put takes index tensors only")
    dims = tuple(resolved.dims)
    return put_at(input, resolved.indices, values, dims, accumulate)  # type: ignore[no-any-return]


inplace_form(index_put, "index_put")
