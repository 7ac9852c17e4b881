"""Arithmetic on elements."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import identity, negative, times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bool_
from tracegrad.errors import DTypeError
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import (
    arithmetic,
    exact_factor,
    no_bool,
    same_dtype,
    weighted,
)


def is_bool(x: Any) -> bool:
    """Return whether `x` is a bool or a tensor of bools."""
    return x.dtype is bool_ if isinstance(x, Tensor) else isinstance(x, bool)


# -- sums and products --------------------------------------------------------------


@pointwise(
    numpy="np.add({input}, {other})",
    c={
        "bool": "{input} | {other}",
        "int": "({T})(({U}){input} + ({U}){other})",
        "float": "{input} + {other}",
    },
    commutative=True,
)
def add(input: Tensor, other: Tensor) -> Tensor:
    """Sum of two tensors; of bools, their "or"."""


add.derivative(input=identity(), other=identity())


@pointwise(
    numpy="np.add({input}, np.multiply({other}, {alpha}))",
    c={
        "bool": "{input} | ({other} & {alpha})",
        "int": "({T})(({U}){input} + 1u * ({U}){other} * ({U}){alpha})",
        "float": "{input} + {other} * {alpha}",
    },
    promote=exact_factor(weighted(arithmetic, 2)),
    reference=lambda input, other, alpha: input + alpha * other,
    public=False,
    method=False,
    inplace=False,
)
def add_scaled(input: Tensor, other: Tensor, alpha: Tensor) -> Tensor:
    """Sum of a tensor and a multiple of another."""


add_scaled.derivative(
    input=identity(),
    other=times(lambda alpha: alpha),
    alpha=times(lambda other: other),
)


@choosing("add")
def _add(input: Any, other: Any, *, alpha: Any = 1) -> Choice:
    """Return ``input + alpha * other``.

    Parameters
    ----------
    input, other : Tensor or number, shapes that broadcast
    alpha : number, optional

    Raises
    ------
    DTypeError
        If `alpha` is of a higher category than the tensors.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.add(tg.tensor([1.0, 2.0]), tg.tensor([10.0, 20.0]), alpha=2).tolist()
    [21.0, 42.0]
    """
    if alpha.__class__ is int and alpha == 1:
        return Choice(add, (input, other))
    return Choice(add_scaled, (input, other, alpha))


@pointwise(
    numpy="np.subtract({input}, {other})",
    c={
        "int": "({T})(({U}){input} - ({U}){other})",
        "float": "{input} - {other}",
    },
    promote=no_bool(arithmetic),
)
def sub(input: Tensor, other: Tensor) -> Tensor:
    """Difference of two tensors."""


sub.derivative(input=identity(), other=negative())


@pointwise(
    numpy="np.subtract({input}, np.multiply({other}, {alpha}))",
    c={
        "int": "({T})(({U}){input} - 1u * ({U}){other} * ({U}){alpha})",
        "float": "{input} - {other} * {alpha}",
    },
    promote=no_bool(exact_factor(weighted(arithmetic, 2))),
    reference=lambda input, other, alpha: input - alpha * other,
    public=False,
    method=False,
    inplace=False,
)
def sub_scaled(input: Tensor, other: Tensor, alpha: Tensor) -> Tensor:
    """Difference of a tensor and a multiple of another."""


sub_scaled.derivative(
    input=identity(),
    other=times(lambda alpha: -alpha),
    alpha=times(lambda other: -other),
)


def _sub(input: Any, other: Any, *, alpha: Any = 1) -> Choice:
    """Return ``input - alpha * other``.

    Parameters
    ----------
    input, other : Tensor or number, shapes that broadcast
    alpha : number, optional

    Raises
    ------
    DTypeError
        If an operand is bool, or `alpha` of a higher category than the tensors.
    """
    if alpha.__class__ is int and alpha == 1:
        return Choice(sub, (input, other))
    return Choice(sub_scaled, (input, other, alpha))


choosing("sub")(_sub)
choosing("subtract")(_sub)


@choosing("rsub", inplace=False)
def _rsub(input: Any, other: Any, *, alpha: Any = 1) -> Choice:
    """Return ``other - alpha * input``."""
    return _sub(other, input, alpha=alpha)


@pointwise(
    numpy="np.multiply({input}, {other})",
    c={
        "bool": "{input} & {other}",
        "int": "({T})(1u * ({U}){input} * ({U}){other})",
        "float": "{input} * {other}",
    },
    commutative=True,
)
def mul(input: Tensor, other: Tensor) -> Tensor:
    """Product of two tensors; of bools, their "and"."""


mul.derivative(input=times(lambda other: other), other=times(lambda input: input))


@choosing("multiply")
def _multiply(input: Any, other: Any) -> Choice:
    """Return ``input * other``."""
    return Choice(mul, (input, other))


@pointwise(
    numpy="np.negative({input})",
    c={"int": "({T})(0u - ({U}){input})", "float": "-{input}"},
    promote=no_bool(arithmetic),
)
def neg(input: Tensor) -> Tensor:
    """Negative of each element."""


neg.derivative(input=negative())


@choosing("negative")
def _negative(input: Any) -> Choice:
    """Return ``-input``."""
    return Choice(neg, (input,))


@public_function()
def positive(input: Tensor) -> Tensor:
    """Return `input` itself, as ``+input`` does.

    Raises
    ------
    DTypeError
        If it is bool.
    """
    if is_bool(input):
        raise DTypeError("positive (+) of bools is not defined; cast them first")
    return input


# -- three operands -----------------------------------------------------------------


@pointwise(
    numpy="np.add({input}, np.multiply(np.multiply({value}, {tensor1}), {tensor2}))",
    c={
        "int": (
            "({T})(({U}){input} + 1u * ({U}){value} * ({U}){tensor1} * ({U}){tensor2})"
        ),
        "float": "{input} + {value} * {tensor1} * {tensor2}",
    },
    promote=no_bool(weighted(arithmetic, 3)),
    reference=lambda input, a, b, value: input + value * a * b,
    public=False,
    method=False,
    inplace=False,
)
def add_product(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor
) -> Tensor:
    """Sum of a tensor and a multiple of the product of two others."""


add_product.derivative(
    input=identity(),
    tensor1=times(lambda tensor2, value: tensor2 * value),
    tensor2=times(lambda tensor1, value: tensor1 * value),
    value=times(lambda tensor1, tensor2: tensor1 * tensor2),
)


@choosing("addcmul")
def _addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Choice:
    """Return ``input + value * tensor1 * tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor, shapes that broadcast
    value : number, optional
    """
    return Choice(add_product, (input, tensor1, tensor2, value))


_ADD_QUOTIENT = (
    "np.add({input}, np.true_divide(np.multiply({value}, {tensor1}), {tensor2}))"
)


@pointwise(
    numpy={"float": _ADD_QUOTIENT, "complex": _ADD_QUOTIENT},
    c={"float": "{input} + {value} * {tensor1} / {tensor2}"},
    promote=weighted(arithmetic, 3),
    reference=lambda input, a, b, value: input + value * a / b,
    domain=(0.5, 3.0),
    public=False,
    method=False,
    inplace=False,
)
def add_quotient(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor
) -> Tensor:
    """Sum of a tensor and a multiple of the quotient of two others."""


add_quotient.derivative(
    input=identity(),
    tensor1=times(lambda tensor2, value: value / tensor2),
    tensor2=times(
        lambda tensor1, tensor2, value: -(value * (tensor1 / tensor2)) / tensor2
    ),
    value=times(lambda tensor1, tensor2: tensor1 / tensor2),
)


@choosing("addcdiv")
def _addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Choice:
    """Return ``input + value * tensor1 / tensor2``.

    Parameters
    ----------
    input, tensor1, tensor2 : Tensor, shapes that broadcast, floating dtype
    value : number, optional

    Raises
    ------
    DTypeError
        If all tensors are integers.
    """
    return Choice(add_quotient, (input, tensor1, tensor2, value))


_LERP = (
    "np.where(np.abs({weight}) < 0.5, "
    "np.add({input}, np.multiply({weight}, np.subtract({end}, {input}))), "
    "np.subtract({end}, np.multiply(np.subtract({end}, {input}), "
    "np.subtract(1, {weight}))))"
)


@pointwise(
    numpy={"float": _LERP, "complex": _LERP},
    c={
        "float": (
            "fabs{f}({weight}) < ({T})0.5 ? {input} + {weight} * ({end} - {input}) "
            ": {end} - ({end} - {input}) * (1 - {weight})"
        )
    },
    promote=same_dtype(arithmetic),
    reference=lambda input, end, weight: input + weight * (end - input),
)
def lerp(input: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """Straight line from `input` (weight 0) to `end` (weight 1).

    It is evaluated from the nearer end, so that both ends are met exactly.
    """


lerp.derivative(
    input=times(lambda weight: 1 - weight),
    end=times(lambda weight: weight),
    weight=times(lambda input, end: end - input),
)
