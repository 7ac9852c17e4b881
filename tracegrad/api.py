"""Floor 10: capturing functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.captured.function import CapturedFunction
from tracegrad.config import config
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError
from tracegrad.ops.movement import matrix_trace


def trace(
    function: Any = None,
    example_inputs: Any = None,
    *,
    target: str | None = None,
    strict: bool = False,
) -> Any:
    """Capture a function, or return the sum of a matrix's diagonal.

    A captured function does what the function does. Its first call with inputs of one
    kind is an ordinary call, written down as a graph; later calls run the program made
    of it, after checking that everything the function read is as it was. What can't be
    captured runs eagerly, and ``explain()`` says why.

    Parameters
    ----------
    function : callable or Tensor
        A Tensor of shape (n, m) gives PyTorch's ``torch.trace``. Nothing makes a
        decorator with the options given.
    example_inputs : Tensor, tuple or dict, optional
        Record now, with these; they and everything else are left as they were.
    target : {"auto", "numpy", "cuda"}, optional
        What to compile to; ``config.target`` if not given.
    strict : bool
        Raise where a call would run eagerly.

    Returns
    -------
    CapturedFunction, or Tensor
        Callable like `function`, with ``graph``, ``graphs``, ``source``,
        ``explain()``, ``specializations``, ``cache_clear()`` and ``eager``.

    Raises
    ------
    ArgumentTypeError
        If `function` is neither callable nor a Tensor.
    CaptureError
        With `strict`, if a call can't be captured.

    Examples
    --------
    >>> import tracegrad as tg
    >>> square = tg.trace(lambda x: x * x)
    >>> square(tg.tensor([3.0])).item(), square(tg.tensor([4.0])).item()
    (9.0, 16.0)
    """
    if isinstance(function, Tensor):
        return matrix_trace(function)
    if function is None:
        return _decorator(target, strict)
    if not callable(function):
        raise ArgumentTypeError(
            "trace() takes a function, which it captures, or a Tensor, of which it "
            f"sums the diagonal; not {type(function).__name__}"
        )
    captured = CapturedFunction(function, _checked_target(target), strict)
    if example_inputs is not None:
        captured.record_examples(*_as_arguments(example_inputs))
    return captured


def _decorator(
    target: str | None, strict: bool
) -> Callable[[Callable[..., Any]], CapturedFunction]:
    checked = _checked_target(target)

    def decorate(function: Callable[..., Any]) -> CapturedFunction:
        return CapturedFunction(function, checked, strict)

    return decorate


def _checked_target(target: str | None) -> str | None:
    if target is not None:
        with config(target=target):
            pass
    return target


def _as_arguments(example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(example_inputs, dict):
        return (), dict(example_inputs)
    if isinstance(example_inputs, tuple | list):
        return tuple(example_inputs), {}
    return (example_inputs,), {}
