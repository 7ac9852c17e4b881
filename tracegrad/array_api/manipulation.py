"""Manipulation and indexing functions of the standard."""

from __future__ import annotations

import builtins
from typing import Any

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, promoted, tensor_of
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentTypeError, IndexRangeError


def axes_of(axis: Any, ndim: int, what: str) -> tuple[int, ...]:
    """Return axes counted from the front.

    Raises
    ------
    IndexRangeError
        If there is no such axis.
    """
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    for place in given:
        if not -ndim <= place < ndim:
            raise IndexRangeError(f"{what}: there is no axis {place} of {ndim}")
    return tuple(place % ndim for place in given)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """Return arrays in their common shape."""
    found = tg.broadcast_tensors(*[tensor_of(a, "broadcast_arrays") for a in arrays])
    return [adopt(part, *arrays) for part in found]


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape of shapes."""
    return tuple(tg.broadcast_shapes(*shapes))


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Any:
    """Return an array in a larger shape."""
    return adopt(tg.broadcast_to(tensor_of(x, "broadcast_to"), tuple(shape)), x)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join arrays along an axis; flattened if it is None."""
    parts = promoted("concat", *[tensor_of(a, "concat") for a in arrays])
    if axis is None:
        return adopt(tg.cat([tg.reshape(p, (-1,)) for p in parts]), *arrays)
    (place,) = axes_of(axis, parts[0].ndim, "concat")
    return adopt(tg.cat(_of_one_rank(parts), place), *arrays)


def _of_one_rank(parts: list[Tensor]) -> list[Tensor]:
    if len({part.ndim for part in parts}) > 1:
        raise ArgumentError("concat takes arrays of one number of dimensions")
    return parts


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    parts = promoted("stack", *[tensor_of(a, "stack") for a in arrays])
    (place,) = axes_of(axis, parts[0].ndim + 1, "stack")
    return adopt(tg.stack(parts, place), *arrays)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Return the parts of an array along an axis."""
    tensor = tensor_of(x, "unstack")
    (place,) = axes_of(axis, tensor.ndim, "unstack")
    return tuple(adopt(part, x) for part in tg.unbind(tensor, place))


def expand_dims(x: Any, /, *, axis: Any = 0) -> Any:
    """Return an array with new axes of size 1."""
    tensor = tensor_of(x, "expand_dims")
    count = 1 if isinstance(axis, int) else len(axis)
    places = axes_of(axis, tensor.ndim + count, "expand_dims")
    if len(set(places)) != count:
        raise ArgumentError("expand_dims: an axis is named twice")
    found: Any = tensor
    for place in sorted(places):
        found = tg.unsqueeze(found, place)
    return adopt(found, x)


def squeeze(x: Any, /, axis: Any) -> Any:
    """Return an array without axes of size 1."""
    tensor = tensor_of(x, "squeeze")
    found: Any = tensor
    for place in sorted(axes_of(axis, tensor.ndim, "squeeze"), reverse=True):
        if tensor.shape[place] != 1:
            raise ArgumentError(
                f"squeeze: axis {place} has size {tensor.shape[place]}, not 1"
            )
        found = tg.squeeze(found, place)
    return adopt(found, x)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """Return an array with the order of elements reversed along axes."""
    tensor = tensor_of(x, "flip")
    every = tuple(range(tensor.ndim))
    places = every if axis is None else axes_of(axis, tensor.ndim, "flip")
    return adopt(tg.flip(tensor, *places) if places else tg.clone(tensor), x)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Return an array with axes at other places."""
    return adopt(tg.movedim(tensor_of(x, "moveaxis"), source, destination), x)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    """Return an array with its axes in another order."""
    return adopt(tg.permute(tensor_of(x, "permute_dims"), *axes), x)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Return an array with each element several times."""
    tensor = tensor_of(x, "repeat")
    if axis is None:
        tensor = tg.reshape(tensor, (-1,))
    place = 0 if axis is None else axis
    if isinstance(repeats, Tensor):
        repeats = repeats.to(tg.int64)  # type: ignore[attr-defined]
        if repeats.numel() == 1:
            repeats = int(repeats.item())
    return adopt(tg.repeat_interleave(tensor, repeats, place), x)


def reshape(
    x: Any, /, shape: tuple[int, ...], *, copy: builtins.bool | None = None
) -> Any:
    """Return an array in another shape.

    Raises
    ------
    ArgumentError
        If `copy` is False and a copy is needed.
    """
    tensor = tensor_of(x, "reshape")
    sizes = tuple(shape)
    if copy:
        return adopt(tg.reshape(tg.clone(tensor), sizes), x)
    if copy is False:
        try:
            return adopt(tensor.view(sizes), x)  # type: ignore[attr-defined]
        except RuntimeError as error:
            raise ArgumentError(f"reshape: this needs a copy: {error}") from error
    found = tg.reshape(tensor, sizes)
    return adopt(found, x)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Return an array with its elements moved along axes, around the ends."""
    tensor = tensor_of(x, "roll")
    if axis is None:
        total = sum(shift) if isinstance(shift, tuple) else shift
        return adopt(tg.roll(tensor, total), x)
    places = axes_of(axis, tensor.ndim, "roll")
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(places)
    if len(shifts) != len(places):
        raise ArgumentError(f"roll: {len(shifts)} shifts for {len(places)} axes")
    found: Any = tensor
    for amount, place in zip(shifts, places, strict=True):
        found = tg.roll(found, amount, place)
    return adopt(found, x)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """Return an array repeated along its axes."""
    return adopt(tg.tile(tensor_of(x, "tile"), tuple(repetitions)), x)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Return the elements at places along an axis."""
    tensor = tensor_of(x, "take")
    places = tensor_of(indices, "take")
    if axis is None:
        if tensor.ndim != 1:
            raise ArgumentError("take: axis can be left out for vectors only")
        axis = 0
    if places.dtype.kind != "int":
        raise ArgumentTypeError(f"take: indices are integers, not {places.dtype.name}")
    (place,) = axes_of(axis, tensor.ndim, "take")
    key = (*[slice(None)] * place, places.to(tg.int64))  # type: ignore[attr-defined]
    return adopt(Tensor.__getitem__(tensor, key), x)  # type: ignore[attr-defined]


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Return the elements at places of their own lines along an axis."""
    tensor, places = tensor_of(x, "take_along_axis"), tensor_of(indices, "indices")
    (place,) = axes_of(axis, tensor.ndim, "take_along_axis")
    wanted = places.to(tg.int64)  # type: ignore[attr-defined]
    size = tensor.shape[place]
    wanted = tg.where(wanted < 0, wanted + size, wanted)
    return adopt(tg.take_along_dim(tensor, wanted, place), x)


__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims",
    "flip", "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze",
    "stack", "take", "take_along_axis", "tile", "unstack",
]  # fmt: skip
