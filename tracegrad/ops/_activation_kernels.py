"""Smooth activations over arrays, value and slope together: kernel pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracegrad.ops._numpy_helpers import tg_erf

_ROOT_HALF = math.sqrt(0.5)
_HIGHEST_DENSITY = math.sqrt(0.5 / math.pi)


def run_gelu(input: Any) -> tuple[Any, tuple[Any, Any]]:
    """Return gelu, and the input and twice the probability below it."""
    below = tg_erf(np, input * _ROOT_HALF)
    below += 1
    return input * 0.5 * below, (input, below)


def back_gelu(saved: Any, cts: list[Any], wanted: Any) -> list[Any]:
    """Return the input's gradient."""
    input, below = saved
    slope = input * input
    slope *= -0.5
    np.exp(slope, out=slope)
    slope *= _HIGHEST_DENSITY
    slope *= input
    slope += below * 0.5
    slope *= cts[0]
    return [slope]


def run_silu(input: Any) -> tuple[Any, tuple[Any, Any]]:
    """Return the input times its logistic function, and what backward needs."""
    divisor = np.negative(input)
    np.exp(divisor, out=divisor)
    divisor += 1
    return input / divisor, (input, divisor)


def back_silu(saved: Any, cts: list[Any], wanted: Any) -> list[Any]:
    """Return the input's gradient."""
    input, divisor = saved
    part = np.reciprocal(divisor)
    slope = np.subtract(1, part)
    slope *= input
    slope += 1
    slope *= part
    slope *= cts[0]
    return [slope]
