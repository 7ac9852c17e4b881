"""Hooks around saving and loading an optimizer's state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from tracegrad.dispatch.hooks import RemovableHandle as HookHandle

__all__ = ["HookHandle", "StateHooks"]


@final
class _Hooks:
    """Some hooks, in the order in which they are called."""

    def __init__(self) -> None:
        self._hooks: dict[int, Callable[..., Any]] = {}

    def add(self, hook: Callable[..., Any], prepend: bool) -> HookHandle:
        """Add a hook, at the end or at the beginning."""
        before = dict(self._hooks)
        handle = HookHandle(self._hooks, hook)
        if prepend:
            for key in before:
                self._hooks[key] = self._hooks.pop(key)
        return handle

    def call(self, optimizer: Any) -> None:
        """Call all with the optimizer."""
        for hook in list(self._hooks.values()):
            hook(optimizer)

    def passed_on(self, optimizer: Any, state: dict[str, Any]) -> dict[str, Any]:
        """Call all with optimizer and state; each sees what the one before returned."""
        for hook in list(self._hooks.values()):
            changed = hook(optimizer, state)
            state = state if changed is None else changed
        return state


@final
class StateHooks:
    """The hooks of one optimizer."""

    def __init__(self) -> None:
        self.before_saving = _Hooks()
        self.after_saving = _Hooks()
        self.before_loading = _Hooks()
        self.after_loading = _Hooks()
