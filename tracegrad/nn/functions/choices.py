"""Functions that draw: Gumbel's softmax, randomized leaky ReLU, dropped features."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError
from tracegrad.ops.creation import empty_like, zeros_like
from tracegrad.ops.drawing import rand_like
from tracegrad.ops.dropout import _channel_noise
from tracegrad.ops.normalizing import softmax
from tracegrad.ops.selection import where


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
) -> Tensor:
    """Return a draw from the relaxed one-hot distribution of `logits`.

    Parameters
    ----------
    logits : Tensor, shape (...)
    tau : float
        The temperature: the smaller, the nearer to one-hot.
    hard : bool
        Whether the values are one-hot; the gradient stays that of the relaxed ones.
    eps : float
        Has no effect; accepted as in PyTorch.
    dim : int

    Notes
    -----
    Source: Jang et al., "Categorical Reparameterization with Gumbel-Softmax" (2017).
    """
    noise: Any = empty_like(logits.detach())  # type: ignore[attr-defined]
    gumbels = -noise.exponential_().log()
    soft: Any = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft  # type: ignore[no-any-return]
    index = soft.max(dim, keepdim=True)[1]
    one_hot: Any = zeros_like(soft.detach()).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft  # type: ignore[no-any-return]


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return `input` with what is below zero times a slope drawn for each element.

    Parameters
    ----------
    input : Tensor, shape (...)
    lower, upper : float
        Between which the slopes lie; their mean is taken outside of training.
    training, inplace : bool

    Notes
    -----
    Source: Xu et al., "Empirical Evaluation of Rectified Activations in Convolutional
    Network" (2015).
    """
    x: Any = input
    if not training:
        slopes: Any = (lower + upper) / 2
    else:
        slopes = rand_like(x.detach()) * (upper - lower) + lower
    result = where(x <= 0, x * slopes, x)
    return x.copy_(result) if inplace else result  # type: ignore[no-any-return]


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return `input` with whole channels set to SELU's limit at random.

    Raises
    ------
    ArgumentError
        If `p` is not from 0 to 1.

    Notes
    -----
    Source: Klambauer et al., "Self-Normalizing Neural Networks" (2017).
    """
    if not 0.0 <= p <= 1.0:
        raise ArgumentError(
            f"feature_alpha_dropout: the probability must be from 0 to 1, not {p}"
        )
    x: Any = input
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return x * 0.0  # type: ignore[no-any-return]
    limit = 1.7580993408473766
    scale = 1.0 / ((limit**2 * p + 1.0) * (1.0 - p)) ** 0.5
    kept: Any = _channel_noise(input, p) * (1.0 - p)  # type: ignore[operator]
    shift = (kept - 1.0) * (limit * scale) + limit * scale * p
    result = x * (kept * scale) + shift
    return x.copy_(result) if inplace else result  # type: ignore[no-any-return]
