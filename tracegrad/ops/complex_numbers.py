"""Parts of complex numbers, and numbers made of parts.

``real``, ``imag`` and ``conj`` of a complex tensor are copies here, where PyTorch
gives views of the same memory.
"""

from __future__ import annotations

import cmath
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import DTypeError
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import (
    arithmetic,
    floating_real_part,
    real_part,
    to_complex,
)
from tracegrad.ops.selection import where
from tracegrad.ops.trigonometric import cos, sin


@pointwise(
    name="real",
    numpy={"complex": "np.positive(np.real({input}))"},
    promote=real_part,
    public=False,
    method=False,
    inplace=False,
)
def real_of(input: Tensor) -> Tensor:
    """Real part of each complex element."""


# The cotangent is real; it becomes complex where it is fitted to the operand.
real_of.vjp(input=lambda ct: ct).jvp(input=lambda t: real_of(t))


@pointwise(
    name="imag",
    numpy={"complex": "np.positive(np.imag({input}))"},
    promote=real_part,
    public=False,
    method=False,
    inplace=False,
)
def imag_of(input: Tensor) -> Tensor:
    """Imaginary part of each complex element."""


imag_of.vjp(input=lambda ct: ct * 1j).jvp(input=lambda t: imag_of(t))


@pointwise(
    name="conj",
    numpy={"complex": "np.conjugate({input})"},
    promote=arithmetic,
    public=False,
    method=False,
    inplace=False,
)
def conjugated(input: Tensor) -> Tensor:
    """Complex conjugate of each complex element."""


conjugated.vjp(input=lambda ct: conjugated(ct)).jvp(input=lambda t: conjugated(t))


@public_function(method=False)
def real(input: Tensor) -> Tensor:
    """Return the real part of a complex tensor, or a real tensor itself."""
    return real_of(input) if input.is_complex() else input


@public_function(method=False)
def imag(input: Tensor) -> Tensor:
    """Return the imaginary part of a complex tensor.

    Raises
    ------
    DTypeError
        If it is real.
    """
    if not input.is_complex():
        raise DTypeError(f"imag takes a complex tensor, not {input.dtype.name}")
    return imag_of(input)  # type: ignore[no-any-return]


@public_function()
def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate of a complex tensor, or a real tensor itself."""
    return conjugated(input) if input.is_complex() else input


@public_function()
def conj_physical(input: Tensor) -> Tensor:
    """Return the complex conjugate, always in new memory."""
    return conjugated(input) if input.is_complex() else input.clone()  # type: ignore[attr-defined]


setattr(Tensor, "real", property(real))  # noqa: B010
setattr(Tensor, "imag", property(imag))  # noqa: B010


@pointwise(
    numpy={
        "float": (
            "np.where(np.isnan({input}), {input}, np.where({input} < 0, np.pi, 0))"
        ),
        "complex": "np.angle({input})",
    },
    c={
        "float": (
            "{input} != {input} ? {input} "
            ": {input} < 0 ? ({T})3.14159265358979323846 : 0"
        )
    },
    promote=floating_real_part,
    domain=(0.5, 3.0),
    inplace=False,
)
def angle(input: Tensor) -> Tensor:
    """Angle of each element with the positive real axis, from -pi to pi."""


def _turned(input: Any) -> Any:
    """Return i z / |z|**2, 0 at the origin."""
    square = input.real * input.real + input.imag * input.imag
    nowhere = square == 0
    return where(nowhere, 0, input * 1j / where(nowhere, 1, square))


def _angle_vjp(ct: Any, input: Any) -> Any:
    return ct * _turned(input) if input.is_complex() else ct.zeros_like()


def _angle_jvp(t: Any, input: Any) -> Any:
    if not input.is_complex():
        return t.zeros_like()
    return (t * _turned(input).conj()).real


angle.vjp(input=_angle_vjp).jvp(input=_angle_jvp)


@pointwise(
    name="complex",
    numpy="tg_complex(np, {real}, {imag})",
    reference=complex,
    promote=to_complex,
    inplace=False,
    method=False,
)
def complex_of(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of two parts of one dtype."""


complex_of.vjp(real=lambda ct: ct.real, imag=lambda ct: ct.imag).jvp(
    real=lambda t: complex_of(t, t.zeros_like()),
    imag=lambda t: complex_of(t.zeros_like(), t),
)


@pointwise(
    reference=cmath.rect,
    numpy=(
        "tg_complex(np, np.multiply({abs}, np.cos({angle})), "
        "np.multiply({abs}, np.sin({angle})))"
    ),
    promote=to_complex,
    inplace=False,
    method=False,
)
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers of a length and an angle, in radians."""


polar.derivative(
    abs=times(lambda angle: complex_of(cos(angle), sin(angle))),
    angle=times(lambda out: out * 1j),
)
