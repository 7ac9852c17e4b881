"""Discrete Fourier transforms, under PyTorch's names.

In all of them `n` or `s` are sizes to which the input is cut or filled with zeros, and
`norm` says what is divided: ``"backward"`` (the inverse by the number of elements),
``"ortho"`` (both by its root) or ``"forward"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, get_default_dtype
from tracegrad.errors import ArgumentValueError, IndexRangeError, ShapeError
from tracegrad.ops.casts import cast
from tracegrad.ops.creation import arange
from tracegrad.ops.fourier import fft_c2c, fft_c2r, fft_r2c
from tracegrad.ops.joining import cat
from tracegrad.ops.movement import roll
from tracegrad.ops.views import slice_

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

Sizes = Sequence[int] | None


# -- arguments ----------------------------------------------------------------------


def _scale(name: str, norm: str | None, forward: bool) -> int:
    """Return what the sums are divided by, as the operators say it."""
    modes = ("backward", "ortho", "forward")
    mode = "backward" if norm is None else norm
    if mode not in modes:
        raise ArgumentValueError(f"fft.{name}: norm is one of {modes}, not {norm!r}")
    return modes.index(mode) if forward else 2 - modes.index(mode)


def _floating(input: Tensor) -> Tensor:
    if input.dtype.kind in ("bool", "int"):
        return cast(input, get_default_dtype())  # type: ignore[no-any-return]
    return input


def _complex(input: Tensor) -> Tensor:
    input = _floating(input)
    return input if input.is_complex() else cast(input, input.dtype.to_complex())


def _resized(input: Tensor, dim: int, size: int) -> Tensor:
    """Return the input cut, or filled with zeros, along a dimension."""
    have = input._array.shape[dim]
    if have >= size:
        return input if have == size else slice_(input, dim, 0, size)  # type: ignore[no-any-return]
    shape = list(input._array.shape)
    shape[dim] = size - have
    return cat((input, input.new_zeros(shape)), dim)  # type: ignore[attr-defined, no-any-return]


def _dims(name: str, input: Tensor, dim: Any, s: Sizes) -> tuple[int, ...]:
    if dim is None:
        count = input.ndim if s is None else len(s)
        if count > input.ndim:
            raise ShapeError(f"fft.{name}: {count} sizes for {input.ndim} dimensions")
        return tuple(range(input.ndim - count, input.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    for d in dims:
        if not -input.ndim <= d < input.ndim:
            raise IndexRangeError(
                f"fft.{name}: there is no dimension {d} in {input.ndim}"
            )
    found = tuple(d % input.ndim for d in dims)
    if len(set(found)) < len(found):
        raise ShapeError(f"fft.{name}: dimensions {dims} name one twice")
    return found


def _sized(
    name: str, input: Tensor, s: Sizes, dims: tuple[int, ...], halved: int = -1
) -> tuple[Tensor, int]:
    """Return the resized input, and the size of the last dimension that was asked for.

    `halved` is the place in `dims` of the one that holds half of its elements.
    """
    sizes = [-1] * len(dims) if s is None else list(s)
    if len(sizes) != len(dims):
        raise ShapeError(f"fft.{name}: {len(sizes)} sizes for {len(dims)} dimensions")
    last = -1
    for place, (dim, size) in enumerate(zip(dims, sizes, strict=True)):
        have = input._array.shape[dim]
        if place == halved:
            last = 2 * (have - 1) if size == -1 else size
            size = last // 2 + 1
        elif size == -1:
            size = have
        if size < 1 or (place == halved and last < 1):
            raise ShapeError(
                f"fft.{name}: a transform of {size} elements along dimension {dim}"
            )
        input = _resized(input, dim, size)
    return input, last


def _c2c(
    name: str, input: Tensor, s: Sizes, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    dims = _dims(name, input, dim, s)
    given, _ = _sized(name, _complex(input), s, dims)
    if not dims:
        return given
    return fft_c2c(given, dims, _scale(name, norm, forward), forward)  # type: ignore[no-any-return]


def _r2c(
    name: str, input: Tensor, s: Sizes, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    if input.is_complex():
        raise ArgumentValueError(f"fft.{name} takes real numbers, not complex ones")
    dims = _some(name, _dims(name, input, dim, s))
    given, _ = _sized(name, _floating(input), s, dims)
    found = fft_r2c(given, dims, _scale(name, norm, forward))
    return found if forward else found.conj()  # type: ignore[no-any-return]


def _c2r(
    name: str, input: Tensor, s: Sizes, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    dims = _some(name, _dims(name, input, dim, s))
    given, last = _sized(name, _complex(input), s, dims, len(dims) - 1)
    given = given.conj() if forward else given  # type: ignore[attr-defined]
    return fft_c2r(given, dims, _scale(name, norm, forward), last)  # type: ignore[no-any-return]


def _some(name: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    if not dims:
        raise ShapeError(f"fft.{name}: there must be a dimension to transform")
    return dims


def _one(n: int | None) -> Sizes:
    return None if n is None else (n,)


# -- complex -------------------------------------------------------------------------


def fft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return the Fourier transform along a dimension."""
    return _c2c("fft", input, _one(n), (dim,), norm, True)


def ifft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return the inverse Fourier transform along a dimension."""
    return _c2c("ifft", input, _one(n), (dim,), norm, False)


def fft2(
    input: Tensor, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None
) -> Tensor:
    """Return the Fourier transform over two dimensions."""
    return _c2c("fft2", input, s, dim, norm, True)


def ifft2(
    input: Tensor, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None
) -> Tensor:
    """Return the inverse Fourier transform over two dimensions."""
    return _c2c("ifft2", input, s, dim, norm, False)


def fftn(
    input: Tensor, s: Sizes = None, dim: Any = None, norm: str | None = None
) -> Tensor:
    """Return the Fourier transform over dimensions, all if none are given."""
    return _c2c("fftn", input, s, dim, norm, True)


def ifftn(
    input: Tensor, s: Sizes = None, dim: Any = None, norm: str | None = None
) -> Tensor:
    """Return the inverse Fourier transform over dimensions."""
    return _c2c("ifftn", input, s, dim, norm, False)


# -- real in, half out ---------------------------------------------------------------


def rfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return the half of the transform of real numbers that says it all."""
    return _r2c("rfft", input, _one(n), (dim,), norm, True)


def rfft2(
    input: Tensor, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None
) -> Tensor:
    """Return `rfft` over two dimensions, the last one halved."""
    return _r2c("rfft2", input, s, dim, norm, True)


def rfftn(
    input: Tensor, s: Sizes = None, dim: Any = None, norm: str | None = None
) -> Tensor:
    """Return `rfft` over dimensions, the last one halved."""
    return _r2c("rfftn", input, s, dim, norm, True)


def ihfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return the inverse of `hfft`: half of an inverse transform of real numbers."""
    return _r2c("ihfft", input, _one(n), (dim,), norm, False)


def ihfft2(
    input: Tensor, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None
) -> Tensor:
    """Return `ihfft` over two dimensions."""
    return _r2c("ihfft2", input, s, dim, norm, False)


def ihfftn(
    input: Tensor, s: Sizes = None, dim: Any = None, norm: str | None = None
) -> Tensor:
    """Return `ihfft` over dimensions."""
    return _r2c("ihfftn", input, s, dim, norm, False)


# -- half in, real out ---------------------------------------------------------------


def irfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return the inverse of `rfft`, `n` real numbers (an even number if not given)."""
    return _c2r("irfft", input, _one(n), (dim,), norm, False)


def irfft2(
    input: Tensor, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None
) -> Tensor:
    """Return the inverse of `rfft2`."""
    return _c2r("irfft2", input, s, dim, norm, False)


def irfftn(
    input: Tensor, s: Sizes = None, dim: Any = None, norm: str | None = None
) -> Tensor:
    """Return the inverse of `rfftn`."""
    return _c2r("irfftn", input, s, dim, norm, False)


def hfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None
) -> Tensor:
    """Return the real transform of a signal that is Hermitian, given by its half."""
    return _c2r("hfft", input, _one(n), (dim,), norm, True)


def hfft2(
    input: Tensor, s: Sizes = None, dim: Any = (-2, -1), norm: str | None = None
) -> Tensor:
    """Return `hfft` over two dimensions."""
    return _c2r("hfft2", input, s, dim, norm, True)


def hfftn(
    input: Tensor, s: Sizes = None, dim: Any = None, norm: str | None = None
) -> Tensor:
    """Return `hfft` over dimensions."""
    return _c2r("hfftn", input, s, dim, norm, True)


# -- frequencies and places ----------------------------------------------------------


def fftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False
) -> Tensor:
    """Return the frequencies of the places of a transform of `n` elements."""
    places = arange(n, dtype=dtype or get_default_dtype())
    found = (places - (places > (n - 1) // 2) * n) * (1.0 / (n * d))
    return found.requires_grad_(requires_grad)  # type: ignore[no-any-return]


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, requires_grad: bool = False
) -> Tensor:
    """Return the frequencies of the places of an `rfft` of `n` elements."""
    found = arange(n // 2 + 1, dtype=dtype or get_default_dtype()) * (1.0 / (n * d))
    return found.requires_grad_(requires_grad)  # type: ignore[no-any-return]


def _shifted(input: Tensor, dim: Any, sign: int) -> Tensor:
    dims = _dims("fftshift", input, dim, None)
    # Half of an odd size is rounded down on the way there, up on the way back.
    sizes = [input._array.shape[d] for d in dims]
    steps = tuple(n // 2 if sign > 0 else -(n // 2) for n in sizes)
    return roll(input, steps, dims) if dims else input.clone()  # type: ignore[no-any-return]


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Return a transform with the frequency 0 in the middle."""
    return _shifted(input, dim, 1)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Return the inverse of `fftshift`."""
    return _shifted(input, dim, -1)
