"""Initial values of parameters, from PyTorch's streams. All write in place."""

from __future__ import annotations

import math
from typing import Any

from tracegrad import no_grad
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.operator import publish_module as _publish_module
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentValueError, ShapeError
from tracegrad.ops.creation import empty_like
from tracegrad.ops.drawing import randperm
from tracegrad.ops.selection import where

_GAINS = {
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much to scale initial weights before a nonlinearity.

    Parameters
    ----------
    nonlinearity : str
        The function's name: ``"linear"``, ``"conv2d"``, ``"sigmoid"``, ``"tanh"``,
        ``"relu"``, ``"leaky_relu"``, ``"selu"``.
    param : float, optional
        The negative slope of ``leaky_relu``, 0.01 if not given.

    Raises
    ------
    ArgumentError
        If the name is unknown.

    Examples
    --------
    >>> calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity in ("linear", "sigmoid") or nonlinearity.startswith("conv"):
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ArgumentError(f"calculate_gain knows no nonlinearity {nonlinearity!r}")
    return _GAINS[nonlinearity]


def fans_of(tensor: Tensor) -> tuple[int, int]:
    """Return how many values lead into a unit of a weight, and how many out of it.

    Raises
    ------
    ShapeError
        If the weight has fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ArgumentValueError(
            "fan in and fan out need a weight of at least two dimensions, "
            f"not {tensor.ndim}"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(f"the mode must be 'fan_in' or 'fan_out', not {mode!r}")
    return fans_of(tensor)[mode == "fan_out"]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with uniform draws from [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)  # type: ignore[attr-defined]


def normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal draws."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)  # type: ignore[attr-defined]


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal draws from [a, b] only: others are drawn again.

    Source: von Neumann, "Various Techniques Used in Connection with Random Digits"
    (1951), on rejection.
    """

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    # Where most normal draws would fall outside, uniform ones are thinned instead.
    by_normals = below(b) - below(a) > 0.3
    fill = _from_normals if by_normals else _from_uniforms
    if not tensor.is_meta:
        with no_grad():
            fill(tensor, mean, std, a, b, generator)
    return tensor


def _from_normals(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    # The bounds as the dtype holds them.
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    tensor.normal_(mean, std, generator=generator)
    outside = (tensor < low) | (tensor > high)
    while outside.any():
        again = empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(where(outside, again, tensor))
        outside = (tensor < low) | (tensor > high)


def _from_uniforms(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(candidates: Any) -> Any:
        """Draw which of the candidates the density does not let pass."""
        density = ((candidates - mean) / std) ** 2 * -0.5 - peak
        return empty_like(tensor).uniform_(generator=generator).log() > density

    tensor.uniform_(a, b, generator=generator)
    open_places = refused(tensor)
    while open_places.any():
        again = empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(where(open_places, again, tensor))
        open_places = open_places & refused(again)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    with no_grad():
        return tensor.fill_(val)  # type: ignore[attr-defined]


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    Raises
    ------
    ShapeError
        If it is no matrix.
    """
    if tensor.ndim != 2:
        raise ShapeError(f"eye_ takes a matrix, not {tensor.ndim} dimensions")
    with no_grad():
        tensor.zero_()  # type: ignore[attr-defined]
        for i in range(min(tensor.shape)):
            tensor[i, i] = 1  # type: ignore[index]
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that it passes its channels on.

    Raises
    ------
    ShapeError
        If it is no such weight, or the groups do not divide its channels.
    """
    if tensor.ndim not in (3, 4, 5) or tensor.shape[0] % groups:
        raise ShapeError(
            "dirac_ takes a weight of 3, 4 or 5 dimensions whose first size the groups "
            f"divide, not {list(tensor.shape)} with {groups} groups"
        )
    each = tensor.shape[0] // groups
    centre = [s // 2 for s in tensor.shape[2:]]
    with no_grad():
        tensor.zero_()  # type: ignore[attr-defined]
        for group in range(groups):
            for channel in range(min(each, tensor.shape[1])):
                tensor[(group * each + channel, channel, *centre)] = 1  # type: ignore[index]
    return tensor


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with uniform draws of variance ``2 gain**2 / (fan_in + fan_out)``.

    Source: Glorot, Bengio, "Understanding the Difficulty of Training Deep Feedforward
    Neural Networks" (2010).
    """
    fan_in, fan_out = fans_of(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with normal draws of variance ``2 gain**2 / (fan_in + fan_out)``.

    Source: as for `xavier_uniform_`.
    """
    fan_in, fan_out = fans_of(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with uniform draws of variance ``gain**2 / fan``.

    Source: He et al., "Delving Deep into Rectifiers" (2015).
    """
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal draws of variance ``gain**2 / fan``.

    Source: as for `kaiming_uniform_`.
    """
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return normal_(tensor, 0, std, generator)


def sparse_(
    tensor: Tensor,
    sparsity: float,
    std: float = 0.01,
    generator: Generator | None = None,
) -> Tensor:
    """Fill a matrix with normal draws, a share of each column with zeros.

    Raises
    ------
    ShapeError
        If it is no matrix.

    Notes
    -----
    Source: Martens, "Deep Learning via Hessian-free Optimization" (2010).
    """
    if tensor.ndim != 2:
        raise ShapeError(f"sparse_ takes a matrix, not {tensor.ndim} dimensions")
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)  # type: ignore[attr-defined]
        for column in range(columns):
            order: Any = randperm(rows)
            tensor[order[:count], column] = 0  # type: ignore[index]
    return tensor


_publish_module(globals())
