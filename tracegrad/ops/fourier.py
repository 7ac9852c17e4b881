"""Discrete Fourier transforms: complex, of real input, and to real output.

`scale` says what the sums are divided by: 0 nothing, 1 the root of the number of
elements, 2 that number. So a transform's transpose has the scale of the transform.
"""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._families import primitive
from tracegrad.ops._matrices import widened
from tracegrad.ops.joining import cat
from tracegrad.ops.views import slice_
from tracegrad.spec import TensorSpec

Dims = tuple[int, ...]
_FORWARD = ("backward", "ortho", "forward")
_INVERSE = ("forward", "ortho", "backward")


def _c2c_abstract(
    input: TensorSpec, dims: Dims, scale: int, forward: bool
) -> TensorSpec:
    return TensorSpec(input.dtype, input.shape, (), input.device)


def _c2c_kernel(xp: Any, input: Any, dims: Any, scale: int, forward: bool) -> Any:
    if input.size == 0:
        return xp.zeros(input.shape, input.dtype)
    if forward:
        found = xp.fft.fftn(input, axes=dims, norm=_FORWARD[scale])
    else:
        found = xp.fft.ifftn(input, axes=dims, norm=_INVERSE[scale])
    return xp.ascontiguousarray(found, dtype=input.dtype)


def _complex_normal(rng: Any, *shape: int) -> Any:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@primitive(
    "library",
    abstract=_c2c_abstract,
    kernel=_c2c_kernel,
    linear_in=("input",),
    examples=lambda rng: [
        ((_complex_normal(rng, 3, 4), (1,), 0, True), {}),
        ((_complex_normal(rng, 3, 4), (0, 1), 2, False), {}),
    ],
    public=False,
    method=False,
)
def fft_c2c(input: Tensor, dims: tuple[int, ...], scale: int, forward: bool) -> Tensor:
    """Complex transform over dimensions; its transpose is the other direction.

    Source: Cooley and Tukey (1965), by the backend's ``fftn``.
    """


fft_c2c.vjp(
    input=lambda ct, dims, scale, forward: fft_c2c(ct, dims, scale, not forward)
)


def _r2c_abstract(input: TensorSpec, dims: Dims, scale: int) -> TensorSpec:
    shape = list(input.shape)
    shape[dims[-1]] = shape[dims[-1]] // 2 + 1
    return TensorSpec(input.dtype.to_complex(), tuple(shape), (), input.device)


def _r2c_kernel(xp: Any, input: Any, dims: Any, scale: int) -> Any:
    wide = widened(xp, input)
    dtype = xp.result_type(wide.dtype, xp.complex64)
    if input.size == 0:
        shape = list(input.shape)
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
        return xp.zeros(shape, dtype)
    found = xp.fft.rfftn(wide, axes=dims, norm=_FORWARD[scale])
    return xp.ascontiguousarray(found, dtype=dtype)


def _r2c_vjp(ct: Tensor, input_spec: Any, dims: Dims, scale: int) -> Tensor:
    shape, last = input_spec[0], dims[-1]
    missing = shape[last] - ct._array.shape[last]
    if missing:
        zeros = slice_(ct, last, 0, missing).zeros_like()
        ct = cat((ct, zeros), last)
    whole = fft_c2c(ct, dims, scale, False).real
    return whole if input_spec[1] == whole._array.dtype else whole.to(input_spec[1])  # type: ignore[no-any-return]


@primitive(
    "library",
    abstract=_r2c_abstract,
    kernel=_r2c_kernel,
    linear_in=("input",),
    examples=lambda rng: [
        ((rng.standard_normal((3, 4)), (1,), 0), {}),
        ((rng.standard_normal((4, 5)), (0, 1), 1), {}),
    ],
    public=False,
    method=False,
)
def fft_r2c(input: Tensor, dims: tuple[int, ...], scale: int) -> Tensor:
    """Transform of real numbers: the half of the last dimension that says it all."""


fft_r2c.vjp(input=_r2c_vjp)


def _c2r_abstract(input: TensorSpec, dims: Dims, scale: int, size: int) -> TensorSpec:
    shape = list(input.shape)
    shape[dims[-1]] = size
    return TensorSpec(input.dtype.to_real(), tuple(shape), (), input.device)


def _c2r_kernel(xp: Any, input: Any, dims: Any, scale: int, size: int) -> Any:
    dtype = input.real.dtype
    shape = [input.shape[d] for d in dims[:-1]] + [size]
    if input.size == 0:
        whole = list(input.shape)
        whole[dims[-1]] = size
        return xp.zeros(whole, dtype)
    found = xp.fft.irfftn(input, s=shape, axes=dims, norm=_INVERSE[scale])
    return xp.ascontiguousarray(found, dtype=dtype)


def _c2r_vjp(ct: Tensor, dims: Dims, scale: int, size: int) -> Tensor:
    """Count twice what stands for two elements of the whole."""
    last = dims[-1]
    half = fft_r2c(ct, dims, scale)
    count = half._array.shape[last]
    twice = size - count
    if twice <= 0:
        return half  # type: ignore[no-any-return]
    parts = (
        slice_(half, last, 0, 1),
        slice_(half, last, 1, 1 + twice) * 2,
        slice_(half, last, 1 + twice, count),
    )
    return cat(parts, last)  # type: ignore[no-any-return]


@primitive(
    "library",
    abstract=_c2r_abstract,
    kernel=_c2r_kernel,
    linear_in=("input",),
    examples=lambda rng: [
        ((_complex_normal(rng, 3, 3), (1,), 2, 4), {}),
        ((_complex_normal(rng, 4, 3), (0, 1), 1, 5), {}),
    ],
    public=False,
    method=False,
)
def fft_c2r(input: Tensor, dims: tuple[int, ...], scale: int, size: int) -> Tensor:
    """Inverse transform of a half, `size` real numbers along the last dimension."""


fft_c2r.vjp(input=_c2r_vjp)
