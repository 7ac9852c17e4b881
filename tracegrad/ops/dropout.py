"""Dropout: elements, or whole channels, set to zero at random in training.

These are no composites: what they return and whether they draw depends on their
arguments, and a draw is a node of its own in a graph.
"""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.generator import default_for
from tracegrad.dispatch.inplace import apply_inplace
from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import (
    ArgumentError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops.arithmetic import mul
from tracegrad.ops.creation import filled
from tracegrad.ops.division import div
from tracegrad.ops.drawing import in_memory_order
from tracegrad.ops.randomness import bernoulli_draw
from tracegrad.sizes import Shape


def _check(name: str, input: Tensor, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ArgumentError(f"{name}: the probability must be from 0 to 1, not {p}")
    if input.dtype.kind not in ("float", "complex"):
        raise UnsupportedDTypeError(f"{name} is not defined for {input.dtype.name}")


def _scaled(input: Tensor, noise: Tensor, inplace: bool) -> Tensor:
    if inplace:
        return apply_inplace(OPERATORS["mul"], (input, noise), {})
    return mul(input, noise)  # type: ignore[no-any-return]


def _channel_noise(input: Tensor, p: float) -> Tensor:
    shape = (*input._array.shape[:2], *(1,) * (input.ndim - 2))
    kept = bernoulli_draw(default_for(input.device), shape, input.dtype, 1.0 - p)
    return div(kept, 1.0 - p)  # type: ignore[no-any-return]


def _element_noise(input: Tensor, p: float) -> Tensor:
    kept = in_memory_order(input, bernoulli_draw, None, input.dtype, p=1.0 - p)
    return div(kept, 1.0 - p)  # type: ignore[no-any-return]


def _dropped(
    name: str,
    input: Tensor,
    p: float,
    training: bool,
    inplace: bool,
    channels: bool = False,
) -> Tensor:
    _check(name, input, p)
    if not training or p == 0.0 or input.numel() == 0:
        return input
    if p == 1.0:
        # A product, as in PyTorch: an infinity becomes NaN.
        return _scaled(input, filled((), 0, input.dtype, input.device), inplace)
    noise = _channel_noise if channels else _element_noise
    return _scaled(input, noise(input, p), inplace)


@public_function(method=False, by_data=True)
def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with elements set to zero at random and the others scaled.

    Parameters
    ----------
    input : Tensor, shape (...), floating dtype
    p : float
        The probability that an element is set to zero; the others are divided by
        ``1 - p``, so that the expectation stays.
    training : bool
        If False, `input` itself is returned.
    inplace : bool
        Whether to write into `input`.

    Raises
    ------
    ArgumentError
        If `p` is not from 0 to 1.

    Notes
    -----
    Source: N. Srivastava et al., "Dropout: a simple way to prevent neural networks from
    overfitting", JMLR 15, 2014.

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.ones(3)
    >>> tg.nn.functional.dropout(x, training=False) is x
    True
    """
    return _dropped("dropout", input, p, training, inplace)


def _of_channels(
    name: str, ranks: Shape, input: Tensor, p: float, training: bool, inplace: bool
) -> Tensor:
    if input.ndim not in ranks:
        raise ShapeError(
            f"{name}: the input must have {ranks[-1]} dimensions (batch, channels, …) "
            f"or {ranks[0]}, not {input.ndim}"
        )
    if input.ndim == ranks[-1]:
        return _dropped(name, input, p, training, inplace, channels=True)
    result = _dropped(name, input.unsqueeze(0), p, training, inplace, channels=True)  # type: ignore[attr-defined]
    return input if inplace or not training else result.squeeze(0)  # type: ignore[attr-defined]


@public_function(method=False, by_data=True)
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with whole channels of shape (length,) set to zero at random."""
    return _of_channels("dropout1d", (2, 3), input, p, training, inplace)


@public_function(method=False, by_data=True)
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with whole channels set to zero at random.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, height, width) or (channels, height, width)
    p : float
        The probability that a channel is set to zero.
    training, inplace : bool
        As for `dropout`.

    Raises
    ------
    ArgumentError
        If `p` is not from 0 to 1.
    ShapeError
        If the input has another number of dimensions.
    """
    return _of_channels("dropout2d", (3, 4), input, p, training, inplace)


@public_function(method=False, by_data=True)
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with whole channels of three dimensions set to zero at random."""
    return _of_channels("dropout3d", (4, 5), input, p, training, inplace)


@public_function(method=False, by_data=True)
def feature_dropout(input: Tensor, p: float, training: bool) -> Tensor:
    """Return `input` with whole channels set to zero; of any number of dimensions."""
    if input.ndim < 2:
        raise ShapeError(
            f"feature_dropout: the input needs batch and channels, not {input.ndim} "
            "dimensions"
        )
    return _dropped("feature_dropout", input, p, training, False, channels=True)


def _alpha(name: str, input: Tensor, p: float, training: bool, inplace: bool) -> Any:
    _check(name, input, p)
    if not training or p == 0.0 or input.numel() == 0:
        return input
    if p == 1.0:
        return _scaled(input, filled((), 0, input.dtype, input.device), inplace)
    saturated = 1.7580993408473766
    scale = 1.0 / ((saturated**2 * p + 1.0) * (1.0 - p)) ** 0.5
    kept = in_memory_order(input, bernoulli_draw, None, input.dtype, p=1.0 - p)
    shift = (kept - 1.0) * (saturated * scale) + saturated * scale * p  # type: ignore[operator]
    result = _scaled(input, kept * scale, inplace)
    if inplace:
        return apply_inplace(OPERATORS["add"], (result, shift), {})
    return result + shift


@public_function(method=False, by_data=True)
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return `input` with elements set to SELU's limit at random, moments kept.

    Notes
    -----
    Source: Klambauer et al., "Self-Normalizing Neural Networks" (2017).
    """
    return _alpha("alpha_dropout", input, p, training, inplace)  # type: ignore[no-any-return]
