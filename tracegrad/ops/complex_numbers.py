"""Parts of complex numbers, and numbers made of parts.

``real`` and ``imag`` of a complex tensor are views; ``conj`` is a copy here, where
PyTorch conjugates lazily.
"""

from __future__ import annotations

import cmath
from typing import Any

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, float64
from tracegrad.errors import DTypeError, ShapeError, UnsupportedDTypeError
from tracegrad.ops._families import view_family
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import (
    arithmetic,
    floating_real_part,
    to_complex,
)
from tracegrad.ops.casts import clone
from tracegrad.ops.selection import where
from tracegrad.ops.trigonometric import cos, sin
from tracegrad.ops.views import select
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec


def _part(input: TensorSpec) -> TensorSpec:
    if input.dtype.kind != "complex":
        raise DTypeError(f"real and imag take a complex tensor, not {input.dtype.name}")
    strides = tuple(2 * step for step in input.strides)
    return TensorSpec(input.dtype.to_real(), input.shape, strides, input.device)


def _complex_examples(rng: Any) -> Any:
    return [((rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)),), {})]


@view_family(
    name="real",
    abstract=_part,
    kernel=lambda xp, input: input.real,
    numpy="{input}.real",
    examples=_complex_examples,
    public=False,
    method=False,
)
def real_of(input: Tensor) -> Tensor:
    """Real part of each complex element, as a view."""


@view_family(
    name="imag",
    abstract=_part,
    kernel=lambda xp, input: input.imag,
    numpy="{input}.imag",
    examples=_complex_examples,
    public=False,
    method=False,
)
def imag_of(input: Tensor) -> Tensor:
    """Imaginary part of each complex element, as a view."""


def _pairs(input: TensorSpec) -> TensorSpec:
    if input.dtype.kind != "complex":
        raise DTypeError(f"view_as_real takes a complex tensor, not {input.dtype.name}")
    strides = (*(2 * step for step in input.strides), 1)
    return TensorSpec(input.dtype.to_real(), (*input.shape, 2), strides, input.device)


def _pairs_kernel(xp: Any, input: Any) -> Any:
    part = input.real
    strides = (*part.strides, part.itemsize)
    return xp.lib.stride_tricks.as_strided(part, (*part.shape, 2), strides)


@view_family(
    abstract=_pairs, kernel=_pairs_kernel, examples=_complex_examples, method=False
)
def view_as_real(input: Tensor) -> Tensor:
    """Real and imaginary parts as a last dimension of size 2, as a view."""


def _joined(input: TensorSpec) -> TensorSpec:
    if input.dtype not in (float32, float64):
        raise UnsupportedDTypeError(
            f"view_as_complex takes float32 or float64, not {input.dtype.name}"
        )
    if input.ndim == 0 or input.shape[-1] != 2:
        raise ShapeError(
            "view_as_complex: the last dimension must have a size of 2, not shape "
            f"{shape_text(input.shape)}"
        )
    outer = input.strides[:-1]
    if input.strides[-1] != 1 or any(s % 2 for s in outer):  # type: ignore[operator]
        raise ShapeError(
            "view_as_complex: both parts must lie together, and other strides be even, "
            f"not {shape_text(input.strides)}; use it on a clone()"
        )
    strides = tuple(step // 2 for step in outer)
    return TensorSpec(input.dtype.to_complex(), input.shape[:-1], strides, input.device)


def _joined_kernel(xp: Any, input: Any) -> Any:
    wide = "complex128" if input.dtype == "float64" else "complex64"
    return input.view(wide)[..., 0]


@view_family(
    abstract=_joined,
    kernel=_joined_kernel,
    examples=lambda rng: [((rng.normal(size=(3, 2)),), {})],
    method=False,
)
def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers of pairs in a last dimension of size 2, as a view."""


# There is no complex32.
view_as_complex.facts["takes"] = (float32, float64)
view_as_complex.vjp(input=lambda ct: view_as_real(clone(ct, True)))


for _operator in (real_of, imag_of, view_as_real, view_as_complex):
    _operator.facts["parts"] = True


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
def is_conj(input: Tensor) -> bool:
    """Return whether a tensor is to be conjugated later: never, here."""
    return False


@public_function()
def is_neg(input: Tensor) -> bool:
    """Return whether a tensor is to be negated later: never, here."""
    return False


@public_function()
def resolve_conj(input: Tensor) -> Tensor:
    """Return the tensor itself: nothing is conjugated lazily."""
    return input


@public_function()
def resolve_neg(input: Tensor) -> Tensor:
    """Return the tensor itself: nothing is negated lazily."""
    return input


@public_function()
def conj_physical(input: Tensor) -> Tensor:
    """Return the complex conjugate, always in new memory."""
    return conjugated(input) if input.is_complex() else input.clone()  # type: ignore[attr-defined]


def _write_real(self: Tensor, value: Any) -> None:
    real(self)[...] = value


def _write_imag(self: Tensor, value: Any) -> None:
    imag(self)[...] = value


setattr(Tensor, "real", property(real, _write_real))  # noqa: B010
setattr(Tensor, "imag", property(imag, _write_imag))  # noqa: B010


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


real_of.vjp(input=lambda ct: complex_of(ct, ct.zeros_like()))
imag_of.vjp(input=lambda ct: complex_of(ct.zeros_like(), ct))
view_as_real.vjp(input=lambda ct: complex_of(select(ct, -1, 0), select(ct, -1, 1)))


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
