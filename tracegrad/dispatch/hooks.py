"""What users attach to tape entries: hooks, retained gradients, metadata.

Most entries have none, and then only a None in one slot; everything is here.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, final

from tracegrad.errors import ArgumentTypeError, GradientError

_next_id = itertools.count().__next__


@final
class RemovableHandle:
    """Takes a hook out again.

    Parameters
    ----------
    hooks : dict
        Where the hook is; referred to weakly by its owner's lifetime only.
    """

    __slots__ = ("__weakref__", "_hooks", "id")

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self.id = _next_id()
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook out; a second time does nothing."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


@final
class EntryHooks:
    """What is attached to one tape entry.

    Attributes
    ----------
    tensor : dict
        Hooks of tensors, with the index of the result; in order of registration.
    retained : dict
        For a result's index a weak reference to the tensor whose ``.grad`` it fills.
    before, after : dict
        Hooks of the entry itself: of the cotangents of its results, and of those
        it gave for its operands.
    accumulated : dict
        For leaves: called after ``.grad`` was filled.
    metadata : dict
        The user's.
    """

    __slots__ = ("accumulated", "after", "before", "metadata", "retained", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, tuple[int, Callable[..., Any]]] = {}
        self.retained: dict[int, weakref.ref[Any]] = {}
        self.before: dict[int, Callable[..., Any]] = {}
        self.after: dict[int, Callable[..., Any]] = {}
        self.accumulated: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}

    def seen_by_tensors(self, ct: Any) -> Any:
        """Run the hooks of tensors on a cotangent, or on a list of them."""
        parts = ct if ct.__class__ is list else [ct]
        for index, hook in tuple(self.tensor.values()):
            if parts[index] is not None:
                parts[index] = replaced(hook, hook(parts[index]), parts[index])
        for index, reference in tuple(self.retained.items()):
            tensor = reference()
            if tensor is not None and parts[index] is not None:
                _retain(tensor, parts[index])
        return parts if ct.__class__ is list else parts[0]

    def seen_before(self, ct: Any) -> Any:
        """Run the entry's hooks on the cotangents of its results."""
        for hook in tuple(self.before.values()):
            parts = tuple(ct) if ct.__class__ is list else (ct,)
            found = hook(parts)
            if found is None:
                continue
            new = _several(hook, found, parts)
            ct = list(new) if ct.__class__ is list else new[0]
        return ct

    def seen_after(self, given: tuple[Any, ...], cts: tuple[Any, ...]) -> Any:
        """Run the entry's hooks on the cotangents it gave for its operands."""
        for hook in tuple(self.after.values()):
            found = hook(given, cts)
            if found is not None:
                given = _several(hook, found, given)
        return given


def replaced(hook: Callable[..., Any], found: Any, before: Any) -> Any:
    """Return what a hook replaced a cotangent with, after a check.

    Raises
    ------
    ArgumentTypeError
        If it is no tensor.
    GradientError
        If its shape, dtype or device is another.
    """
    if found is None:
        return before
    name = getattr(hook, "__name__", repr(hook))
    if not isinstance(found, type(before)) and not isinstance(before, type(found)):
        raise ArgumentTypeError(
            f"the hook {name} must return a Tensor or None, not {type(found).__name__}"
        )
    for what in ("shape", "dtype", "device"):
        old, new = getattr(before, what), getattr(found, what)
        if old != new:
            raise GradientError(
                f"the hook {name} changed the gradient's {what} from {old} to {new}"
            )
    return found


def _several(
    hook: Callable[..., Any], found: Any, before: Sequence[Any]
) -> tuple[Any, ...]:
    new = tuple(found) if isinstance(found, tuple | list) else (found,)
    if len(new) != len(before):
        name = getattr(hook, "__name__", repr(hook))
        raise GradientError(
            f"the hook {name} must return {len(before)} gradients, not {len(new)}"
        )
    return tuple(
        new_part if old_part is None else replaced(hook, new_part, old_part)
        for new_part, old_part in zip(new, before, strict=True)
    )


def _retain(tensor: Any, ct: Any) -> None:
    before = tensor._grad
    tensor._grad = ct.clone() if before is None else before + ct
