"""Whether operators go on the tape, per thread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from tracegrad.dispatch.state import set_grad_enabled as _set
from tracegrad.dispatch.state import thread

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _GradMode:
    """A context manager and decorator that holds one grad mode."""

    _enabled: bool

    def __enter__(self) -> None:
        self._before = _set(self._enabled)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _set(self._before)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return `function` run in this mode."""
        mode = type(self)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return function(*args, **kwargs)

        return wrapped


class no_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Keep operators off the tape, as a context manager or a decorator."""

    _enabled = False


class enable_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Put operators on the tape again inside `no_grad`."""

    _enabled = True


def is_grad_enabled() -> bool:
    """Return whether operators on tracked tensors go on the tape."""
    return thread.grad_enabled
