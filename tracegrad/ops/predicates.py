"""Questions about elements, answered with bools."""

from __future__ import annotations

import numpy as np

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import get_default_dtype
from tracegrad.errors import ArgumentTypeError, DTypeError
from tracegrad.ops._families import composite
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import asking
from tracegrad.ops.casts import as_dtype
from tracegrad.ops.comparison import eq, ne
from tracegrad.ops.reductions import sum as sum_

# False and True everywhere, in the operand's order of memory (not for NaN).
_NEVER = "np.not_equal({input}, {input})"
_ALWAYS = "np.equal({input}, {input})"


@pointwise(
    numpy={"bool": _NEVER, "any": "np.isnan({input})"},
    c={"bool": "0", "int": "0", "float": "{input} != {input}"},
    promote=asking,
    inplace=False,
)
def isnan(input: Tensor) -> Tensor:
    """Whether each element is NaN; a complex one if a part is."""


@pointwise(
    numpy={"bool": _NEVER, "any": "np.isinf({input})"},
    c={"bool": "0", "int": "0", "float": "isinf({input}) != 0"},
    promote=asking,
    inplace=False,
)
def isinf(input: Tensor) -> Tensor:
    """Whether each element is infinite; a complex one if a part is."""


@pointwise(
    numpy={"bool": _ALWAYS, "any": "np.isfinite({input})"},
    c={"bool": "1", "int": "1", "float": "isfinite({input}) != 0"},
    promote=asking,
    inplace=False,
)
def isfinite(input: Tensor) -> Tensor:
    """Whether each element is neither infinite nor NaN."""


@pointwise(
    numpy={"bool": _NEVER, "int": _NEVER, "float": "np.isposinf({input})"},
    c={"bool": "0", "int": "0", "float": "isinf({input}) && {input} > 0"},
    promote=asking,
    inplace=False,
)
def isposinf(input: Tensor) -> Tensor:
    """Whether each element is infinity with a plus sign."""


@pointwise(
    numpy={"bool": _NEVER, "int": _NEVER, "float": "np.isneginf({input})"},
    c={"bool": "0", "int": "0", "float": "isinf({input}) && {input} < 0"},
    promote=asking,
    inplace=False,
)
def isneginf(input: Tensor) -> Tensor:
    """Whether each element is infinity with a minus sign."""


@pointwise(
    numpy={
        "bool": _NEVER,
        "uint": _NEVER,
        "int": "np.less({input}, 0)",
        "float": "np.signbit({input})",
    },
    c={
        "bool": "0",
        "uint": "0",
        "int": "{input} < 0",
        "float": "signbit({input}) != 0",
    },
    promote=asking,
    inplace=False,
)
def signbit(input: Tensor) -> Tensor:
    """Whether each element has a minus sign, as -0.0 has."""


@pointwise(
    numpy={
        "complex": "np.equal(np.imag({input}), 0)",
        "float": "np.logical_or(True, {input})",
        "any": _ALWAYS,
    },
    c={"bool": "1", "int": "1", "float": "1"},
    promote=asking,
    inplace=False,
)
def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part of each element is zero."""


@composite(
    examples=lambda rng: [
        (
            (
                np.array([1.0, 2.0, np.inf, np.nan]),
                np.array([1.0, 2.1, np.inf, np.nan]),
            ),
            k,
        )
        for k in ({}, {"rtol": 0.1}, {"equal_nan": True})
    ]
)
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Whether elements differ by no more than ``atol + rtol * |other|``.

    Infinities are close to themselves only, NaN to NaN if `equal_nan`. It raises a
    DTypeError if the dtypes differ, an ArgumentError for a negative tolerance.
    """
    _check_same_dtype("isclose", input, other)
    close = eq(input, other)
    if equal_nan and input.dtype.kind in ("float", "complex"):
        close = close | (isnan(input) & isnan(other))
    wide = other
    if other.dtype.kind in ("bool", "int"):
        wide = as_dtype(other, get_default_dtype())
    if input.dtype.kind == "bool":
        input = as_dtype(input, get_default_dtype())
    distance = abs(input - wide)  # type: ignore[operator]
    allowed = abs(wide * rtol) + atol  # type: ignore[operator]
    return close | (isfinite(distance) & (distance <= allowed))  # type: ignore[no-any-return]


@public_function()
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Return whether all elements differ by no more than ``atol + rtol * |other|``.

    Raises
    ------
    DTypeError
        If the dtypes differ.
    """
    close = isclose(input, other, rtol, atol, equal_nan)
    return int(sum_(~close).item()) == 0


@public_function()
def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have one shape and equal elements.

    Raises
    ------
    ArgumentTypeError
        If one is no Tensor.
    """
    for given in (input, other):
        if not isinstance(given, Tensor):
            raise ArgumentTypeError(
                f"equal compares two Tensors, not a {type(given).__name__}"
            )
    if input._array.shape != other._array.shape:
        return False
    return int(sum_(ne(input, other)).item()) == 0


def _check_same_dtype(name: str, input: Tensor, other: Tensor) -> None:
    if input.dtype is not other.dtype:
        raise DTypeError(
            f"{name} takes tensors of one dtype, not {input.dtype.name} and "
            f"{other.dtype.name}"
        )
