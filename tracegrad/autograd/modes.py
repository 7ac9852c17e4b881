"""Whether operators go on the tape, per thread."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, ParamSpec, TypeVar, final

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.inplace import write
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.state import install_transforms, thread
from tracegrad.dispatch.state import set_grad_enabled as _set
from tracegrad.dispatch.tensor import Tensor

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Mode:
    """A context manager that is also a decorator, for generators too.

    Abstract: a subclass says how to enter and leave.
    """

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def _again(self) -> _Mode:
        """Return a mode like this one, not entered."""
        return type(self)()

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return `function` run in this mode; a generator has it in each step."""
        if inspect.isgeneratorfunction(function):
            return self._wrapped_generator(function)  # type: ignore[no-any-return]

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return wrapped

    def _wrapped_generator(self, function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **kwargs)
            step: Callable[..., Any] = generator.send
            argument: Any = None
            try:
                while True:
                    with self._again():
                        given = step(argument)
                    step, argument = generator.send, None
                    try:
                        argument = yield given
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step, argument = generator.throw, error
            except StopIteration as stop:
                return stop.value
            finally:
                with self._again():
                    generator.close()

        return wrapped


class _GradMode(_Mode):
    _enabled: bool

    def __enter__(self) -> None:
        self._before = _set(self._enabled)

    def __exit__(self, *exception: object) -> None:
        _set(self._before)

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """Make the mode, or wrap a function where it decorates without parentheses."""
        self = super().__new__(cls)
        return self if function is None else self(function)


class no_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Keep operators off the tape, as a context manager or a decorator.

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.tensor(1.0, requires_grad=True)
    >>> with no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _enabled = False


class enable_grad(_GradMode):  # noqa: N801 - PyTorch's name
    """Put operators on the tape again inside `no_grad`."""

    _enabled = True


@final
class set_grad_enabled(_Mode):  # noqa: N801 - PyTorch's name
    """Turn gradients on or off: at once, until the end of a ``with`` block if used so.

    Parameters
    ----------
    mode : bool
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before = _set(self.mode)

    def __enter__(self) -> None:
        _set(self.mode)

    def __exit__(self, *exception: object) -> None:
        _set(self._before)

    def _again(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return `function` run in this mode; only then is the mode changed."""
        _set(self._before)
        return super().__call__(function)


@final
class _MakingInferenceTensors:
    """A transform that marks fresh results as inference tensors."""

    functional = False

    def bind(
        self, operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        result = bind(operator, operands, attributes)
        for tensor in result if result.__class__ is tuple else (result,):
            if tensor._view is None and not any(tensor is o for o in operands):
                mark_inference(tensor)
        return result

    def call(self, function: Any, args: tuple[Any, ...]) -> Any:
        return function.apply(*args)

    def write(self, target: Any, value: Any) -> None:
        write(target, value)


def mark_inference(tensor: Tensor) -> None:
    """Make a fresh tensor an inference tensor, unless it shares a version."""
    if tensor._counter is None:
        tensor._counter = INFERENCE


@final
class inference_mode(_Mode):  # noqa: N801 - PyTorch's name
    """Keep operators off the tape for good: results can never be saved for backward.

    Parameters
    ----------
    mode : bool
        With False nothing changes, but for `enable_grad` inside another block.

    Examples
    --------
    >>> import tracegrad as tg
    >>> with inference_mode():
    ...     y = tg.tensor([1.0]) * 2
    >>> y.is_inference()
    True
    """

    mode: bool

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Make the mode, or wrap a function where it decorates without parentheses."""
        self = super().__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        self.mode = mode
        return self

    def __enter__(self) -> None:
        self._before = (thread.inference, thread.transforms, _set(not self.mode))
        thread.inference = self.mode
        others = tuple(
            t for t in thread.transforms if t.__class__ is not _MakingInferenceTensors
        )
        added = (_MakingInferenceTensors(),) if self.mode else ()
        install_transforms((*others, *added))

    def __exit__(self, *exception: object) -> None:
        thread.inference, transforms, enabled = self._before
        install_transforms(transforms)
        _set(enabled)

    def _again(self) -> inference_mode:
        return inference_mode(self.mode)  # type: ignore[no-any-return]


def is_grad_enabled() -> bool:
    """Return whether operators on tracked tensors go on the tape."""
    return thread.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Return whether new tensors are inference tensors."""
    return thread.inference
