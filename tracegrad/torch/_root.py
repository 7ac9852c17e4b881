"""Names of ``torch`` itself that speak of PyTorch's machinery and not of tensors."""

from __future__ import annotations

import warnings
from typing import Any

import tracegrad as tg
from tracegrad.errors import ArgumentError
from tracegrad.torch._compiler import compile as compile
from tracegrad.torch._version import TorchVersion as TorchVersion
from tracegrad.torch._version import __version__ as __version__

trace = tg.Tensor.trace  # type: ignore[attr-defined]

_PRECISIONS = ("highest", "high", "medium")
_precision = ["highest"]


def set_float32_matmul_precision(precision: str) -> None:
    """Accept a precision; float32 products are always computed in float32.

    Raises
    ------
    ArgumentError
        If it is none of ``"highest"``, ``"high"``, ``"medium"``.
    """
    if precision not in _PRECISIONS:
        raise ArgumentError(
            f"set_float32_matmul_precision() takes one of {list(_PRECISIONS)}, "
            f"not {precision!r}"
        )
    _precision[0] = precision


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` was given."""
    return _precision[0]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: every algorithm is deterministic."""


def are_deterministic_algorithms_enabled() -> bool:
    """Return True: every algorithm is deterministic."""
    return True


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return False: there is nothing to warn of."""
    return False


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """Do nothing: every algorithm is deterministic."""


def set_flush_denormal(mode: bool) -> bool:
    """Return False: denormal numbers are kept, whatever is asked."""
    return False


def set_warn_always(b: bool, /) -> None:
    """Show each warning every time it is given, or once per place."""
    warnings.simplefilter("always" if b else "default")


def is_warn_always_enabled() -> bool:
    """Return whether warnings are shown every time."""
    return any(rule[0] == "always" for rule in warnings.filters)


def is_vulkan_available() -> bool:
    """Return False."""
    return False


def compiled_with_cxx11_abi() -> bool:
    """Return True, as PyTorch's own builds do; there is no C++ here."""
    return True
