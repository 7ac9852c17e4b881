"""Hooks of modules: before and after `forward`, and when backward passes by."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, final

from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops.hooking import hooked

_next_id = itertools.count().__next__


@final
@dataclass(frozen=True, slots=True)
class Hook:
    """A function to be called by a module, and when.

    Attributes
    ----------
    kind : str
        ``forward_pre``, ``forward``, ``backward_pre`` or ``backward``; for state
        dictionaries ``save_pre``, ``save``, ``load_pre`` or ``load``.
    function : callable
    with_kwargs : bool
        Whether it takes the keyword arguments of `forward` too.
    """

    kind: str
    function: Callable[..., Any]
    with_kwargs: bool = False


@final
class RemovableHandle:
    """What registering a hook returns: it removes the hook again.

    Also a context manager that removes the hook at the end of its block.
    """

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: dict[int, Hook]) -> None:
        self._hooks = hooks
        self.id = _next_id()

    def remove(self) -> None:
        """Remove the hook; does nothing if it is removed already."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()


def add_hook(
    hooks: dict[int, Hook], hook: Hook, prepend: bool = False
) -> RemovableHandle:
    """Add `hook` after the others, or before them, and return its handle."""
    handle = RemovableHandle(hooks)
    before = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[handle.id] = hook
    hooks.update(before)
    return handle


def hooks_of(hooks: dict[int, Hook], kind: str) -> list[Hook]:
    """Return the hooks of one kind, in order."""
    return [hook for hook in hooks.values() if hook.kind == kind]


def run_with_hooks(module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a module's hooks and its `forward`."""
    hooks = module._call_hooks
    for hook in hooks_of(hooks, "forward_pre"):
        args, kwargs = _run_pre(module, hook, args, kwargs)
    backward = _Backward(module)
    if backward.wanted:
        args = backward.hook_inputs(args)
    result = module.forward(*args, **kwargs)
    for hook in hooks_of(hooks, "forward"):
        extra = (kwargs,) if hook.with_kwargs else ()
        replaced = hook.function(module, args, *extra, result)
        if replaced is not None:
            result = replaced
    return backward.hook_outputs(result) if backward.wanted else result


def _run_pre(
    module: Any, hook: Hook, args: Any, kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    if hook.with_kwargs:
        replaced = hook.function(module, args, kwargs)
        return (args, kwargs) if replaced is None else replaced
    replaced = hook.function(module, args)
    if replaced is None:
        return args, kwargs
    return (replaced if isinstance(replaced, tuple) else (replaced,)), kwargs


@final
class _Backward:
    """The backward hooks of one call of a module.

    Attributes
    ----------
    wanted : bool
        Whether there are any.
    grad_output : tuple or None
        What arrived at the results, once it has.
    """

    def __init__(self, module: Any) -> None:
        self.module = module
        self.pre = hooks_of(module._call_hooks, "backward_pre")
        self.post = hooks_of(module._call_hooks, "backward")
        self.wanted = thread.grad_enabled and bool(self.pre or self.post)
        self.places: list[int] = []
        self.count = 0
        self.grad_output: tuple[Tensor | None, ...] | None = None

    def hook_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments, with those that need gradients watched."""
        self.count = len(args)
        self.places = _tracked(args)
        if not self.places or not self.post:
            return args
        return _watched(args, self.places, self._at_inputs)

    def hook_outputs(self, result: Any) -> Any:
        """Return the results, with those that need gradients watched."""
        several = isinstance(result, tuple | list)
        results = tuple(result) if several else (result,)
        places = _tracked(results)
        if not places:
            return result

        def at_outputs(cts: list[Tensor | None]) -> list[Tensor | None]:
            return self._at_outputs(cts, places, len(results))

        watched = _watched(results, places, at_outputs)
        return type(result)(watched) if several else watched[0]

    def _at_outputs(
        self, cts: list[Tensor | None], places: list[int], count: int
    ) -> list[Tensor | None]:
        arrived = _spread(cts, places, count)
        for hook in self.pre:
            replaced = hook.function(self.module, arrived)
            if replaced is not None:
                arrived = _as_tuple(replaced)
        self.grad_output = arrived
        if not self.places:
            nothing = (None,) * self.count
            for hook in self.post:
                hook.function(self.module, nothing, arrived)
        return [arrived[place] for place in places]

    def _at_inputs(self, cts: list[Tensor | None]) -> list[Tensor | None]:
        found = _spread(cts, self.places, self.count)
        for hook in self.post:
            replaced = hook.function(self.module, found, self.grad_output)
            if replaced is not None:
                found = _as_tuple(replaced)
        return [found[place] for place in self.places]


def _tracked(values: tuple[Any, ...]) -> list[int]:
    return [
        i for i, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad
    ]


def _watched(values: tuple[Any, ...], places: list[int], hook: Any) -> tuple[Any, ...]:
    found = dict(
        zip(places, hooked(tuple(values[p] for p in places), hook), strict=True)
    )
    return tuple(found.get(i, value) for i, value in enumerate(values))


def _spread(
    cts: list[Tensor | None], places: list[int], count: int
) -> tuple[Tensor | None, ...]:
    by_place = dict(zip(places, cts, strict=True))
    return tuple(by_place.get(i) for i in range(count))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)
