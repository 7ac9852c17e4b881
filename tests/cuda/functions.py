"""Functions whose kernels are tested: what users write, in small."""

from typing import Any

import tracegrad as tg
from tracegrad.ops.normalizing import softmax


def chain(x: Any, y: Any) -> Any:
    shifted = x + y
    return tg.tanh(shifted) + tg.exp(-tg.abs(shifted))


def two_outputs(x: Any, bias: Any) -> Any:
    shifted = x * 2 + bias
    return shifted, tg.exp(-shifted * shifted)


def softmax_rows(x: Any) -> Any:
    return softmax(x, x.ndim - 1)


def softmax_columns(x: Any) -> Any:
    return softmax(x, 0)


def log_sum_exp(x: Any) -> Any:
    largest = tg.amax(x, -1, True)
    return tg.log(tg.sum(tg.exp(x - largest), -1, True)) + largest


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    size = x.shape[-1]
    centred = x - tg.sum(x, -1, True) / size
    variance = tg.sum(centred * centred, -1, True) / size
    return centred * tg.rsqrt(variance + 1e-5) * weight + bias


def batch_norm(x: Any, weight: Any) -> Any:
    size = x.shape[0]
    mean = tg.sum(x, 0, True) / size
    centred = x - mean
    variance = tg.sum(centred * centred, 0, True) / size
    return centred * tg.rsqrt(variance + 1e-5) * weight, mean


def column_sum(x: Any) -> Any:
    return tg.sum(tg.exp(x), 0)


def full_sum(x: Any) -> Any:
    return tg.sum(x * x)


def middle(x: Any) -> Any:
    return tg.sum(x, (0, 2), True) * 2, tg.amax(x, 1)
