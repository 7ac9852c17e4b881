"""Each operator of the registry under vmap, alone and differentiated, is a loop."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.ops import checks, derivative_checks, samples
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.func import grad, jvp, vmap
from tracegrad.func.trees import flatten

NAMES = [
    name
    for name in samples.tested()
    if any(operand.kind != "state" for operand in OPERATORS[name].operands)
    and not OPERATORS[name].is_random
    and not OPERATORS[name].facts.get("dynamic_size")
]
DIFFERENTIABLE = [
    name
    for name in NAMES
    if derivative_checks.is_differentiable(OPERATORS[name])
    and derivative_checks.gradient_dtypes(OPERATORS[name])
]
SIZE = 3


def _over(names: list[str]) -> Callable[[Any], Any]:
    return pytest.mark.parametrize("operator", [OPERATORS[n] for n in names], ids=names)


def batch_of(tensor: Tensor) -> Tensor:
    """Return three examples of which the second is the first turned around."""
    array = tensor.numpy()
    turned = array[::-1] if array.ndim else array
    return tg.tensor(np.stack([array, turned, array]))


def ways(count: int) -> list[tuple[bool, ...]]:
    """Return which tensors are batched: all, or one of them."""
    single = [tuple(i == j for j in range(count)) for i in range(count)]
    return list(dict.fromkeys([(True,) * count, *single]))


class Program:
    """An operator applied to one sample, as a function of the sample's tensors."""

    def __init__(self, operator: OpDef, sample: samples.Sample) -> None:
        self.operator = operator
        self.attributes = sample.attributes
        operands = samples.tensors(sample)
        self.leaves, self.build = flatten(operands)
        self.places = [i for i, x in enumerate(self.leaves) if isinstance(x, Tensor)]
        self.tensors = [self.leaves[i] for i in self.places]

    def __call__(self, *tensors: Any) -> Any:
        filled = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            filled[place] = tensor
        return samples.call(self.operator, self.build(filled), dict(self.attributes))

    def loss(self, *tensors: Any) -> Any:
        """Return one number that depends on every floating result."""
        weighted = []
        for part in samples.results(self(*tensors)):
            weights = tg.arange(1.0, part.numel() + 1).reshape(part.shape)
            if part.is_complex():
                weighted += [(part.real * weights).sum(), (part.imag * weights).sum()]
            elif part.is_floating_point():
                weighted.append((part * weights).sum())
        return sum(weighted[1:], weighted[0])


def examples(program: Program, flags: tuple[bool, ...]) -> list[list[Any]]:
    """Return the arguments of each example."""
    batches = [batch_of(t) for t in program.tensors]
    return [
        [
            b[place] if f else t
            for b, t, f in zip(batches, program.tensors, flags, strict=True)
        ]
        for place in range(SIZE)
    ]


def check(
    program: Program, function: Callable[..., Any], flags: tuple[bool, ...]
) -> None:
    """Compare `function` under vmap with a loop."""
    given = [
        batch_of(t) if f else t for t, f in zip(program.tensors, flags, strict=True)
    ]
    together = vmap(function, in_dims=tuple(0 if f else None for f in flags))(*given)
    alone = [samples.results(function(*args)) for args in examples(program, flags)]
    for whole, parts in zip(
        samples.results(together), zip(*alone, strict=True), strict=True
    ):
        expected = np.stack([part.numpy() for part in parts])
        assert whole.dtype is parts[0].dtype
        np.testing.assert_allclose(whole.numpy(), expected, 1e-9, 1e-12)


def test_views_have_rules_for_a_write_into_a_copy_would_be_lost() -> None:
    views = {name for name, operator in OPERATORS.items() if operator.is_view}
    without = {name for name in views if OPERATORS[name].batch is None}
    assert without == {"as_strided"}


@_over(NAMES)
def test_vmap(operator: OpDef) -> None:
    for sample in samples.samples(operator, checks.value_dtype(operator)):
        program = Program(operator, sample)
        for flags in ways(len(program.tensors)):
            check(program, program, flags)


def _differentiable_samples(operator: OpDef) -> list[samples.Sample]:
    return samples.samples(operator, derivative_checks.gradient_dtypes(operator)[0])


def _by_first_float(program: Program) -> int | None:
    kinds = ("float", "complex")
    floats = [i for i, t in enumerate(program.tensors) if t.dtype.kind in kinds]
    return floats[0] if floats else None


@_over(DIFFERENTIABLE)
def test_vmap_of_grad(operator: OpDef) -> None:
    for sample in itertools.islice(_differentiable_samples(operator), 2):
        program = Program(operator, sample)
        place = _by_first_float(program)
        if place is None:
            continue
        for flags in ways(len(program.tensors)):
            check(program, grad(program.loss, argnums=place), flags)


@_over(DIFFERENTIABLE)
def test_jvp_is_the_transpose_of_grad(operator: OpDef) -> None:
    for sample in _differentiable_samples(operator):
        program = Program(operator, sample)
        place = _by_first_float(program)
        if place is None:
            continue
        point = program.tensors
        direction = tg.tensor(np.cos(np.arange(point[place].numel()))).reshape(
            point[place].shape
        )

        def of_one(x: Any, program: Program = program, place: int = place) -> Any:
            args = list(program.tensors)
            args[place] = x
            return program.loss(*args)

        pushed = jvp(of_one, (point[place],), (direction,))[1]
        pulled = (grad(of_one)(point[place]).conj() * direction).sum()
        np.testing.assert_allclose(pushed.item(), pulled.item().real, 1e-9, 1e-9)
