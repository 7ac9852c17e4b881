"""The Fourier transform extension of the standard, by `tracegrad.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tracegrad as tg
from tracegrad.array_api.arrays import adopt, check_kind, tensor_of
from tracegrad.device import Device
from tracegrad.dtypes import DType, get_default_dtype

_KINDS = {
    "fft": ("complex",), "ifft": ("complex",), "fftn": ("complex",),
    "ifftn": ("complex",), "rfft": ("float",), "rfftn": ("float",),
    "irfft": ("complex",), "irfftn": ("complex",), "hfft": ("complex",),
    "ihfft": ("float",),
}  # fmt: skip


def _ours(name: str) -> Any:
    namespace: Any = tg
    return getattr(namespace.fft, name)


def _of_lines(name: str) -> Callable[..., Any]:
    def transform(
        x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Any:
        tensor = check_kind(tensor_of(x, name), _KINDS[name], name)
        return adopt(_ours(name)(tensor, n, axis, norm), x)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"Apply `tracegrad.fft.{name}` along an axis."
    return transform


def _of_several(name: str) -> Callable[..., Any]:
    def transform(
        x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward"
    ) -> Any:
        tensor = check_kind(tensor_of(x, name), _KINDS[name], name)
        return adopt(_ours(name)(tensor, s, axes, norm), x)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"Apply `tracegrad.fft.{name}` along several axes."
    return transform


fft, ifft = _of_lines("fft"), _of_lines("ifft")
rfft, irfft = _of_lines("rfft"), _of_lines("irfft")
hfft, ihfft = _of_lines("hfft"), _of_lines("ihfft")
fftn, ifftn = _of_several("fftn"), _of_several("ifftn")
rfftn, irfftn = _of_several("rfftn"), _of_several("irfftn")


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: DType | None = None,
    device: Device | str | None = None,
) -> Any:  # fmt: skip
    """Frequencies of the results of `fft`."""
    wanted = dtype or get_default_dtype()
    return adopt(_ours("fftfreq")(n, d, dtype=wanted, device=device))


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: DType | None = None,
    device: Device | str | None = None,
) -> Any:  # fmt: skip
    """Frequencies of the results of `rfft`."""
    wanted = dtype or get_default_dtype()
    return adopt(_ours("rfftfreq")(n, d, dtype=wanted, device=device))


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Move the frequency 0 to the middle."""
    return adopt(_ours("fftshift")(tensor_of(x, "fftshift"), axes), x)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Undo `fftshift`."""
    return adopt(_ours("ifftshift")(tensor_of(x, "ifftshift"), axes), x)


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip
