"""``torch.jit`` as `tracegrad.trace`, and marks that have nothing to do here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tracegrad as tg
from tracegrad.errors import NotSupportedError

Final = Any
ScriptModule = tg.nn.Module


def script(
    obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, **_: Any
) -> Any:
    """Capture a function or module: `tracegrad.trace` under PyTorch's name.

    A class is returned as it is. Branches on tensors are guarded and followed, where
    TorchScript would compile both.
    """
    return obj if isinstance(obj, type) else tg.trace(obj)


def trace(
    func: Callable[..., Any],
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    **_: Any,
) -> Any:
    """Capture a function or module: `tracegrad.trace` under PyTorch's name.

    The examples are not run: the first call is recorded. Unlike PyTorch's, the result
    follows branches, sizes and modes as they are at each call.
    """
    return tg.trace(func)


def ignore(drop: Any = False, **_: Any) -> Any:
    """Return the function as it is."""
    return drop if callable(drop) else (lambda function: function)


def unused(fn: Any) -> Any:
    """Return the function as it is."""
    return fn


def export(fn: Any) -> Any:
    """Return the function as it is."""
    return fn


def interface(obj: Any) -> Any:
    """Return the class as it is."""
    return obj


def script_if_tracing(fn: Any) -> Any:
    """Return the function as it is."""
    return fn


def is_scripting() -> bool:
    """Return False: functions run as Python."""
    return False


def is_tracing() -> bool:
    """Return False: capture records an ordinary eager call."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value."""
    return the_value


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Refuse: TorchScript archives hold compiled code.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError(
        "jit.save() writes TorchScript, which tracegrad does not make; save the "
        "state_dict, and the text of a captured function's graph"
    )


def load(f: Any, map_location: Any = None, _extra_files: Any = None) -> Any:
    """Refuse: TorchScript archives hold compiled code.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError(
        "jit.load() reads TorchScript, which tracegrad does not run; load a state_dict"
    )
