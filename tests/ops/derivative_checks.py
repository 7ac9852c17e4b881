"""What holds for every operator's derivatives: VJP, JVP, second order, what is saved.

Each check raises AssertionError where it does not hold, as in `checks.py`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tracegrad as tg
from tests.ops.checks import pointwise_samples, spec_of_operand, with_operand
from tests.ops.samples import (
    Sample,
    arrays,
    call,
    drawn,
    generator,
    is_defined,
    leaves,
    parsed,
    results,
    samples,
    tensors,
)
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import DType
from tracegrad.errors import NotSupportedError


def is_differentiable(operator: OpDef) -> bool:
    """Return whether an operand has a derivative that is stated to exist."""
    if operator.body is not None:
        sample = samples(operator)[0]
        found = results(call(operator, tensors(sample), sample.attributes))
        return any(r.dtype.kind in ("float", "complex") for r in found)
    kinds = {rule.kind for rule in operator.vjp_rules.values()}
    return bool(kinds - {"none"}) and not operator.is_random


def gradient_dtypes(operator: OpDef) -> list[DType]:
    """Return the dtypes in which derivatives are checked."""
    wanted = [tg.float64, tg.complex128]
    return [d for d in wanted if is_defined(operator, d)]


def _loss(operator: OpDef, operands: list[Any], sample: Sample) -> Any:
    """Return a real number made of the results."""
    rng = np.random.default_rng(7)
    total: Any = None
    for result in results(call(operator, operands, sample.attributes)):
        if result.dtype.kind not in ("float", "complex"):
            continue
        weight = rng.uniform(0.5, 1.5, result._array.shape)
        if result.is_complex():
            weight = weight + 1j * rng.uniform(0.5, 1.5, result._array.shape)
        part = (result * wrap(weight.astype(result._array.dtype))).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    return total


def _gradients(
    operator: OpDef, sample: Sample, create_graph: bool = False
) -> tuple[list[Tensor], list[Any]]:
    operands = tensors(sample, requires_grad=True)
    wanted = leaves(operands)
    loss = _loss(operator, operands, sample)
    if loss is None or not loss.requires_grad:
        return wanted, [None for _ in wanted]
    found = tg.autograd.grad(loss, wanted, create_graph=create_graph, allow_unused=True)
    return wanted, list(found)


def numeric_gradient(function: Callable[[], float], array: Any) -> Any:
    """Return the gradient of `function` by an array, by central differences."""
    gradient = np.zeros_like(array)
    step = 1e-6
    directions = (1.0, 1j) if array.dtype.kind == "c" else (1.0,)
    for place in np.ndindex(array.shape):
        before = array[place]
        for direction in directions:
            array[place] = before + step * direction
            above = function()
            array[place] = before - step * direction
            below = function()
            gradient[place] += direction * (above - below) / (2 * step)
        array[place] = before
    return gradient


def check_vjp(operator: OpDef) -> None:
    """Gradients are those of finite differences, in the operand's shape and dtype."""
    for dtype in gradient_dtypes(operator):
        for sample in samples(operator, dtype):
            sample = sample.mapped(np.copy)
            wanted, found = _gradients(operator, sample)
            for leaf, gradient in zip(wanted, found, strict=True):
                expected = numeric_gradient(
                    lambda s=sample: float(_loss(operator, tensors(s), s).item()),
                    leaf._array,
                )
                _check_gradient(operator, leaf, gradient, expected)


def _check_gradient(
    operator: OpDef, leaf: Tensor, gradient: Tensor | None, expected: Any
) -> None:
    if gradient is None:
        np.testing.assert_allclose(expected, 0, atol=1e-7)
        return
    assert gradient._array.shape == leaf._array.shape, operator.name
    assert gradient.dtype is leaf.dtype, operator.name
    np.testing.assert_allclose(gradient._array, expected, rtol=2e-6, atol=2e-8)


def push(
    operator: OpDef,
    operands: tuple[Any, ...],
    tangents: list[Any],
    attributes: dict[str, Any],
) -> list[Any]:
    """Return the results' tangents by the operator's JVP rules, None where it is 0."""
    total: list[Any] | None = None
    for index, tangent in enumerate(tangents):
        if tangent is None:
            continue
        part = results(_pushed(operator, index, operands, tangent, attributes))
        if total is None:
            total = part
            continue
        pairs = zip(total, part, strict=True)
        total = [a + b for a, b in pairs]
    assert total is not None
    return total


def _pushed(
    operator: OpDef,
    index: int,
    operands: tuple[Any, ...],
    tangent: Any,
    attributes: dict[str, Any],
) -> Any:
    name = operator.operands[index].name
    if name in operator.linear_in:
        mixed = [*operands[:index], tangent, *operands[index + 1 :]]
        return operator.apply(mixed, attributes)
    values = dict(attributes)
    for operand, value in zip(operator.operands, operands, strict=True):
        values[operand.name] = value
        values[operand.name + "_spec"] = _shape_and_dtype(value)
    result = operator.apply(operands, attributes)
    values["out"] = result[0] if isinstance(result, tuple) else result
    values["outs"] = result
    return operator.jvp_rules[name].push(tangent, values)


def _shape_and_dtype(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_shape_and_dtype, value))
    return (
        (value._array.shape, value._array.dtype) if isinstance(value, Tensor) else None
    )


def has_jvp(operator: OpDef) -> bool:
    """Return whether each operand that has a VJP has a JVP too."""
    stated = {*operator.linear_in, *operator.jvp_rules}
    return set(operator.vjp_rules) <= stated


def check_jvp(operator: OpDef) -> None:
    """The JVP is the directional derivative by finite differences."""
    assert has_jvp(operator), f"{operator.name}: some operand has a VJP and no JVP"
    for dtype in gradient_dtypes(operator):
        for sample in samples(operator, dtype):
            _check_one_jvp(operator, sample.mapped(np.copy))


def _check_one_jvp(operator: OpDef, sample: Sample) -> None:
    rng = np.random.default_rng(3)
    operands, attributes = parsed(operator, tensors(sample), sample.attributes)
    tangents = [
        _tangent(o, rng) if p.name in operator.vjp_rules else None
        for p, o in zip(operator.operands, operands, strict=True)
    ]
    if all(t is None for t in tangents):
        return
    found = push(operator, operands, tangents, attributes)
    step = 1e-6
    moved = [
        arrays(operator.apply(_moved(operands, tangents, s * step), attributes))
        for s in (1, -1)
    ]
    for tangent, above, below in zip(found, *moved, strict=True):
        if above.dtype.kind not in "fc":
            continue
        expected = (above - below) / (2 * step)
        spread = np.broadcast_to(_array_of(tangent), expected.shape)
        np.testing.assert_allclose(spread, expected, rtol=2e-6, atol=2e-8)


def _array_of(tangent: Any) -> Any:
    return np.zeros(()) if tangent is None else tangent._array


def _moved(operands: tuple[Any, ...], tangents: list[Any], step: float) -> list[Any]:
    return [
        o if t is None else _plus(o, t, step)
        for o, t in zip(operands, tangents, strict=True)
    ]


def _plus(operand: Any, tangent: Any, step: float) -> Any:
    if isinstance(operand, tuple):
        pairs = zip(operand, tangent, strict=True)
        return tuple(_plus(o, t, step) for o, t in pairs)
    return wrap(operand._array + step * tangent._array)


def _tangent(operand: Any, rng: np.random.Generator) -> Any:
    if isinstance(operand, tuple):
        parts = tuple(_tangent(part, rng) for part in operand)
        return None if any(part is None for part in parts) else parts
    if not isinstance(operand, Tensor) or operand.dtype.kind not in (
        "float",
        "complex",
    ):
        return None
    values = rng.uniform(0.5, 1.5, operand._array.shape)
    if operand.is_complex():
        values = values + 1j * rng.uniform(0.5, 1.5, operand._array.shape)
    return wrap(values.astype(operand._array.dtype))


def check_second(operator: OpDef) -> None:
    """Gradients of gradients are those of finite differences of gradients."""
    for dtype in gradient_dtypes(operator):
        for sample in samples(operator, dtype):
            _check_one_second(operator, sample.mapped(np.copy))


def _projection(gradients: list[Any]) -> Any:
    """Return a real number made of gradients."""
    rng = np.random.default_rng(11)
    total: Any = None
    for gradient in gradients:
        if gradient is None:
            continue
        weight = rng.uniform(0.5, 1.5, gradient._array.shape)
        part = (gradient * wrap(weight.astype(gradient._array.dtype))).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    return total


def _check_one_second(operator: OpDef, sample: Sample) -> None:
    wanted, first = _gradients(operator, sample, create_graph=True)
    projection = _projection(first)
    if projection is None:
        return
    second: Any = [None for _ in wanted]
    if projection.requires_grad:
        second = tg.autograd.grad(projection, wanted, allow_unused=True)

    def project() -> float:
        return float(_projection(_gradients(operator, sample)[1]).item())

    for leaf, gradient in zip(wanted, second, strict=True):
        expected = numeric_gradient(project, leaf._array)
        _check_gradient(operator, leaf, gradient, expected)


def check_saved(operator: OpDef) -> None:
    """Backward keeps exactly what the rules of the tracked operands name."""
    for sample in samples(operator, gradient_dtypes(operator)[0]):
        given, attributes = parsed(operator, tensors(sample), sample.attributes)
        for index, operand in enumerate(operator.operands):
            if operand.name in operator.vjp_rules and _is_float(given[index]):
                _check_one_saved(operator, index, given, attributes)


def _check_one_saved(
    operator: OpDef, index: int, given: tuple[Any, ...], attributes: dict[str, Any]
) -> None:
    tracked = list(given)
    tracked[index] = wrap(given[index]._array).requires_grad_()
    entry = results(operator.apply(tracked, attributes))[0].grad_fn
    if entry is None or getattr(entry, "plan", None) is None:
        return
    named = set(operator.vjp_rules[operator.operands[index].name].names)
    kept = [
        o.name
        for o, value in zip(operator.operands, tracked, strict=True)
        if o.name in named and isinstance(value, Tensor | tuple)
    ]
    assert len(entry.saved) == len(kept) + ("out" in named)


def _is_float(operand: Any) -> bool:
    return isinstance(operand, Tensor) and operand.dtype.kind == "float"


def check_gradient_dtypes(operator: OpDef) -> None:
    """Every operand's gradient has its dtype and shape, also after broadcasting."""
    facts = operator.facts["pointwise"]
    rng = generator(operator)
    (base,) = pointwise_samples(operator, tg.float64)
    for index, name in enumerate(facts.names):
        for dtype in (tg.float16, tg.float32, tg.float64):
            rule = operator.vjp_rules.get(name)
            if rule is None or rule.kind == "none" or not is_defined(operator, dtype):
                continue
            small = drawn(operator, name, dtype, rng, (1, 4))
            if small.dtype.kind != "f":
                continue
            operands = tensors(with_operand(base, index, small))
            operands[index].requires_grad_()
            if not _accepts(operator, operands):
                continue
            result = call(operator, operands, base.attributes)
            if not result.requires_grad:
                continue
            try:
                (gradient,) = tg.autograd.grad(
                    result, operands[index], wrap(np.ones_like(result._array))
                )
            except NotSupportedError:
                # A derivative that is stated to be none.
                continue
            assert gradient.dtype is dtype
            assert gradient.shape == (1, 4)
            assert math.isfinite(float(np.abs(gradient._array).max()))


def _accepts(operator: OpDef, operands: list[Any]) -> bool:
    try:
        operator.abstract(
            *map(spec_of_operand, operands),
            **{p.name: p.default for p in operator.attributes},
        )
    except tg.errors.DTypeError:
        return False
    return True
