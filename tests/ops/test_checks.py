"""Each check of the generic test fails for an operator that is wrong in its way."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.ops import checks, derivative_checks, pair_checks
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.rules import times
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import arithmetic, floating


@pytest.fixture
def define() -> Iterator[Callable[..., OpDef]]:
    """Define scratch operators, and take them out of the registry afterwards."""

    def define_one(
        numpy: Any = "np.sinh({input})",
        derivative: Any = lambda input: tg.cosh(input),
        reference: Any = np.sinh,
        **facts: Any,
    ) -> OpDef:
        facts = {"promote": floating, "domain": (-2.0, 2.0)} | facts

        def scratch(input: Tensor) -> Tensor:
            """A scratch operator."""

        scratch.__annotations__ = {"input": "Tensor", "return": "Tensor"}
        made = pointwise(
            numpy=numpy, reference=reference, method=False, public=False, **facts
        )(scratch)
        return made.derivative(input=times(derivative))

    yield define_one
    OPERATORS.pop("scratch", None)
    if hasattr(Tensor, "scratch_"):
        del Tensor.scratch_


ALL = (
    checks.check_value,
    checks.check_spec,
    checks.check_refusal,
    checks.check_layouts,
    checks.check_broadcast,
    checks.check_forms,
    checks.check_purity,
    derivative_checks.check_vjp,
    derivative_checks.check_jvp,
    derivative_checks.check_second,
    derivative_checks.check_saved,
    derivative_checks.check_gradient_dtypes,
)


def fails(check: Callable[[OpDef], None], operator: OpDef) -> bool:
    try:
        check(operator)
    except AssertionError:
        return True
    return False


def test_a_right_operator_passes(define: Callable[..., OpDef]) -> None:
    operator = define()
    for check in ALL:
        check(operator)


def test_wrong_derivative(define: Callable[..., OpDef]) -> None:
    operator = define(derivative=lambda input: tg.cosh(input) * 1.001)
    assert fails(derivative_checks.check_vjp, operator)
    assert fails(derivative_checks.check_jvp, operator)


def test_wrong_second_derivative(define: Callable[..., OpDef]) -> None:
    operator = define(derivative=lambda input: tg.cosh(input.detach()))
    assert not fails(derivative_checks.check_vjp, operator)
    assert fails(derivative_checks.check_second, operator)


def test_jvp_unlike_vjp(define: Callable[..., OpDef]) -> None:
    operator = define().jvp(input=lambda t, input: t * tg.sinh(input))
    assert not fails(derivative_checks.check_vjp, operator)
    assert fails(derivative_checks.check_jvp, operator)


def test_missing_jvp(define: Callable[..., OpDef]) -> None:
    operator = define()
    operator.jvp_rules.clear()
    assert fails(derivative_checks.check_jvp, operator)


def test_wrong_complex_derivative(define: Callable[..., OpDef]) -> None:
    # As if z * conj(z) were holomorphic.
    operator = define(
        "np.multiply({input}, np.conjugate({input}))",
        lambda input: tg.conj(input) * 2,
        lambda z: z * z.conjugate(),
    )
    assert fails(derivative_checks.check_vjp, operator)


def test_wrong_value(define: Callable[..., OpDef]) -> None:
    assert fails(checks.check_value, define("np.sin({input})"))
    OPERATORS.pop("scratch")
    # Right in double precision only.
    loses = {"float": "np.sinh({input}.astype(np.float16)).astype({input}.dtype)"}
    assert fails(checks.check_value, define(loses))


def test_wrong_dtype(define: Callable[..., OpDef]) -> None:
    operator = define()
    kernel = operator.kernel
    assert kernel is not None
    operator.kernel = lambda xp, x: kernel(xp, x).astype("float64")
    operator.facts["fast"] = None
    assert fails(checks.check_spec, operator)


def test_wrong_strides(define: Callable[..., OpDef]) -> None:
    operator = define()
    kernel = operator.kernel
    assert kernel is not None
    operator.kernel = lambda xp, x: xp.asfortranarray(kernel(xp, x))
    assert fails(checks.check_spec, operator)


def test_value_that_reads_memory(define: Callable[..., OpDef]) -> None:
    operator = define("np.reshape(np.ravel({input}, order='K'), {input}.shape)")
    assert fails(checks.check_layouts, operator)


def test_write_into_the_operand(define: Callable[..., OpDef]) -> None:
    assert fails(checks.check_purity, define("np.sinh({input}, out={input})"))


def test_result_that_is_the_operand(define: Callable[..., OpDef]) -> None:
    operator = define("{input}[...]", promote=arithmetic)
    assert fails(checks.check_purity, operator)


def test_kernel_that_takes_more_than_abstract_eval(
    define: Callable[..., OpDef],
) -> None:
    operator = define({"float": "np.sinh({input})"}, promote=arithmetic)
    operator.kernel = lambda xp, x: xp.sinh(x)
    assert fails(checks.check_refusal, operator)


def test_tensor_saved_for_nothing(define: Callable[..., OpDef]) -> None:
    operator = define()
    plan = operator.plan

    def generous(*key: Any) -> Any:
        return replace(plan(*key), saved_operands=(0,), saved_results=(0,))

    operator.plan = generous  # type: ignore[method-assign]
    assert fails(derivative_checks.check_saved, operator)


# -- kernel pairs ---------------------------------------------------------------------


def _run(input: Any) -> tuple[Any, Any]:
    return np.sinh(input), input


def _back(saved: Any, cts: list[Any], wanted: tuple[bool, ...]) -> list[Any]:
    return [cts[0] * np.cosh(saved)]


def _paired(define: Callable[..., OpDef], **changes: Any) -> OpDef:
    stated = {"forward": _run, "backward": _back, "reads": ("input",)} | changes
    # No single ufunc: the fast path of those asks for no pair.
    return define("np.multiply(1, np.sinh({input}))").kernels(**stated)


def test_a_right_pair_passes(define: Callable[..., OpDef]) -> None:
    pair_checks.check_pair(_paired(define))


def _counted(saved: Any, cts: list[Any], wanted: tuple[bool, ...]) -> list[Any]:
    np.multiply(cts[0], np.cosh(saved), out=cts[0])
    return [cts[0]]


def _overwritten(saved: Any, cts: list[Any], wanted: tuple[bool, ...]) -> list[Any]:
    found = cts[0] * np.cosh(saved)
    saved += 1
    return [found]


@pytest.mark.parametrize(
    "wrong",
    [
        {"forward": lambda input: (np.sinh(input) * 1.001, input)},
        {"forward": lambda input: (np.sinh(input).astype("float64"), input)},
        {"forward": lambda input: (np.asfortranarray(np.sinh(input)), input)},
        {"forward": lambda input: (input, input)},
        {"forward": lambda input: None},
        {"backward": lambda saved, cts, wanted: [cts[0] * np.sinh(saved)]},
        {"backward": lambda saved, cts, wanted: [None]},
        {"backward": lambda saved, cts, wanted: [saved]},
        {"backward": lambda saved, cts, wanted: [(cts[0] * np.cosh(saved))[0]]},
        {"backward": _counted},
        {"backward": _overwritten},
        {"reads": ()},
        {"serves": lambda input: False},
    ],
    ids=[
        "value",
        "dtype",
        "strides",
        "result is the operand",
        "always declines",
        "gradient",
        "no gradient",
        "gradient is what was saved",
        "gradient's shape",
        "writes the cotangent",
        "writes what was saved",
        "unnamed memory",
        "never serves",
    ],
)
def test_wrong_pairs(define: Callable[..., OpDef], wrong: dict[str, Any]) -> None:
    assert fails(pair_checks.check_pair, _paired(define, **wrong))


def test_a_pair_is_not_the_derivative_of_the_derivative(
    define: Callable[..., OpDef],
) -> None:
    operator = _paired(define)
    operator.derivative(input=times(lambda input: tg.cosh(input.detach())))
    assert fails(derivative_checks.check_second, operator)


def test_silence_is_reported() -> None:
    with pytest.raises(AssertionError, match="states neither"):
        checks.samples(OpDef(_nameless, "library"))


def _nameless(input: Tensor) -> Tensor:
    raise NotImplementedError


_nameless.__annotations__ = {"input": "Tensor", "return": "Tensor"}
