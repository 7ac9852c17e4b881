"""gradcheck accepts what is right, and finds what is wrong."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tracegrad as tg
from tracegrad.autograd import Function, gradcheck, gradgradcheck
from tracegrad.errors import ArgumentError, GradcheckError


def numbers(*values: complex, dtype: Any = tg.float64) -> Any:
    return tg.tensor(list(values), dtype=dtype, requires_grad=True)


def square(vjp: Callable[..., Any], jvp: Callable[..., Any] | None = None) -> Any:
    """Return x * x as a Function with the given rules."""

    class Square(Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return vjp(ct, *ctx.saved_tensors)

    if jvp is not None:
        Square.jvp = staticmethod(  # type: ignore[method-assign]
            lambda ctx, t: jvp(t, *ctx.saved_tensors)
        )
    return Square.apply


def in_place(x: Any, y: Any) -> Any:
    z = x * y
    z[1:].mul_(x[:1])
    first = z[:1]
    z.mul_(y)
    return first * z, z.sum(0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x.exp() * y / x,
        lambda x, y: (x @ y, x + y),
        lambda x, y: tg.cat([x, y]).exp(),
        lambda x, y: (x[:, None] * y).sum(1),
        lambda x, y: x.pow(3) * 2 + y[0],
        in_place,
    ],
)
def test_right_derivatives_pass(function: Callable[..., Any]) -> None:
    x, y = numbers(0.5, 1.5), numbers(2.0, 0.7)
    assert gradcheck(function, (x, y), check_forward_ad=True)
    assert gradcheck(function, (x, y), fast_mode=True)
    assert gradgradcheck(function, (x, y))


def test_right_derivatives_of_complex_functions_pass() -> None:
    z = numbers(0.5 + 1j, 1.5 - 0.3j, dtype=tg.complex128)

    def function(z: Any) -> Any:
        return z.exp() * z, (z * z).real, z.abs(), z.conj() * 2j

    assert gradcheck(function, z, check_forward_ad=True)
    assert gradgradcheck(lambda z: z.exp() * z, z)


def test_a_right_function_passes_in_both_modes() -> None:
    right = square(lambda ct, x: 2 * x * ct, lambda t, x: 2 * x * t)
    assert gradcheck(right, numbers(0.5, 1.5), check_forward_ad=True)
    assert gradgradcheck(right, numbers(0.5, 1.5))


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_vjp_is_caught(fast_mode: bool) -> None:
    wrong = square(lambda ct, x: 3 * x * ct)
    with pytest.raises(GradcheckError, match="backward differs"):
        gradcheck(wrong, numbers(0.5, 1.5), fast_mode=fast_mode)
    assert not gradcheck(wrong, numbers(0.5), raise_exception=False)


def test_a_missing_conjugate_is_caught() -> None:
    wrong = square(lambda ct, z: 2 * z * ct)
    right = square(lambda ct, z: 2 * z.conj() * ct)
    z = numbers(0.5 + 1j, dtype=tg.complex128)
    assert gradcheck(right, z)
    with pytest.raises(GradcheckError):
        gradcheck(wrong, z)


def test_a_wrong_jvp_is_caught() -> None:
    wrong = square(lambda ct, x: 2 * x * ct, lambda t, x: 3 * x * t)
    assert gradcheck(wrong, numbers(0.5, 1.5))
    with pytest.raises(GradcheckError, match="forward mode differs"):
        gradcheck(wrong, numbers(0.5, 1.5), check_forward_ad=True)


def test_a_wrong_double_backward_is_caught() -> None:
    wrong = square(lambda ct, x: 2 * x.detach() * ct)
    assert gradcheck(wrong, numbers(0.5, 1.5))
    with pytest.raises(GradcheckError):
        gradgradcheck(wrong, numbers(0.5, 1.5))


def test_a_backward_that_is_not_deterministic_is_caught() -> None:
    calls: list[None] = []

    def vjp(ct: Any, x: Any) -> Any:
        calls.append(None)
        return 2 * x * ct + 1e-9 * len(calls)

    with pytest.raises(GradcheckError, match="two runs"):
        gradcheck(square(vjp), numbers(0.5))
    assert gradcheck(square(vjp), numbers(0.5), nondet_tol=1e-6)


def test_a_wrong_answer_to_no_gradient_is_caught() -> None:
    class Two(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return (0 if a is None else a * 2) + (7 if b is None else b * 3)

    with pytest.raises(GradcheckError, match="no gradient for result 1"):
        gradcheck(Two.apply, numbers(0.5))
    assert gradcheck(Two.apply, numbers(0.5), check_undefined_grad=False)


def test_inputs_that_make_no_sense() -> None:
    with pytest.raises(ArgumentError, match="requires grad"):
        gradcheck(lambda x: x, tg.ones(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradcheck(lambda x: x * 2, tg.ones(1, requires_grad=True), atol=1, rtol=1)
    assert "float64" in str(caught[0].message)
