"""Common divisors and multiples, steps, and the neighbours of floating numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.results import RETURN_TYPES, return_type
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import int32
from tracegrad.errors import UnsupportedDTypeError
from tracegrad.ops._families import primitive
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import arithmetic, integral, same_dtype
from tracegrad.spec import TensorSpec, elementwise_strides


@pointwise(
    numpy={"int": "np.gcd({input}, {other})"}, promote=integral, commutative=True
)
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Greatest common divisor of integers; that of two zeros is 0."""


@pointwise(
    numpy={"int": "np.lcm({input}, {other})"}, promote=integral, commutative=True
)
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Least common multiple of integers; 0 if one is 0."""


@pointwise(
    numpy="np.where({input} == 0, {values}, {input} > 0)",
    c={
        "float": "{input} == 0 ? {values} : {input} > 0 ? 1 : 0",
        "int": "{input} == 0 ? {values} : {input} > 0 ? 1 : 0",
    },
    promote=same_dtype(arithmetic),
    reference=lambda input, values: values if input == 0 else float(input > 0),
)
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above it, and `values` at 0."""


@pointwise(
    numpy={"float": "np.nextafter({input}, {other})"},
    promote=same_dtype(arithmetic),
)
def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The next floating number from `input` towards `other`."""


# -- frexp ----------------------------------------------------------------------------


class Frexp(NamedTuple):
    """Numbers in [1/2, 1) and powers of two."""

    mantissa: Tensor
    exponent: Tensor


return_type("frexp", Frexp)


def _frexp_abstract(input: TensorSpec) -> tuple[TensorSpec, TensorSpec]:
    if input.dtype.kind != "float":
        raise UnsupportedDTypeError(f"frexp is not defined for {input.dtype.name}")
    strides = elementwise_strides(input.shape, [input])
    found = TensorSpec(input.dtype, input.shape, strides, input.device)
    return found, found.with_dtype(int32)


def _frexp_kernel(xp: Any, input: Any) -> tuple[Any, Any]:
    mantissa, exponent = xp.frexp(input)
    return (
        xp.asarray(mantissa, dtype=input.dtype),
        xp.asarray(exponent, dtype="int32"),
    )


@primitive(
    "library",
    name="frexp",
    abstract=_frexp_abstract,
    kernel=_frexp_kernel,
    examples=lambda rng: [((rng.standard_normal((2, 3)),), {})],
    public=False,
    method=False,
)
def mantissa_and_exponent(input: Tensor) -> tuple[Tensor, Tensor]:
    """Numbers in [1/2, 1) and the powers of two that they are multiplied by."""


def _frexp_vjp(cts: Any, input: Tensor) -> Tensor:
    exponent = mantissa_and_exponent(input)[1]
    return cts[0] * (2.0 ** (-exponent.to(input.dtype)))  # type: ignore[no-any-return]


def _frexp_jvp(t: Tensor, input: Tensor) -> tuple[Tensor, Tensor]:
    exponent = mantissa_and_exponent(input)[1]
    return t * (2.0 ** (-exponent.to(input.dtype))), exponent.zeros_like()


mantissa_and_exponent.vjp(input=_frexp_vjp).jvp(input=_frexp_jvp)


@public_function(name="frexp")
def split_exponent(input: Tensor) -> Frexp:
    """Return mantissas in [1/2, 1) and exponents: ``mantissa * 2**exponent``.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.frexp(tg.tensor([6.0])).exponent
    tensor([3], dtype=tracegrad.int32)
    """
    return RETURN_TYPES["frexp"](*mantissa_and_exponent(input))  # type: ignore[no-any-return]
