"""Activations that are one formula per element.

Those that ``torch.nn.functional`` lets write in place take ``inplace`` here.
"""

from __future__ import annotations

import math
from typing import Any

from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentValueError
from tracegrad.ops import _activation_kernels
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import arithmetic
from tracegrad.ops.comparison import gt, le, ne
from tracegrad.ops.error_functions import erf
from tracegrad.ops.exponential import exp
from tracegrad.ops.hyperbolic import tanh
from tracegrad.ops.logistic import sigmoid
from tracegrad.ops.selection import clamp_both, where

_HIDDEN: dict[str, Any] = {"public": False, "method": False, "inplace": False}

# -- pieces of straight lines -------------------------------------------------------


@pointwise(
    name="relu",
    numpy={"int": "np.maximum({input}, 0)", "float": "np.maximum({input}, 0)"},
    c={
        "int": "{input} > 0 ? {input} : 0",
        "float": "{input} > 0 || {input} != {input} ? {input} : 0",
    },
    reference=lambda input: max(input, 0.0),
    **_HIDDEN,
)
def rectified(input: Tensor) -> Tensor:
    """Each element, or 0 where it is negative; the derivative at 0 is 0."""


# The result is positive, 0 or NaN, and NaN lets cotangents through.
rectified.vjp(input=lambda ct, out: where(ne(out, 0), ct, 0)).jvp(
    input=lambda t, out: where(ne(out, 0), t, 0)
)


@choosing("relu")
def _relu(input: Any, inplace: bool = False) -> Choice:
    """Return each element, or 0 where it is negative.

    Parameters
    ----------
    input : Tensor, not bool
    inplace : bool
        Write into `input`.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.relu(tg.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return Choice(rectified, (input,), inplace=inplace)


@pointwise(
    name="leaky_relu",
    numpy={
        "float": (
            "np.where({input} > 0, {input}, np.multiply({input}, {negative_slope}))"
        )
    },
    c={"float": "{input} > 0 ? {input} : {input} * {negative_slope}"},
    reference=lambda input, negative_slope: (
        max(input, 0) + negative_slope * min(input, 0)
    ),
    examples=lambda rng: [((rng.normal(size=(3, 4)),), {"negative_slope": 0.1})],
    **_HIDDEN,
)
def leaky_rectified(input: Tensor, negative_slope: float) -> Tensor:
    """Each element, times a slope where it is not positive."""


leaky_rectified.vjp(
    input=lambda ct, input, negative_slope: where(gt(input, 0), ct, ct * negative_slope)
).jvp(input=lambda t, input, negative_slope: where(gt(input, 0), t, t * negative_slope))


@choosing("leaky_relu", method=False, inplace=False)
def _leaky_relu(
    input: Any, negative_slope: float = 0.01, inplace: bool = False
) -> Choice:
    """Return each element, times `negative_slope` where it is not positive."""
    slope = {"negative_slope": float(negative_slope)}
    return Choice(leaky_rectified, (input,), slope, inplace)


@pointwise(
    name="threshold",
    numpy={
        "int": "np.where({input} > {threshold}, {input}, {value})",
        "float": (
            "np.where({input} > {threshold}, {input}, "
            "np.where(np.isnan({input}), {input}, {value}))"
        ),
    },
    c={
        "int": "{input} > {threshold} ? {input} : {value}",
        "float": (
            "{input} > {threshold} || {input} != {input} ? {input} : ({T}){value}"
        ),
    },
    reference=lambda input, threshold, value: input if input > threshold else value,
    examples=lambda rng: [
        ((rng.normal(size=(3, 4)),), {"threshold": 0.1, "value": 20.0})
    ],
    **_HIDDEN,
)
def thresholded(input: Tensor, threshold: float, value: float) -> Tensor:
    """Each element, or a value where it is not above the threshold."""


thresholded.vjp(
    input=lambda ct, input, threshold: where(le(input, threshold), 0, ct)
).jvp(input=lambda t, input, threshold: where(le(input, threshold), 0, t))


@choosing("threshold", method=False)
def _threshold(
    input: Any, threshold: float, value: float, inplace: bool = False
) -> Choice:
    """Return each element, or `value` where it is not above `threshold`."""
    number = int if isinstance(input, Tensor) and input.dtype.kind == "int" else float
    attributes = {"threshold": number(threshold), "value": number(value)}
    return Choice(thresholded, (input,), attributes, inplace)


@choosing("hardtanh", method=False, inplace=False)
def _hardtanh(
    input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Choice:
    """Return each element brought between two bounds; the derivative there is 0."""
    if min_val > max_val:
        raise ArgumentError(
            f"hardtanh: min_val {min_val} is above max_val {max_val}; exchange them"
        )
    if isinstance(input, Tensor) and input.dtype.kind == "int":
        min_val, max_val = int(min_val), int(max_val)
    return Choice(clamp_both, (input, min_val, max_val), inplace=inplace)


@choosing("relu6", method=False, inplace=False)
def _relu6(input: Any, inplace: bool = False) -> Choice:
    """Return each element brought between 0 and 6."""
    return Choice(clamp_both, (input, 0, 6), inplace=inplace)


_SIX = "np.minimum(np.maximum(np.add({input}, 3), 0), 6)"
_C_SIX = "tg_minimum_{t}(tg_maximum_{t}({input} + 3, 0), 6)"


@pointwise(
    name="hardsigmoid",
    numpy={"float": f"np.divide({_SIX}, 6)"},
    c={"float": f"{_C_SIX} / 6"},
    reference=lambda input: min(max(input + 3, 0), 6) / 6,
    domain=(-2.5, 2.5),
    **_HIDDEN,
)
def hard_sigmoid(input: Tensor) -> Tensor:
    """Straight line from 0 at -3 to 1 at 3, level outside."""


def _hard_sigmoid_change(change: Any, input: Any) -> Any:
    return where(gt(input, -3) & (input < 3), change * (1 / 6), 0)


hard_sigmoid.vjp(input=lambda ct, input: _hard_sigmoid_change(ct, input)).jvp(
    input=lambda t, input: _hard_sigmoid_change(t, input)
)


@choosing("hardsigmoid", method=False, inplace=False)
def _hardsigmoid(input: Any, inplace: bool = False) -> Choice:
    """Return the straight line from 0 at -3 to 1 at 3, level outside.

    Source: Courbariaux, Bengio, David, "BinaryConnect" (2015), section 2.3.
    """
    return Choice(hard_sigmoid, (input,), inplace=inplace)


@pointwise(
    name="hardswish",
    numpy={"float": f"np.divide(np.multiply({{input}}, {_SIX}), 6)"},
    c={"float": f"{{input}} * {_C_SIX} / 6"},
    reference=lambda input: input * min(max(input + 3, 0), 6) / 6,
    domain=(-2.5, 2.5),
    **_HIDDEN,
)
def hard_swish(input: Tensor) -> Tensor:
    """Each element times its hard sigmoid."""


def _hard_swish_slope(input: Any) -> Any:
    above = where(input >= 3, 1, input * (1 / 3) + 0.5)
    return where(le(input, -3), 0, above)


hard_swish.derivative(input=times(_hard_swish_slope))


@choosing("hardswish", method=False, inplace=False)
def _hardswish(input: Any, inplace: bool = False) -> Choice:
    """Return each element times its hard sigmoid.

    Source: Howard et al., "Searching for MobileNetV3" (2019), section 5.2.
    """
    return Choice(hard_swish, (input,), inplace=inplace)


# -- exponential units --------------------------------------------------------------


@pointwise(
    name="elu",
    numpy={
        "float": (
            "np.where({input} > 0, np.multiply({input}, {scale}), "
            "np.multiply(np.multiply(np.expm1(np.multiply({input}, {input_scale})), "
            "{alpha}), {scale}))"
        )
    },
    c={
        "float": (
            "{input} > 0 ? {input} * {scale} "
            ": expm1{f}({input} * {input_scale}) * {alpha} * {scale}"
        )
    },
    reference=lambda input, alpha, scale, input_scale: (
        input * scale if input > 0 else math.expm1(input * input_scale) * alpha * scale
    ),
    examples=lambda rng: [
        (
            (rng.normal(size=(3, 4)),),
            {"alpha": 1.5, "scale": 1.2, "input_scale": 0.8},
        )
    ],
    promote=arithmetic,
    **_HIDDEN,
)
def exponential_unit(
    input: Tensor, alpha: float, scale: float, input_scale: float
) -> Tensor:
    """Straight line above 0, an exponential that levels out below."""


def _exponential_slope(
    input: Any, alpha: float, scale: float, input_scale: float
) -> Any:
    """Return the slope; exp() sees no large number, so that no order of it is NaN."""
    below = exp(where(input >= 0, 0, input) * input_scale)
    return where(gt(input, 0), scale, below * (alpha * scale * input_scale))


exponential_unit.derivative(input=times(_exponential_slope))


def _unit(
    input: Any, alpha: float, scale: float, input_scale: float, inplace: bool
) -> Choice:
    attributes = {
        "alpha": float(alpha),
        "scale": float(scale),
        "input_scale": float(input_scale),
    }
    return Choice(exponential_unit, (input,), attributes, inplace)


@choosing("elu", method=False, inplace=False)
def _elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Choice:
    """Return each element, or ``alpha * (exp(x) - 1)`` where it is not positive.

    Source: Clevert, Unterthiner, Hochreiter, "Exponential Linear Units" (2016).
    """
    return _unit(input, alpha, 1.0, 1.0, inplace)


# Klambauer et al., "Self-Normalizing Neural Networks" (2017), equation 14.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@choosing("selu", method=False)
def _selu(input: Any, inplace: bool = False) -> Choice:
    """Return the scaled exponential unit, which keeps mean 0 and variance 1.

    Source: Klambauer et al., "Self-Normalizing Neural Networks" (2017).
    """
    return _unit(input, _SELU_ALPHA, _SELU_SCALE, 1.0, inplace)


@choosing("celu", method=False)
def _celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Choice:
    """Return ``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``.

    Source: Barron, "Continuously Differentiable Exponential Linear Units" (2017).
    """
    if alpha == 0:
        raise ArgumentValueError("celu: alpha can't be 0")
    return _unit(input, alpha, 1.0, 1.0 / alpha, inplace)


# -- smooth ones --------------------------------------------------------------------

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_OVER_PI = math.sqrt(2 / math.pi)
_CUBIC = 0.044715


@pointwise(
    name="gelu",
    numpy={
        "float": (
            "np.multiply(np.multiply({input}, 0.5), "
            f"np.add(tg_erf(np, np.multiply({{input}}, {_ROOT_HALF!r})), 1))"
        )
    },
    c={
        "float": (
            "{input} * ({T})0.5 * (erf{f}({input} * ({T})" + repr(_ROOT_HALF) + ") + 1)"
        )
    },
    reference=lambda input: input * math.erfc(-input * _ROOT_HALF) / 2,
    **_HIDDEN,
)
def gaussian_unit(input: Tensor) -> Tensor:
    """Each element times the normal distribution's probability below it."""


def _gaussian_slope(input: Any) -> Any:
    below = (erf(input * _ROOT_HALF) + 1) * 0.5
    density = exp(input * input * -0.5) * (_ROOT_TWO_OVER_PI / 2)
    return below + input * density


gaussian_unit.derivative(input=times(_gaussian_slope))
gaussian_unit.kernels(
    forward=_activation_kernels.run_gelu,
    backward=_activation_kernels.back_gelu,
    reads=("input",),
)

_INNER = (
    f"np.multiply(np.add({{input}}, np.multiply(np.multiply(np.multiply({{input}}, "
    f"{{input}}), {{input}}), {_CUBIC!r})), {_ROOT_TWO_OVER_PI!r})"
)


@pointwise(
    numpy={
        "float": (
            "np.multiply(np.multiply({input}, 0.5), np.add(np.tanh(" + _INNER + "), 1))"
        )
    },
    c={
        "float": (
            f"{{input}} * ({{T}})0.5 * (tanh{{f}}(({{input}} + {{input}} * {{input}} * "
            f"{{input}} * ({{T}}){_CUBIC!r}) * ({{T}}){_ROOT_TWO_OVER_PI!r}) + 1)"
        )
    },
    reference=lambda x: (
        x / 2 * (1 + math.tanh(_ROOT_TWO_OVER_PI * (x + _CUBIC * x**3)))
    ),
    **_HIDDEN,
)
def gelu_tanh(input: Tensor) -> Tensor:
    """Approximation of `gelu` by a hyperbolic tangent.

    Source: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016), section 2.
    """


def _gelu_tanh_slope(input: Any) -> Any:
    squared = input * input
    inner = tanh((input + input * squared * _CUBIC) * _ROOT_TWO_OVER_PI)
    slope = (squared * (3 * _CUBIC) + 1) * _ROOT_TWO_OVER_PI
    return (inner + 1) * 0.5 + input * 0.5 * (1 - inner * inner) * slope


gelu_tanh.derivative(input=times(_gelu_tanh_slope))


@choosing("gelu", method=False, inplace=False)
def _gelu(input: Any, approximate: str = "none") -> Choice:
    """Return each element times the normal distribution's probability below it.

    Parameters
    ----------
    input : Tensor, floating dtype
    approximate : {"none", "tanh"}

    Raises
    ------
    ArgumentError
        If the approximation is unknown.

    Source: Hendrycks, Gimpel, "Gaussian Error Linear Units" (2016).
    """
    found = {"none": gaussian_unit, "tanh": gelu_tanh}.get(approximate)
    if found is None:
        raise ArgumentValueError(
            f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}"
        )
    return Choice(found, (input,))


_SILU = "np.divide({input}, np.add(np.exp(np.negative({input})), 1))"


@pointwise(
    name="silu",
    numpy={"float": _SILU, "complex": _SILU},
    c={"float": "{input} / (exp{f}(-{input}) + 1)"},
    reference=lambda input: input / (1 + math.exp(-input)),
    **_HIDDEN,
)
def sigmoid_unit(input: Tensor) -> Tensor:
    """Each element times its logistic function."""


def _sigmoid_unit_slope(input: Any) -> Any:
    part = sigmoid(input)
    return part * (1 + input * (1 - part))


sigmoid_unit.derivative(input=times(_sigmoid_unit_slope))
sigmoid_unit.kernels(
    forward=_activation_kernels.run_silu,
    backward=_activation_kernels.back_silu,
    reads=("input",),
)


@choosing("silu", method=False, inplace=False)
def _silu(input: Any, inplace: bool = False) -> Choice:
    """Return each element times its logistic function.

    Source: Elfwing, Uchibe, Doya, "Sigmoid-Weighted Linear Units" (2018).
    """
    return Choice(sigmoid_unit, (input,), inplace=inplace)


@pointwise(
    name="softplus",
    numpy={
        "float": (
            "np.where(np.multiply({input}, {beta}) > {threshold}, {input}, "
            "np.divide(np.log1p(np.exp(np.multiply({input}, {beta}))), {beta}))"
        )
    },
    c={
        "float": (
            "{input} * {beta} > {threshold} ? {input} "
            ": log1p{f}(exp{f}({input} * {beta})) / {beta}"
        )
    },
    reference=lambda input, beta, threshold: math.log1p(math.exp(input * beta)) / beta,
    examples=lambda rng: [
        ((rng.normal(size=(3, 4)),), {"beta": 1.5, "threshold": 20.0})
    ],
    **_HIDDEN,
)
def soft_plus(input: Tensor, beta: float, threshold: float) -> Tensor:
    """log(1 + exp(beta x)) / beta; the element itself far above 0."""


soft_plus.derivative(
    input=times(
        lambda input, beta, threshold: where(
            gt(input * beta, threshold), 1, sigmoid(input * beta)
        )
    )
)


@choosing("softplus", method=False, inplace=False)
def _softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Choice:
    """Return log(1 + exp(beta x)) / beta, and x where beta x is above `threshold`.

    Source: Dugas et al., "Incorporating Second-Order Functional Knowledge" (2001).
    """
    attributes = {"beta": float(beta), "threshold": float(threshold)}
    return Choice(soft_plus, (input,), attributes)


@pointwise(
    name="mish",
    numpy={
        "float": "np.multiply({input}, np.tanh(np.log1p(np.exp({input}))))",
    },
    c={"float": "{input} * tanh{f}(log1p{f}(exp{f}({input})))"},
    reference=lambda input: input * math.tanh(math.log1p(math.exp(input))),
    **_HIDDEN,
)
def mish_unit(input: Tensor) -> Tensor:
    """Each element times the hyperbolic tangent of its softplus."""


def _mish_slope(input: Any) -> Any:
    bent = tanh(soft_plus(input, 1.0, 20.0))
    return bent + input * sigmoid(input) * (1 - bent * bent)


mish_unit.derivative(input=times(_mish_slope))


@choosing("mish", method=False, inplace=False)
def _mish(input: Any, inplace: bool = False) -> Choice:
    """Return each element times the hyperbolic tangent of its softplus.

    Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation" (2019).
    """
    return Choice(mish_unit, (input,), inplace=inplace)


@pointwise(
    numpy={
        "float": (
            "np.subtract(np.minimum({input}, 0), "
            "np.log1p(np.exp(np.negative(np.abs({input})))))"
        )
    },
    c={
        "float": (
            "({input} < 0 || {input} != {input} ? {input} : 0) "
            "- log1p{f}(exp{f}(-fabs{f}({input})))"
        )
    },
    reference=lambda input: -math.log1p(math.exp(-input)),
    inplace=False,
    method=False,
)
def logsigmoid(input: Tensor) -> Tensor:
    """Logarithm of the logistic function, exact for large negative elements."""


logsigmoid.derivative(input=times(lambda input: sigmoid(-input)))
