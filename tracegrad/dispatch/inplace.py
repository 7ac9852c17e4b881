"""Writing into tensors: in-place operators, ``copy_``, ``out=`` and item assignment.

A write is always the functional operator followed by `write`, so that the tape, the
recorder and transforms see one kind of event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.entry import (
    INFERENCE,
    Edge,
    LeafEntry,
    SavedTensor,
    TapeEntry,
    Version,
)
from tracegrad.dispatch.extents import address_of, may_share_memory, share_memory
from tracegrad.dispatch.foreign import ForeignArray
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import (
    install_transforms,
    installed,
    no_tape,
    spoil,
    thread,
)
from tracegrad.dispatch.tensor import (
    ORIGINS,
    Tensor,
    View,
    edge_of,
    move_retained,
    version_of,
)
from tracegrad.dtypes import can_cast
from tracegrad.errors import (
    ArgumentTypeError,
    DTypeError,
    GradientError,
    InplaceError,
    NoDataError,
    ShapeError,
)
from tracegrad.location import here


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
    target: Tensor = operands[0]
    name = operator.name + "_"
    if installed.learning and thread.lesson is not None:
        thread.lesson.write(operator)
    check_writable(target, name)
    for other in operands[1:]:
        if isinstance(other, Tensor):
            check_overlap(target, other, name)
    if _may_be_saved_whole(operator, target):
        copied = bind(OPERATORS["clone"], (target,), {"contiguous": False})
        operands = (copied, *operands[1:])
    value = bind(operator, operands, attributes)
    check_fits(target, value, name)
    _keep_old_target(target, value)
    write(target, value)
    return target


def _may_be_saved_whole(operator: OpDef, target: Tensor) -> bool:
    """Return whether a tape could save the target, which is about to change.

    A composite's parts may, a kernel pair's entry does, and so may the levels of
    functional transforms. A primitive's entry on the eager tape is mended afterwards
    (`_keep_old_target`).
    """
    if thread.transforms:
        return True
    on_tape = thread.grad_enabled and edge_of(target) is not None
    whole = operator.body is not None or operator.pair is not None
    return whole and on_tape


def _keep_old_target(target: Tensor, value: Tensor) -> None:
    """Let the operator's entry save a copy of the target, which is about to change."""
    entry = value._node
    if entry.__class__ is not TapeEntry or 0 not in entry.plan.saved_operands:
        return
    place = entry.plan.saved_operands.index(0)
    saved = list(entry.saved or ())
    with no_tape():
        copied = bind(OPERATORS["clone"], (target,), {"contiguous": False})
    saved[place] = SavedTensor(copied._array, saved[place].edge, version_of(copied))
    entry.saved = tuple(saved)


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
        if array.size and 0 in array.strides and _overlaps_itself(array):
            raise InplaceError(
                f"{name}: several elements of the target share one place in memory "
                "(an expanded tensor); write into target.clone() instead"
            )
        if not array.flags.writeable:
            raise InplaceError(f"{name}: the target's memory is read-only")
    if target._counter is INFERENCE and not thread.inference:
        raise InplaceError(
            f"{name}: an inference tensor can't be written outside inference_mode; "
            "use its clone()"
        )
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
    if base_edge is not None:
        _check_origin(view, name)


def _check_origin(view: View, name: str) -> None:
    if view.origin:
        raise InplaceError(
            f"{name}: a view {ORIGINS[view.origin]} can't be written with gradients on"
        )


def check_overlap(target: Tensor, other: Tensor, name: str) -> None:
    """Refuse an operand that shares a part of the target's memory."""
    a, b = target._array, other._array
    if not hasattr(a, "itemsize") or not hasattr(b, "itemsize"):
        return
    if not may_share_memory(a, b) or _same_region(a, b):
        return
    if share_memory(a, b):
        raise InplaceError(
            f"{name}: the target and an operand overlap in part of their memory; "
            "use operand.clone()"
        )


def _same_region(a: Any, b: Any) -> bool:
    return bool(
        a.shape == b.shape and a.strides == b.strides and address_of(a) == address_of(b)
    )


def write(target: Tensor, value: Tensor) -> None:
    """Let `target`'s memory hold `value` (of the same shape), seen by everybody.

    Raises
    ------
    InplaceError
        If the tape can't follow; then nothing was written.
    """
    if installed.learning:
        spoil()
    if value.dtype is not target.dtype:
        value = bind(OPERATORS["cast"], (value,), {"dtype": target.dtype})
    if value._array.__class__ is not target._array.__class__:
        value = _beside(value, target)
    transforms = thread.transforms
    if not transforms:
        _write_memory(target, value)
        return
    install_transforms(transforms[:-1])
    try:
        transforms[-1].write(target, value)
    finally:
        install_transforms(transforms)


def _beside(value: Tensor, target: Tensor) -> Tensor:
    """Return a value on the target's device, if both hold data."""
    source, wanted = value.device, target.device
    if source == wanted or "meta" in (source.type, wanted.type):
        return value
    moved: Tensor = bind(
        OPERATORS["to_device"], (value,), {"device": wanted, "source": source}
    )
    return moved


def _write_memory(target: Tensor, value: Tensor) -> None:
    """Write under the tape and the recorder, no transform being left."""
    edge = edge_of(value) if thread.grad_enabled else None
    if edge is not None and target._view is not None:
        _check_origin(target._view, "a write in place")
    if value.is_meta and not target.is_meta:
        raise NoDataError("a tensor on the meta device has no data to copy")
    if thread.recorder is not None:
        thread.recorder.write(target, value)
    if thread.grad_enabled:
        _move_on_tape(target, value)
    if target._array.__class__ is np.ndarray:
        np.copyto(target._array, value._array)
    elif isinstance(target._array, ForeignArray):
        target._array.write(value._array)
    elif not target.is_meta:
        target._array[...] = value._array
    version = version_of(target)
    if version is not INFERENCE:
        version[0] += 1
        if thread.grad_enabled:
            # For the error of a backward that needs what was there.
            version[1:] = [here()]
        _resave_result(target, value, version)


def _move_on_tape(target: Tensor, value: Tensor) -> None:
    edge = edge_of(value)
    base = target if target._view is None else target._view.base
    if edge is not None or base._node is not None:
        rebase(target, edge, value)


def rebase(target: Tensor, edge: Edge | None, value: Tensor | None = None) -> None:
    """Give a tensor whose memory was, or will be, written its new tape position.

    Parameters
    ----------
    target : Tensor
        If it is a view, its base gets the new position.
    edge : Edge or None
        Where the cotangent of what is written goes.
    value : Tensor, optional
        What is written, `target` itself if it is there already.
    """
    base, node = rebased(target, edge, value)
    before, base._node = base._node, node
    move_retained(base, before, node)


def rebased(
    target: Tensor, edge: Edge | None, value: Tensor | None = None
) -> tuple[Tensor, Edge]:
    """Return which tensor `rebase` moves on the tape, and where to."""
    view = target._view
    base = target if view is None else view.base
    if view is None and edge is not None:
        return base, edge
    path = () if view is None else view.path
    written = target if value is None else value
    return base, _view_write_entry(base, written, edge, path)


def _view_write_entry(
    base: Tensor, value: Tensor, edge: Edge | None, path: tuple[Any, ...]
) -> TapeEntry:
    """Return the entry of "base, with the viewed part replaced by value"."""
    operator = OPERATORS["view_write"]
    edges = (base._node, edge)
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


def _resave_result(target: Tensor, value: Tensor, version: Version) -> None:
    """Let an entry that saved its result save the target's memory instead.

    A later write into the target then makes backward raise, as it should for
    ``x.exp_().add_(1)``.
    """
    entry = value._node
    if entry.__class__ is not TapeEntry:
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
    ArgumentTypeError
        If `out` is no Tensor.
    GradientError
        If gradients are on and the result or `out` requires grad.
    """
    if not isinstance(out, Tensor):
        raise ArgumentTypeError(
            f"{name}(): out must be a Tensor, not {type(out).__name__}"
        )
    if thread.grad_enabled and (value.requires_grad or out.requires_grad):
        raise GradientError(
            f"{name}(): out= does not work with tensors that require grad"
        )
    check_writable(out, name)
    check_fits(out, value, f"{name}(out=…)")
    write(out, value)
    return out  # type: ignore[no-any-return]
