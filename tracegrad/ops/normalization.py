"""Normalization of features, channels, groups and batches: composites.

Statistics of the half types are taken in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.inplace import write
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bfloat16, float16, float32
from tracegrad.errors import (
    ArgumentError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops import _normal_rows
from tracegrad.ops._families import composite
from tracegrad.ops.arithmetic import add, mul, sub
from tracegrad.ops.casts import cast
from tracegrad.ops.division import div
from tracegrad.ops.norms import norm
from tracegrad.ops.powers import rsqrt
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.shaping import fit
from tracegrad.ops.views import reshape
from tracegrad.sizes import Dimension, Shape, numel, shape_text

Dims = tuple[int, ...]

# The distance from 1 to the next number, by the dtype's name: rms_norm's default.
_EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


def _examples(shape: Dims, second: Any, *parameters: Dims) -> Any:
    """Return examples with and without parameters; `second` is the first attribute."""

    def examples(rng: np.random.Generator) -> list[tuple[Any, Any]]:
        input = rng.normal(size=shape)
        tensors = [rng.normal(size=s) for s in parameters]
        return [((input, second, *tensors), {}), ((input, second), {"eps": 0.1})]

    return examples


def _check_floating(name: str, input: Tensor) -> None:
    if input.dtype.kind != "float":
        raise UnsupportedDTypeError(f"{name} is not defined for {input.dtype.name}")


def _wide(x: Tensor) -> Tensor:
    """Return `x`, in float32 if its dtype is a half type."""
    return cast(x, float32) if x.dtype in (float16, bfloat16) else x


def _as(x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype is dtype else cast(x, dtype)


def _count(x: Tensor, dims: Dims) -> Any:
    return numel([x._array.shape[d] for d in dims])


def _mean(x: Tensor, dims: Dims) -> Tensor:
    return div(sum_(x, dims, True), _count(x, dims))  # type: ignore[no-any-return]


def _centred(x: Tensor, dims: Dims) -> tuple[Tensor, Tensor, Tensor]:
    """Return mean, deviations from it, and the biased variance."""
    mean = _mean(x, dims)
    deviation = sub(x, mean)
    return mean, deviation, _mean(mul(deviation, deviation), dims)


def _inverse_root(x: Tensor, eps: float) -> Tensor:
    return rsqrt(add(x, eps))  # type: ignore[no-any-return]


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return ``x * weight + bias``, without what is None."""
    if weight is not None:
        x = mul(x, _wide(weight))
    if bias is not None:
        x = add(x, _wide(bias))
    return x


# -- over the last dimensions -------------------------------------------------------


def _last_dims(
    name: str, input: Tensor, shape: Sequence[int] | int, *parameters: Tensor | None
) -> Dims:
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    have = input._array.shape
    if not wanted or have[len(have) - len(wanted) :] != wanted:
        raise ShapeError(
            f"{name}: the last dimensions of the input {shape_text(have)} must be "
            f"normalized_shape {shape_text(wanted)}"
        )
    for parameter in parameters:
        if parameter is not None and parameter._array.shape != wanted:
            raise ShapeError(
                f"{name}: weight and bias must have shape {shape_text(wanted)}, not "
                f"{shape_text(parameter._array.shape)}"
            )
    return tuple(range(len(have) - len(wanted), len(have)))


@composite(
    method=False,
    examples=_examples((2, 3, 4), (3, 4), (3, 4), (3, 4)),
)
def layer_norm(
    input: Tensor,
    normalized_shape: tuple[int, ...],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Each example less its mean, over its standard deviation.

    Parameters
    ----------
    input : Tensor, shape (..., *normalized_shape), floating dtype
    normalized_shape : int or tuple of int
        The last sizes, over which mean and biased variance are taken.
    weight, bias : Tensor, shape (*normalized_shape), optional
        Scale and shift of the result.
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        If the last sizes differ.

    Notes
    -----
    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016).
    """
    _check_floating("layer_norm", input)
    dims = _last_dims("layer_norm", input, normalized_shape, weight, bias)
    _, deviation, variance = _centred(_wide(input), dims)
    normal = mul(deviation, _inverse_root(variance, eps))
    return _as(_scaled(normal, weight, bias), input.dtype)


def _layer_norm_input(
    ct: Tensor,
    input: Tensor,
    weight: Tensor | None,
    normalized_shape: tuple[int, ...],
    eps: float,
) -> Tensor:
    """Return the input's cotangent: what is left of ``ct`` after two projections."""
    dims = _last_dims("layer_norm", input, normalized_shape)
    _, deviation, variance = _centred(_wide(input), dims)
    scale = _inverse_root(variance, eps)
    normal = mul(deviation, scale)
    arrived = _wide(ct) if weight is None else mul(_wide(ct), _wide(weight))
    along = mul(normal, _mean(mul(arrived, normal), dims))
    left = sub(sub(arrived, _mean(arrived, dims)), along)
    return _as(mul(left, scale), input.dtype)


def _layer_norm_weight(
    ct: Tensor,
    input: Tensor,
    weight_spec: tuple[Shape, Any],
    normalized_shape: tuple[int, ...],
    eps: float,
) -> Tensor:
    dims = _last_dims("layer_norm", input, normalized_shape)
    _, deviation, variance = _centred(_wide(input), dims)
    normal = mul(deviation, _inverse_root(variance, eps))
    return fit(mul(_wide(ct), normal), weight_spec)


layer_norm.vjp(
    input=_layer_norm_input,
    weight=_layer_norm_weight,
    bias=lambda ct, bias_spec: fit(_wide(ct), bias_spec),
)
layer_norm.kernels(
    forward=_normal_rows.run_layer,
    backward=_normal_rows.back,
    serves=_normal_rows.serves_layer,
    reads=("weight",),
)


@composite(method=False, examples=_examples((2, 3, 4), (4,), (4,)))
def rms_norm(
    input: Tensor,
    normalized_shape: tuple[int, ...],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Each example over the root of its mean square.

    Parameters
    ----------
    input : Tensor, shape (..., *normalized_shape), floating dtype
    normalized_shape : int or tuple of int
    weight : Tensor, shape (*normalized_shape), optional
    eps : float, optional
        Added to the mean square; the dtype's machine epsilon if not given.

    Raises
    ------
    ShapeError
        If the last sizes differ.

    Notes
    -----
    Source: Zhang, Sennrich, "Root Mean Square Layer Normalization" (2019).
    """
    _check_floating("rms_norm", input)
    dims = _last_dims("rms_norm", input, normalized_shape, weight)
    wide = _wide(input)
    added = _EPSILON[wide.dtype.name] if eps is None else eps
    normal = mul(wide, _inverse_root(_mean(mul(wide, wide), dims), added))
    return _as(_scaled(normal, weight, None), input.dtype)


# -- over groups of channels --------------------------------------------------------


def _per_channel(x: Tensor | None, ndim: int) -> Tensor | None:
    """Return a vector over channels in a shape that broadcasts over the rest."""
    if x is None:
        return None
    return reshape(x, x._array.shape[0], *(1,) * (ndim - 2))  # type: ignore[no-any-return]


def _check_channels(name: str, input: Tensor, **parameters: Tensor | None) -> None:
    if input.ndim < 2:
        raise ShapeError(
            f"{name}: the input needs batch and channels, not shape "
            f"{shape_text(input._array.shape)}"
        )
    channels: Dimension = input._array.shape[1]
    for what, parameter in parameters.items():
        if parameter is not None and parameter._array.shape != (channels,):
            raise ShapeError(
                f"{name}: {what} must have shape [{channels}], not "
                f"{shape_text(parameter._array.shape)}"
            )


@composite(method=False, examples=_examples((2, 4, 3), 2, (4,), (4,)))
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Each group of channels less its mean, over its standard deviation.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...), floating dtype
    num_groups : int
        A divisor of the number of channels.
    weight, bias : Tensor, shape (channels,), optional
    eps : float
        Added to the biased variance.

    Raises
    ------
    ShapeError
        If the channels do not split into that many groups.

    Notes
    -----
    Source: Wu, He, "Group Normalization" (2018).
    """
    _check_floating("group_norm", input)
    _check_channels("group_norm", input, weight=weight, bias=bias)
    shape = input._array.shape
    if num_groups < 1 or shape[1] % num_groups:
        raise ShapeError(
            f"group_norm: {shape[1]} channels do not split into {num_groups} groups"
        )
    each = shape[1] // num_groups
    grouped = reshape(_wide(input), shape[0], num_groups, each, *shape[2:])
    dims = tuple(range(2, grouped.ndim))
    _, deviation, variance = _centred(grouped, dims)
    normal = reshape(mul(deviation, _inverse_root(variance, eps)), *shape)
    scale, shift = _per_channel(weight, len(shape)), _per_channel(bias, len(shape))
    return _as(_scaled(normal, scale, shift), input.dtype)


group_norm.kernels(
    forward=_normal_rows.run_group,
    backward=_normal_rows.back,
    serves=_normal_rows.serves_group,
    reads=("weight",),
)


def _batch_examples(rng: np.random.Generator) -> list[tuple[Any, Any]]:
    shapes = ((2, 3, 4), (3,), (3,), (3,), (3,))
    input, mean, variance, weight, bias = (rng.normal(size=s) for s in shapes)
    return [((input, mean, variance**2, weight, bias), {"eps": 0.1})]


@composite(method=False, public=False, examples=_batch_examples)
def normalize_batch(
    input: Tensor,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Tensor:
    """Each channel less a given mean, over the root of a given variance."""
    ndim = input.ndim
    centred = sub(_wide(input), _per_channel(_wide(mean), ndim))
    scale = _per_channel(_inverse_root(_wide(variance), eps), ndim)
    scaled = _scaled(
        mul(centred, scale), _per_channel(weight, ndim), _per_channel(bias, ndim)
    )
    return _as(scaled, input.dtype)


def _batch_statistics(input: Tensor, dims: Dims) -> tuple[Tensor, Tensor]:
    mean, _, variance = _centred(_wide(input), dims)
    channels = input._array.shape[1]
    return reshape(mean, channels), reshape(variance, channels)


def _update(running: Tensor, value: Tensor, momentum: float) -> None:
    """Move a running statistic towards `value`, in place and off the tape."""
    before = set_grad_enabled(False)
    try:
        kept = mul(running, 1.0 - momentum)
        write(running, add(kept, mul(_as(value, running.dtype), momentum)))
    finally:
        set_grad_enabled(before)


@public_function(method=False)
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Return each channel less its mean, over its standard deviation.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...), floating dtype
    running_mean, running_var : Tensor, shape (channels,), optional
        Read if not `training`. In training they are moved, in place, towards the
        batch's mean and unbiased variance.
    weight, bias : Tensor, shape (channels,), optional
    training : bool
        Whether to normalize with the batch's own mean and biased variance.
    momentum : float
        How far the running statistics move, from 0 to 1.
    eps : float
        Added to the variance.

    Raises
    ------
    ArgumentError
        If, in training, there is one value per channel only.
    ShapeError
        If a parameter does not have one value per channel, or statistics are missing.

    Notes
    -----
    Source: Ioffe, Szegedy, "Batch Normalization" (2015).
    """
    _check_floating("batch_norm", input)
    parameters = {"weight": weight, "bias": bias}
    running = {"running_mean": running_mean, "running_var": running_var}
    _check_channels("batch_norm", input, **running, **parameters)
    if not training:
        if running_mean is None or running_var is None:
            raise ShapeError(
                "batch_norm: running_mean and running_var must be given in evaluation"
            )
        return normalize_batch(input, running_mean, running_var, weight, bias, eps)  # type: ignore[no-any-return]
    dims = (0, *range(2, input.ndim))
    count = _count(input, dims)
    if count == 1:
        raise ArgumentError(
            "batch_norm: training needs more than one value per channel, the input "
            f"has shape {shape_text(input._array.shape)}"
        )
    mean, variance = _batch_statistics(input, dims)
    if running_mean is not None:
        _update(running_mean, mean.detach(), momentum)  # type: ignore[attr-defined]
    if running_var is not None:
        unbiased = mul(variance.detach(), count / (count - 1))  # type: ignore[attr-defined]
        _update(running_var, unbiased, momentum)
    return normalize_batch(input, mean, variance, weight, bias, eps)  # type: ignore[no-any-return]


@public_function(method=False)
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Return each channel of each example less its mean, over its standard deviation.

    Parameters
    ----------
    input : Tensor, shape (batch, channels, ...), floating dtype
    running_mean, running_var : Tensor, shape (channels,), optional
    weight, bias : Tensor, shape (channels,), optional
    use_input_stats : bool
        Whether to normalize with the input's own statistics.
    momentum, eps : float
        As for `batch_norm`.

    Raises
    ------
    ArgumentError
        If there is one value per channel and example only.

    Notes
    -----
    Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization" (2016).
    """
    _check_floating("instance_norm", input)
    if not use_input_stats:
        statistics = (running_mean, running_var)
        return batch_norm(input, *statistics, weight, bias, False, momentum, eps)  # type: ignore[no-any-return]
    _check_channels("instance_norm", input, weight=weight, bias=bias)
    dims = tuple(range(2, input.ndim))
    count = _count(input, dims)
    if count == 1:
        raise ArgumentError(
            "instance_norm: more than one value per channel is needed, the input has "
            f"shape {shape_text(input._array.shape)}"
        )
    if running_mean is not None and running_var is not None:
        means, _, variances = _centred(_wide(input.detach()), dims)  # type: ignore[attr-defined]
        channels = input._array.shape[1]
        _update(running_mean, reshape(_mean(means, (0,)), channels), momentum)
        unbiased = mul(_mean(variances, (0,)), count / (count - 1))
        _update(running_var, reshape(unbiased, channels), momentum)
    return group_norm(input, input._array.shape[1], weight, bias, eps)  # type: ignore[no-any-return]


@composite(
    method=False, public=False, examples=lambda rng: [((rng.normal(size=(3, 4)),), {})]
)
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    """Vectors along a dimension over their norm of order `p`, or `eps` if larger."""
    length = norm(input, p, dim, True).clamp_min(eps)
    return div(input, length)  # type: ignore[no-any-return]
