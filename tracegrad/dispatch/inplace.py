"""Writing into tensors: in-place operators, ``copy_``, ``out=`` and item assignment.

A write is always the functional operator followed by `write`, so that the tape, the
recorder and transforms see one kind of event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.entry import LeafEntry, SavedTensor, TapeEntry
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of
from tracegrad.dtypes import can_cast
from tracegrad.errors import DTypeError, GradientError, InplaceError, ShapeError


def apply_inplace(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Tensor:
    """Apply `operator` and write its result into the first operand.

    Raises
    ------
    InplaceError
        If autograd or the memory layout forbids the write.
    DTypeError
        If the result's category does not fit the target.
    ShapeError
        If the result is larger than the target.
    """
    target = operands[0]
    check_writable(target, operator.name + "_")
    for other in operands[1:]:
        if isinstance(other, Tensor):
            check_overlap(target, other, operator.name + "_")
    value = bind(operator, operands, attributes)
    check_fits(target, value, operator.name + "_")
    write(target, value)
    return target


def check_fits(target: Tensor, value: Tensor, name: str) -> None:
    """Refuse a value whose shape or dtype category does not fit the target."""
    if value._array.shape != target._array.shape:
        raise ShapeError(
            f"{name}: the result has shape {list(value.shape)}, which does not fit "
            f"the target's {list(target.shape)}"
        )
    if not can_cast(value.dtype, target.dtype):
        raise DTypeError(
            f"{name}: a result of {value.dtype.name} can't be cast to the target's "
            f"{target.dtype.name}"
        )


def check_writable(target: Tensor, name: str) -> None:
    """Refuse writes that autograd or the layout forbids."""
    if not isinstance(target, Tensor):
        raise InplaceError(f"{name}: there is no tensor to write into")
    array = target._array
    if array.__class__ is np.ndarray:
        if 0 in array.strides and _overlaps_itself(array):
            raise InplaceError(
                f"{name}: several elements of the target share one place in memory "
                "(an expanded tensor); write into target.clone() instead"
            )
        if not array.flags.writeable:
            raise InplaceError(f"{name}: the target's memory is read-only")
    if thread.grad_enabled:
        _check_tape(target, name)


def _overlaps_itself(array: Any) -> bool:
    return any(
        step == 0 and size > 1
        for step, size in zip(array.strides, array.shape, strict=True)
    )


def _check_tape(target: Tensor, name: str) -> None:
    view = target._view
    if view is None:
        if target._node.__class__ is LeafEntry:
            raise InplaceError(
                f"{name}: a leaf that requires grad can't be written in place; "
                "use tracegrad.no_grad()"
            )
        return
    base_edge = view.base._node
    if base_edge.__class__ is LeafEntry:
        raise InplaceError(
            f"{name}: a view of a leaf that requires grad can't be written in place; "
            "use tracegrad.no_grad()"
        )
    if view.origin == "no_grad" and base_edge is not None:
        raise InplaceError(
            f"{name}: the view was made under no_grad and can't be written with "
            "gradients on"
        )
    if view.origin == "multiple" and (base_edge is not None):
        raise InplaceError(
            f"{name}: the target is one of several views made by one operator "
            "(split, chunk, unbind), which can't be written with gradients on"
        )


def check_overlap(target: Tensor, other: Tensor, name: str) -> None:
    """Refuse an operand that shares part of the target's memory, but not all."""
    a, b = target._array, other._array
    if a.__class__ is not np.ndarray or b.__class__ is not np.ndarray:
        return
    if not np.may_share_memory(a, b) or _same_region(a, b):
        return
    if np.shares_memory(a, b):
        raise InplaceError(
            f"{name}: the target and an operand overlap in part of their memory; "
            "use operand.clone()"
        )


def _same_region(a: Any, b: Any) -> bool:
    return bool(
        a.shape == b.shape
        and a.strides == b.strides
        and a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    )


def write(target: Tensor, value: Tensor) -> None:
    """Let `target`'s memory hold `value` (of the same shape), seen by everybody."""
    if value.dtype is not target.dtype:
        value = bind(OPERATORS["cast"], (value,), {"dtype": target.dtype})
    if thread.transforms:
        thread.transforms[-1].write(target, value)
    if thread.recorder is not None:
        thread.recorder.write(target, value)
    if thread.grad_enabled:
        _move_on_tape(target, value)
    if target._array.__class__ is np.ndarray:
        np.copyto(target._array, value._array)
    elif not target.is_meta:
        target._array[...] = value._array
    version = version_of(target)
    version[0] += 1
    _resave_result(target, value, version)


def _move_on_tape(target: Tensor, value: Tensor) -> None:
    edge = edge_of(value)
    view = target._view
    if view is None:
        if edge is not None or target._node is not None:
            target._node = edge
        return
    base = view.base
    if edge is None and base._node is None:
        return
    if view.origin == "multiple":
        raise InplaceError(
            "the target is one of several views made by one operator (split, chunk, "
            "unbind), which can't take a value with gradient"
        )
    base._node = _view_write_entry(base, value, view.path)


def _view_write_entry(base: Tensor, value: Tensor, path: tuple[Any, ...]) -> TapeEntry:
    """Return the entry of "base, with the viewed part replaced by value"."""
    operator = OPERATORS["view_write"]
    edges = (base._node, edge_of(value))
    plan = operator.plan((edges[0] is not None, edges[1] is not None), (True, True))
    specs = tuple((t._array.shape, t._array.dtype) for t in (base, value))
    attributes = {"path": freeze_path(path)}
    return TapeEntry(plan, edges, (), specs, specs[:1], attributes, (None, None))


def freeze_path(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a view path with hashable attributes."""
    return tuple((op, tuple(attributes.items()), i) for op, attributes, i in path)


def replay_path(base: Tensor, path: tuple[Any, ...]) -> Tensor:
    """Apply a frozen view path to `base`."""
    for operator, attributes, index in path:
        result = bind(operator, (base,), dict(attributes))
        base = result[index] if result.__class__ is tuple else result
    return base


def _resave_result(target: Tensor, value: Tensor, version: list[int]) -> None:
    """Let an entry that saved its result save the target's memory instead.

    A later write into the target then makes backward raise, as it should for
    ``x.exp_().add_(1)``.
    """
    entry = target._node
    if entry.__class__ is not TapeEntry or target._view is not None:
        return
    if not entry.plan.saved_results or not entry.saved:
        return
    last = entry.saved[-1]
    if last.array is value._array:
        entry.saved = (*entry.saved[:-1], SavedTensor(target._array, None, version))


def write_out(out: Any, value: Tensor, name: str) -> Tensor:
    """Write a result into the tensor given as ``out=`` and return that.

    Raises
    ------
    GradientError
        If gradients are on and the result or `out` requires grad.
    """
    if thread.grad_enabled and (value.requires_grad or out.requires_grad):
        raise GradientError(f"{name}(): out= does not work with tensors that require grad")
    check_writable(out, name)
    check_fits(out, value, f"{name}(out=…)")
    write(out, value)
    return out
