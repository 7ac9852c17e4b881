"""The normal stream: Box and Muller's transform, in PyTorch's two arrangements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.cephes import log_float32, sincos_float32
from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.rounding import F32, F64, cast, scale_and_shift
from tracegrad.random_streams.units import (
    Size,
    element_count,
    floating_dtype,
    libm,
    unit_float32,
    unit_float64,
)

# PyTorch transforms this many uniforms at a time: 8 radii, then 8 angles.
_BLOCK: Final = 16
_LANES: Final = 8
# Blocks per step: the float64 temporaries of a step stay in the second-level cache.
_STEP: Final = 1024
_TWO_PI: Final = 2.0 * math.pi


def normal(
    engine: MT19937,
    size: Size,
    dtype: DTypeLike = np.float32,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
) -> NDArray[Any]:
    """Draw normal variates, as ``torch.randn`` and ``Tensor.normal_``.

    Parameters
    ----------
    engine : MT19937
    size : int or tuple of int
    dtype : dtype, optional
        A floating or complex dtype; of a complex one, the real and the imaginary part
        have the standard deviation ``std / sqrt(2)``.
    mean, std : float, optional
        With ``std >= 0``.
    contiguous : bool, optional
        Whether the tensor to be filled is contiguous: PyTorch fills one that is not as
        if it were short.

    Returns
    -------
    ndarray, shape `size`, dtype `dtype`

    Raises
    ------
    ValueError
        If `std` is negative, or if `dtype` is neither floating nor complex.

    Notes
    -----
    *Fewer than 16 elements, or not contiguous*: in float64 for every dtype, from 53-bit
    uniforms ``u1`` and ``u2`` in this order: ``r = sqrt(-2 log1p(-u2))``, ``r
    cos(2 pi u1)`` now and ``r sin(2 pi u1)`` next. The next value is cached in the
    engine, also from one call to another.

    *Otherwise*: uniforms of the dtype (float32 for the 16-bit ones) fill the array. In
    each block of 16 the first 8 become radii ``sqrt(-2 log(1 - u))``, the last 8 angles
    ``2 pi u``; cosines go to the first 8, sines to the last 8. If fewer than 16
    elements remain, the last 16 of the array are drawn again as a block of their own
    (the 16-bit dtypes do not draw the remaining ones a first time). The cache is
    neither read nor written.

    Equal to PyTorch 2.13 bit for bit where PyTorch runs its AVX2 kernels (float32; but
    for about one value in ``10**8``, see `cephes`) and where it uses the same C library
    (float64).

    Source: G. E. P. Box and M. E. Muller, "A note on the generation of random normal
    deviates", Annals of Mathematical Statistics 29(2), 1958.

    Examples
    --------
    >>> normal(MT19937(0), 2, np.float64).tolist()
    [1.5409961082440433, -0.2934289057609464]
    """
    target = floating_dtype(dtype, "normal")
    if not std >= 0.0:
        raise ValueError(f"normal needs std >= 0, but got std={std}")
    count = element_count(size)
    if target.kind == "c":
        part = np.float32 if target == np.complex64 else np.float64
        spread = std / math.sqrt(2.0)
        pairs = normal(engine, 2 * count, part, mean, spread, contiguous=contiguous)
        return pairs.view(target).reshape(size)
    with engine.lock:
        if count < _BLOCK or not contiguous:
            values: NDArray[Any] = one_by_one(engine, count)
        elif target == np.float64:
            values = _in_blocks(engine, count, count, unit_float64, _blocks_float64)
        else:
            drawn = count if target == np.float32 else count - count % _BLOCK
            values = _in_blocks(engine, count, drawn, unit_float32, _blocks_float32)
    affine = [float(cast(np.asarray(x), values.dtype)) for x in (std, mean)]
    scale_and_shift(values, *affine)
    return cast(values, target).reshape(size)


def one_by_one(engine: MT19937, count: int) -> F64:
    """Draw standard normals in pairs, the cached one first."""
    values = np.empty(count, np.float64)
    start = 0
    if count and engine.cached_normal is not None:
        values[0] = engine.cached_normal
        engine.cached_normal = None
        start = 1
    rest = count - start
    pairs = (rest + 1) // 2
    unit = unit_float64(engine, 2 * pairs)
    radius = np.sqrt(-2.0 * libm(math.log1p, -unit[1::2]))
    angle = _TWO_PI * unit[0::2]
    drawn = np.empty(2 * pairs, np.float64)
    drawn[0::2] = radius * libm(math.cos, angle)
    drawn[1::2] = radius * libm(math.sin, angle)
    values[start:] = drawn[:rest]
    if rest % 2:
        engine.cached_normal = float(drawn[-1])
    return values


def _in_blocks(
    engine: MT19937,
    count: int,
    drawn: int,
    unit: Callable[[MT19937, int], NDArray[Any]],
    transform: Callable[[NDArray[Any]], None],
) -> NDArray[Any]:
    """Draw `count` >= 16 standard normals, `drawn` of them before the ragged tail."""
    values = unit(engine, drawn)
    if drawn != count:
        values = np.resize(values, count)
    whole = count - count % _BLOCK
    transform(values[:whole].reshape(-1, 2, _LANES))
    if whole != count:
        values[-_BLOCK:] = unit(engine, _BLOCK)
        transform(values[-_BLOCK:].reshape(1, 2, _LANES))
    return values


def _blocks_float32(blocks: F32) -> None:
    """Turn uniforms of shape (blocks, 2, 8) into normals, in place."""
    for start in range(0, len(blocks), _STEP):
        step = blocks[start : start + _STEP]
        logarithm = log_float32(np.float32(1.0) - step[:, 0])
        radius = np.sqrt(np.float32(-2.0) * logarithm)
        sine, cosine = sincos_float32(np.float32(_TWO_PI) * step[:, 1])
        np.multiply(radius, cosine, out=step[:, 0])
        np.multiply(radius, sine, out=step[:, 1])


def _blocks_float64(blocks: F64) -> None:
    """Turn uniforms of shape (blocks, 2, 8) into normals, in place."""
    radius = np.sqrt(-2.0 * libm(math.log, 1.0 - blocks[:, 0]))
    angle = _TWO_PI * blocks[:, 1]
    np.multiply(radius, libm(math.cos, angle), out=blocks[:, 0])
    np.multiply(radius, libm(math.sin, angle), out=blocks[:, 1])
