"""How draws of gamma and beta distributions move with their parameters.

A draw x of a distribution with distribution function F(x, a) moves with `a` as
``-(dF/da) / (dF/dx)``: implicit differentiation. dF/da is an integral of the density
times the derivative of its logarithm, taken here by Gauss and Legendre's rule over the
tail on the nearer side of the mean.

Source: M. Figurnov, S. Mohamed and A. Mnih, "Implicit reparameterization gradients",
NeurIPS 2018.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._families import primitive
from tracegrad.ops._gamma_helpers import tg_digamma, tg_lgamma
from tracegrad.spec import TensorSpec

_POINTS = 96
# Elements that are integrated at a time.
_ROWS = 2**14


@functools.cache
def _rule() -> tuple[Any, Any]:
    """Return points in (0, 1) and their weights, closer together near 0.

    With t**3 for t the integrand's logarithm at 0 does no harm.
    """
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    points, weights = (points + 1) / 2, weights / 2
    return points**3, weights * 3 * points**2


def _over_rows(xp: Any, function: Any, *arrays: Any) -> Any:
    """Apply a function of columns to broadcast arrays, so many rows at a time."""
    wide = xp.broadcast_arrays(*(xp.asarray(a, xp.float64) for a in arrays))
    flat = [a.reshape(-1, 1) for a in wide]
    found = [
        function(xp, *(a[start : start + _ROWS] for a in flat))
        for start in range(0, max(len(flat[0]), 1), _ROWS)
    ]
    return xp.concatenate(found).reshape(wide[0].shape)


def _gamma_columns(xp: Any, a: Any, x: Any) -> Any:
    points, weights = map(xp.asarray, _rule())
    psi, log_gamma = tg_digamma(xp, a), tg_lgamma(xp, a)
    log_x = xp.log(x)
    # Small a: the density is steep at 0, so t = x u**(1/a), and the power is gone.
    log_t = log_x + xp.log(points) / a
    inner = xp.exp(a * log_x - xp.exp(log_t) - log_gamma) / a * (log_t - psi)
    small = (inner * weights).sum(-1, keepdims=True)
    # Large a: the tail, of the width of some standard deviations.
    width = 12.0 * xp.sqrt(a) + 12.0
    upper = x > a
    t = xp.where(upper, x + width * points, x - xp.minimum(width, x) * points)
    log_t = xp.log(xp.maximum(t, 1e-300))
    inner = xp.exp((a - 1) * log_t - t - log_gamma) * (log_t - psi)
    length = xp.where(upper, -width, xp.minimum(width, x))
    large = (inner * weights).sum(-1, keepdims=True) * length
    change = xp.where(a < 12.0, small, large)
    # For a large x of a small a, by the tail too: the integral over all is 0.
    change = xp.where((a < 12.0) & (x > a + 6.0), large, change)
    return -change / xp.exp((a - 1) * log_x - x - log_gamma)


def _beta_columns(xp: Any, x: Any, a: Any, b: Any) -> Any:
    points, weights = map(xp.asarray, _rule())
    log_beta = tg_lgamma(xp, a) + tg_lgamma(xp, b) - tg_lgamma(xp, a + b)
    centre = tg_digamma(xp, a) - tg_digamma(xp, a + b)
    log_x, log_rest = xp.log(x), xp.log1p(-x)
    log_t = log_x + xp.log(points) / a
    inner = xp.exp(a * log_x + (b - 1) * xp.log1p(-xp.exp(log_t)) - log_beta) / a
    below = (inner * (log_t - centre) * weights).sum(-1, keepdims=True)
    log_s = log_rest + xp.log(points) / b
    log_t = xp.log1p(-xp.exp(log_s))
    inner = xp.exp(b * log_rest + (a - 1) * log_t - log_beta) / b
    above = -(inner * (log_t - centre) * weights).sum(-1, keepdims=True)
    change = xp.where(x * (a + b) < a, below, above)
    return -change / xp.exp((a - 1) * log_x + (b - 1) * log_rest - log_beta)


def _gamma_slope_kernel(xp: Any, concentration: Any, draw: Any) -> Any:
    with np.errstate(all="ignore"):
        found = _over_rows(xp, _gamma_columns, concentration, draw)
    return xp.where(draw > 0, found, 0.0).astype(concentration.dtype)


def _beta_slope_kernel(xp: Any, draw: Any, alpha: Any, beta: Any) -> Any:
    with np.errstate(all="ignore"):
        found = _over_rows(xp, _beta_columns, draw, alpha, beta)
    inside = (draw > 0) & (draw < 1)
    return xp.where(inside, found, 0.0).astype(draw.dtype)


def _positive(rng: Any, *shape: int) -> Any:
    return rng.uniform(0.5, 4.0, shape)


@primitive(
    "library",
    abstract=lambda concentration, draw: TensorSpec(
        concentration.dtype, concentration.shape, (), concentration.device
    ),
    kernel=_gamma_slope_kernel,
    examples=lambda rng: [((_positive(rng, 3, 2), _positive(rng, 3, 2)), {})],
    public=False,
    method=False,
)
def gamma_slope(concentration: Tensor, draw: Tensor) -> Tensor:
    """How a gamma draw of scale 1 moves with its concentration; it has no slope."""


@primitive(
    "library",
    abstract=lambda draw, alpha, beta: TensorSpec(
        draw.dtype, draw.shape, (), draw.device
    ),
    kernel=_beta_slope_kernel,
    examples=lambda rng: [
        (
            (rng.uniform(0.1, 0.9, (3, 2)), _positive(rng, 3, 2), _positive(rng, 3, 2)),
            {},
        )
    ],
    public=False,
    method=False,
)
def beta_slope(draw: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """How a beta draw moves with its first parameter; it has no slope itself."""
