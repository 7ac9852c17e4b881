"""How a tensor is printed: PyTorch's text, character for character.

The numbers of a tensor are printed to one width and in one notation, chosen from
those that are shown: integers without decimals, decimals, or powers of ten where the
magnitudes differ by more than a thousand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tracegrad.dispatch.host import host_array
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, edge_of
from tracegrad.dtypes import (
    DType,
    bool_,
    complex64,
    complex128,
    float64,
    get_default_dtype,
    int64,
)
from tracegrad.errors import ArgumentError, InplaceError


@final
@dataclass(slots=True)
class PrintOptions:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()
_PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    Parameters
    ----------
    precision : int, optional
        Digits after the point (4).
    threshold : float, optional
        Number of elements above which a tensor is summarised (1000).
    edgeitems : int, optional
        Elements shown at each end of a dimension when summarised (3).
    linewidth : int, optional
        Characters per line (80).
    profile : {"default", "short", "full"}, optional
        Set the four at once.
    sci_mode : bool, optional
        Whether to use powers of ten; chosen by the numbers if None.

    Raises
    ------
    ArgumentError
        If the profile is unknown.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ArgumentError(
                f"set_printoptions: no profile {profile!r}; there are {list(_PROFILES)}"
            )
        (
            OPTIONS.precision,
            OPTIONS.threshold,
            OPTIONS.edgeitems,
            OPTIONS.linewidth,
        ) = _PROFILES[profile]
    for name, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


# -- one number -----------------------------------------------------------------------


@final
class _Format:
    """The common form of the real numbers of one array."""

    def __init__(self, shown: np.ndarray[Any, Any]) -> None:
        self.floating = shown.dtype.kind == "f"
        self.whole = True
        self.powers = False
        self.width = 1
        if self.floating:
            self._choose(shown.reshape(-1))
        else:
            self._widen(f"{value}" for value in shown.reshape(-1).tolist())

    def _choose(self, shown: np.ndarray[Any, Any]) -> None:
        kept = shown[np.isfinite(shown) & (shown != 0)]
        if not kept.size:
            return
        sizes = np.abs(kept).astype(np.float64)
        smallest, largest = float(sizes.min()), float(sizes.max())
        self.whole = bool((kept == np.ceil(kept)).all())
        self.powers = (
            largest / smallest > 1000.0
            or largest > 1.0e8
            or (not self.whole and smallest < 1.0e-4)
        )
        if OPTIONS.sci_mode is not None:
            self.powers = OPTIONS.sci_mode
        values = kept.tolist()
        digits = OPTIONS.precision
        if self.powers:
            self._widen(f"{value:.{digits}e}" for value in values)
        elif self.whole:
            self._widen(f"{value:.0f}." for value in values)
        else:
            self._widen(f"{value:.{digits}f}" for value in values)

    def _widen(self, texts: Any) -> None:
        self.width = max(self.width, max(map(len, texts), default=1))

    def text(self, value: Any) -> str:
        """Return a number, padded to the common width."""
        return self._plain(value).rjust(self.width)

    def _plain(self, value: Any) -> str:
        digits = OPTIONS.precision
        if not self.floating:
            return f"{value}"
        if self.powers:
            return f"{value:{self.width}.{digits}e}"
        if self.whole:
            text = f"{value:.0f}"
            return text + "." if math.isfinite(value) else text
        return f"{value:.{digits}f}"


@final
class _ComplexFormat:
    """The common form of complex numbers: one for each part."""

    def __init__(self, shown: np.ndarray[Any, Any]) -> None:
        self.real = _Format(shown.real)
        self.imag = _Format(shown.imag)
        self.width = self.real.width + self.imag.width + 1

    def text(self, value: complex) -> str:
        """Return a number, its real part padded."""
        imag = (self.imag.text(value.imag) + "j").lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return self.real.text(value.real) + sign + imag


# -- arrays ---------------------------------------------------------------------------


def _edges(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the elements that a summary shows."""
    edge = OPTIONS.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            ends = [*range(edge), *range(size - edge, size)]
            array = np.take(array, ends, axis=axis)
    return array


def _array_text(array: np.ndarray[Any, Any], indent: int) -> str:
    """Return the nested brackets of an array that is not empty."""
    if (
        array.dtype.kind == "f" and array.dtype.itemsize < 4
    ) or array.dtype.kind == "V":
        array = array.astype(np.float32)
    summarise = array.size > OPTIONS.threshold
    shown = _edges(array) if summarise else array
    form = _ComplexFormat(shown) if array.dtype.kind == "c" else _Format(shown)
    return _nested(array, indent, summarise, form)


def _nested(
    array: np.ndarray[Any, Any], indent: int, summarise: bool, form: Any
) -> str:
    if array.ndim == 0:
        return str(form.text(array.item()))
    if array.ndim == 1:
        return _line_text(array, indent, summarise, form)
    edge = OPTIONS.edgeitems
    if summarise and len(array) > 2 * edge:
        parts = [
            *(_nested(a, indent + 1, summarise, form) for a in array[:edge]),
            "...",
            *(
                _nested(a, indent + 1, summarise, form)
                for a in array[len(array) - edge :]
            ),
        ]
    else:
        parts = [_nested(a, indent + 1, summarise, form) for a in array]
    gap = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + gap.join(parts) + "]"


def _line_text(
    array: np.ndarray[Any, Any], indent: int, summarise: bool, form: Any
) -> str:
    edge = OPTIONS.edgeitems
    per_line = max(1, (OPTIONS.linewidth - indent) // (form.width + 2))
    if summarise and len(array) > 2 * edge:
        first, last = array[:edge].tolist(), array[len(array) - edge :].tolist()
        data = [*map(form.text, first), " ...", *map(form.text, last)]
    else:
        data = [form.text(value) for value in array.tolist()]
    lines = [
        ", ".join(data[start : start + per_line])
        for start in range(0, len(data), per_line)
    ]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# -- tensors --------------------------------------------------------------------------


def _default_dtypes() -> tuple[DType, ...]:
    default = get_default_dtype()
    its_complex = complex128 if default is float64 else complex64
    return (default, its_complex, int64, bool_)


def _text_and_suffixes(tensor: Tensor, indent: int) -> tuple[str, list[str]]:
    dtype = f"dtype={tensor.dtype}"
    size = f"size={tuple(tensor.shape)}"
    if tensor.is_meta:
        shown = [] if tensor.dtype is get_default_dtype() else [dtype]
        return "...", ["device='meta'", size, *shown]
    suffixes = [] if tensor.device.type == "cpu" else [f"device='{tensor.device}'"]
    if tensor.numel() == 0:
        if tensor.ndim != 1:
            suffixes.append(size)
        if tensor.dtype is not get_default_dtype():
            suffixes.append(dtype)
        return "[]", suffixes
    if tensor.dtype not in _default_dtypes():
        suffixes.append(dtype)
    return _array_text(_data_of(tensor), indent), suffixes


def _data_of(tensor: Tensor) -> Any:
    array = tensor._array
    if hasattr(array, "get"):
        return array.get()
    return host_array(tensor, "printing")


def _gradient_suffix(tensor: Tensor) -> list[str]:
    try:
        edge = edge_of(tensor)
    except InplaceError:
        return ["grad_fn=<Invalid>"]
    if edge is None:
        return []
    entry = tensor.grad_fn
    return ["requires_grad=True"] if entry is None else [f"grad_fn=<{entry.name()}>"]


def tensor_text(tensor: Tensor) -> str:
    """Return what ``repr`` of a tensor shows."""
    prefix = "tensor("
    text, suffixes = _text_and_suffixes(tensor, len(prefix))
    text = prefix + text
    used = len(text) - text.rfind("\n") + 1
    for suffix in [*suffixes, *_gradient_suffix(tensor)]:
        if used + len(suffix) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * len(prefix) + suffix
            used = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    recorder = thread.recorder
    if recorder is not None:
        recorder.took(tensor, text)
    return text + ")"


def _repr(self: Tensor) -> str:
    return tensor_text(self)


def _format(self: Tensor, format_spec: str) -> str:
    if self.ndim == 0 and not self.is_meta and self.__class__ is Tensor:
        return format(self.item(), format_spec)
    return object.__format__(self, format_spec)


Tensor.__repr__ = _repr  # type: ignore[method-assign]
Tensor.__format__ = _format  # type: ignore[method-assign, assignment]
