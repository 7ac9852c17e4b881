"""Choice among elements: by a condition, or the larger or smaller one."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import FUNCTIONS, OpDef, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bool_, uint8
from tracegrad.errors import ArgumentError, ArgumentValueError, DTypeError
from tracegrad.ops._functions import Choice, choosing, method
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import Typed, Types, common
from tracegrad.ops.bitwise import bitwise_not
from tracegrad.ops.comparison import eq, ge, gt, le, lt, ne

# -- where --------------------------------------------------------------------------


def _choosing(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Leave the condition as it is; the choices are promoted."""
    condition = operands[0][0]
    if condition not in (bool_, uint8):
        raise DTypeError(f"{name}: the condition must be bool, not {condition.name}")
    dtype = common(operands[1:])
    return (bool_, dtype, dtype), dtype


@pointwise(
    numpy="np.where({condition}, {input}, {other})",
    numpy_zero={
        "input": {"float": "tg_zeroed(np, {other}, {condition})"},
        "other": {"float": "tg_kept(np, {input}, {condition})"},
    },
    c="{condition} ? {input} : {other}",
    promote=_choosing,
    inplace=False,
    method=False,
    public=False,
)
def where(condition: Tensor, input: Tensor, other: Tensor) -> Tensor:
    """Elements of `input` where the condition holds, of `other` elsewhere."""


where.vjp(
    input=lambda ct, condition: where(condition, ct, 0),
    other=lambda ct, condition: where(condition, 0, ct),
).jvp(
    input=lambda t, condition: where(condition, t, 0),
    other=lambda t, condition: where(condition, 0, t),
)


@public_function(method=False, name="where")
def _where(
    condition: Any, input: Any = None, other: Any = None, *, out: Any = None
) -> Any:
    """Return elements of `input` where the condition holds, of `other` elsewhere.

    Parameters
    ----------
    condition : Tensor of bool
    input, other : Tensor or number, shapes that broadcast
        Without them: the indices of the true elements, as ``nonzero`` gives them.

    Raises
    ------
    DTypeError
        If the condition is not bool.
    ArgumentError
        If only one of `input` and `other` is given.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.where(tg.tensor([True, False]), tg.tensor([1.0, 2.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    if input is None and other is None:
        return FUNCTIONS["nonzero"].function(condition, as_tuple=True)
    if input is None or other is None:
        raise ArgumentError("where takes a condition alone, or with two choices")
    if out is not None:
        return where(condition, input, other, out=out)
    return where(condition, input, other)


@method("where")
def _tensor_where(self: Tensor, condition: Any, other: Any) -> Any:
    """Return elements of this tensor where the condition holds, else of `other`."""
    return where(condition, self, other)


# -- maximum, minimum ---------------------------------------------------------------

_EXTREME = {"bool": "{input} | {other}", "any": "tg_maximum_{t}({input}, {other})"}


@pointwise(
    numpy={k: "np.maximum({input}, {other})" for k in ("bool", "int", "float")},
    c=_EXTREME,
)
def maximum(input: Tensor, other: Tensor) -> Tensor:
    """Larger element of two; NaN if there is one. Equal ones share the gradient."""


@pointwise(
    numpy={k: "np.minimum({input}, {other})" for k in ("bool", "int", "float")},
    c={"bool": "{input} & {other}", "any": "tg_minimum_{t}({input}, {other})"},
)
def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Smaller element of two; NaN if there is one. Equal ones share the gradient."""


# Not np.fmax: of 0.0 and -0.0 that gives now the one, now the other.
_FMAX = (
    "np.where(np.isnan({input}), {other}, "
    "np.where(np.isnan({other}), {input}, np.maximum({input}, {other})))"
)


@pointwise(
    numpy={
        "bool": "np.maximum({input}, {other})",
        "int": "np.maximum({input}, {other})",
        "float": _FMAX,
    },
    c={
        "bool": "{input} | {other}",
        "int": "tg_maximum_{t}({input}, {other})",
        "float": (
            "{input} != {input} ? {other} : {other} != {other} ? {input} "
            ": tg_maximum_{t}({input}, {other})"
        ),
    },
    inplace=False,
)
def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Larger element of two; the other one where one is NaN."""


@pointwise(
    numpy={
        "bool": "np.minimum({input}, {other})",
        "int": "np.minimum({input}, {other})",
        "float": _FMAX.replace("maximum", "minimum"),
    },
    c={
        "bool": "{input} & {other}",
        "int": "tg_minimum_{t}({input}, {other})",
        "float": (
            "{input} != {input} ? {other} : {other} != {other} ? {input} "
            ": tg_minimum_{t}({input}, {other})"
        ),
    },
    inplace=False,
)
def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Smaller element of two; the other one where one is NaN."""


def _shared(change: Any, own: Any, against: Any, wins: Any) -> Any:
    """Return the change for the operand `own`: half of it where both are equal."""
    halved = where(eq(own, against), change * 0.5, 0)
    return where(wins(own, against), change, halved)


def _passes_nan(beats: Any) -> Any:
    """Return where the operand decides, also by being NaN."""
    return lambda own, against: bitwise_not(beats(against, own)) & ne(own, against)


def _ignores_nan(beats: Any) -> Any:
    """Return where the operand decides, also by the other one being NaN."""
    return lambda own, against: (
        beats(own, against) | (ne(against, against) & eq(own, own))
    )


def _state_extreme(operator: OpDef, wins: Any) -> None:
    operator.vjp(
        input=lambda ct, input, other: _shared(ct, input, other, wins),
        other=lambda ct, input, other: _shared(ct, other, input, wins),
    ).jvp(
        input=lambda t, input, other: _shared(t, input, other, wins),
        other=lambda t, input, other: _shared(t, other, input, wins),
    )


_state_extreme(maximum, _passes_nan(gt))
_state_extreme(minimum, _passes_nan(lt))
_state_extreme(fmax, _ignores_nan(gt))
_state_extreme(fmin, _ignores_nan(lt))

# -- clamp --------------------------------------------------------------------------


def _numbers(text: str) -> dict[str, str]:
    return {"int": text, "float": text}


def _all(text: str) -> dict[str, str]:
    return {"bool": text, "int": text, "float": text}


@pointwise(
    name="clamp",
    numpy=_numbers("np.minimum(np.maximum({input}, {min}), {max})"),
    c=_numbers("tg_minimum_{t}(tg_maximum_{t}({input}, {min}), {max})"),
    reference=lambda input, low, high: min(max(input, low), high),
    domain={"input": (0.1, 0.9), "min": (-1.0, 0.0), "max": (1.0, 2.0)},
    public=False,
    method=False,
    inplace=False,
)
def clamp_both(input: Tensor, min: Tensor, max: Tensor) -> Tensor:
    """Each element brought between two bounds, of which the upper one prevails."""


@pointwise(
    numpy=_all("np.maximum({input}, {min})"),
    c=_all("tg_maximum_{t}({input}, {min})"),
    reference=max,
    domain={"input": (0.1, 0.9), "min": (-1.0, 0.0)},
)
def clamp_min(input: Tensor, min: Tensor) -> Tensor:
    """Each element, or the bound where that is larger."""


@pointwise(
    numpy=_all("np.minimum({input}, {max})"),
    c=_all("tg_minimum_{t}({input}, {max})"),
    reference=min,
    domain={"input": (0.1, 0.9), "max": (1.0, 2.0)},
)
def clamp_max(input: Tensor, max: Tensor) -> Tensor:
    """Each element, or the bound where that is smaller."""


def _past(change: Any, input: Any, bound: Any, past: Any) -> Any:
    """Return the change of the input of a one-sided clamp: none at a number."""
    if isinstance(bound, Tensor):
        return _shared(change, input, bound, past)
    return where(past(input, bound), change, 0)


def _between(change: Any, input: Any, min: Any, max: Any) -> Any:
    """Return the change of the input of a clamp: none at a bound that is a number.

    Source: PyTorch 2.14 (pull request 191142), which changed it from 1 to 0.
    """
    above = ge(input, min) if isinstance(min, Tensor) else gt(input, min)
    below = le(input, max) if isinstance(max, Tensor) else lt(input, max)
    return where(above & below, change, 0)


def _at_min(change: Any, input: Any, min: Any, max: Any) -> Any:
    return where(lt(min, max) & lt(input, min), change, 0)


def _at_max(change: Any, input: Any, min: Any, max: Any) -> Any:
    return where(gt(input, max) | lt(max, min), change, 0)


clamp_both.vjp(
    input=lambda ct, input, min, max: _between(ct, input, min, max),
    min=lambda ct, input, min, max: _at_min(ct, input, min, max),
    max=lambda ct, input, min, max: _at_max(ct, input, min, max),
).jvp(
    input=lambda t, input, min, max: _between(t, input, min, max),
    min=lambda t, input, min, max: _at_min(t, input, min, max),
    max=lambda t, input, min, max: _at_max(t, input, min, max),
)
clamp_min.vjp(
    input=lambda ct, input, min: _past(ct, input, min, gt),
    min=lambda ct, input, min: _past(ct, min, input, gt),
).jvp(
    input=lambda t, input, min: _past(t, input, min, gt),
    min=lambda t, input, min: _past(t, min, input, gt),
)
clamp_max.vjp(
    input=lambda ct, input, max: _past(ct, input, max, lt),
    max=lambda ct, input, max: _past(ct, max, input, lt),
).jvp(
    input=lambda t, input, max: _past(t, input, max, lt),
    max=lambda t, input, max: _past(t, max, input, lt),
)


def _clamp(input: Any, min: Any = None, max: Any = None) -> Choice:
    """Bring each element between two bounds, of which the upper one prevails.

    NaN stays NaN, and a bound that is NaN gives NaN. The derivative at a bound that is
    a number is 0.

    Parameters
    ----------
    input : Tensor
    min, max : number or Tensor, optional
        At least one; shapes that broadcast.

    Raises
    ------
    ArgumentError
        If there is no bound.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.clamp(tg.tensor([-1.0, 0.5, 2.0]), 0, 1).tolist()
    [0.0, 0.5, 1.0]
    """
    if min is None and max is None:
        raise ArgumentValueError("clamp needs a bound: give min, max, or both")
    if max is None:
        return Choice(clamp_min, (input, min))
    if min is None:
        return Choice(clamp_max, (input, max))
    return Choice(clamp_both, (input, min, max))


choosing("clamp")(_clamp)
choosing("clip")(_clamp)
