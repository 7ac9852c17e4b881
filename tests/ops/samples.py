"""What an operator is tested on: arrays drawn from what its definition says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.arguments import parse
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import ALL, DType
from tracegrad.ops._pointwise import text_for

SHAPE = (3, 4)


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """Operands as NumPy arrays (or numbers, None, lists of arrays) and attributes."""

    operands: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)

    def mapped(self, function: Callable[[Any], Any]) -> "Sample":
        """Return the sample with a function applied to each array."""
        return Sample(
            tuple(_mapped(o, function) for o in self.operands), self.attributes
        )


def _mapped(operand: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(operand, list | tuple):
        return type(operand)(_mapped(part, function) for part in operand)
    return function(operand) if isinstance(operand, np.ndarray) else operand


def generator(operator: OpDef) -> np.random.Generator:
    """Return random numbers that depend on the operator alone."""
    return np.random.default_rng(list(operator.name.encode()))


def samples(operator: OpDef, dtype: DType = tg.float64) -> list[Sample]:
    """Return samples of an operator with float operands in `dtype`.

    Raises
    ------
    AssertionError
        If the definition does not say what to test it on.
    """
    rng = generator(operator)
    if operator.examples is not None:
        given = [Sample(tuple(a), dict(k)) for a, k in operator.examples(rng)]
        return [s.mapped(lambda a: _floats_as(a, dtype, rng)) for s in given]
    facts = operator.facts.get("pointwise")
    assert facts is not None, (
        f"{operator.name}: the definition states neither `domain` nor `examples`"
    )
    return [Sample(tuple(drawn(operator, name, dtype, rng) for name in facts.names))]


def _floats_as(array: Any, dtype: DType, rng: np.random.Generator) -> Any:
    if array.dtype.kind != "f":
        return array
    if dtype.kind == "complex":
        array = array + 1j * rng.uniform(-0.5, 0.5, array.shape)
    return array.astype(dtype.numpy)


def drawn(
    operator: OpDef,
    name: str,
    dtype: DType,
    rng: np.random.Generator,
    shape: tuple[int, ...] = SHAPE,
) -> Any:
    """Return an array for one operand of a pointwise operator."""
    facts = operator.facts["pointwise"]
    if name == "condition":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "int":
        return rng.integers(1, 4, shape).astype(dtype.numpy)
    domain = facts.domain
    low, high = domain[name] if isinstance(domain, dict) else domain
    values = rng.uniform(low, high, shape)
    # Away from 0, where kinks are, without leaving the domain.
    values = np.where(np.abs(values) < 0.05, high / 2, values)
    if dtype.kind == "complex":
        values = values + 1j * rng.uniform(0.1, 0.5, shape)
    return np.asarray(values, dtype.numpy)


def is_defined(operator: OpDef, dtype: DType) -> bool:
    """Return whether the operator takes operands that are all of `dtype`."""
    facts = operator.facts.get("pointwise")
    if facts is None:
        taken = operator.facts.get("takes")
        return dtype.kind == "float" and (taken is None or dtype in taken)
    count = len(facts.names)
    if facts.names[0] == "condition":
        return True
    try:
        types, _ = facts.types(operator.name, ((dtype, 2),) * count, dtype)
    except tg.errors.DTypeError:
        return False
    return text_for(facts.numpy, types[-1]) is not None


def dtypes_of(operator: OpDef) -> Iterator[DType]:
    """Yield the dtypes that an operator takes; bfloat16 needs ml_dtypes."""
    for dtype in ALL:
        if dtype is tg.bfloat16 and not _has_bfloat16():
            continue
        if is_defined(operator, dtype):
            yield dtype


def _has_bfloat16() -> bool:
    try:
        return tg.bfloat16.numpy is not None
    except tg.errors.DTypeError:
        return False


def tensors(sample: Sample, requires_grad: bool = False) -> list[Any]:
    """Return the operands as Tensors that hold the arrays themselves."""

    def as_tensor(array: Any) -> Tensor:
        tensor = wrap(array)
        if requires_grad and array.dtype.kind in "fc":
            tensor.requires_grad_()
        return tensor

    return list(sample.mapped(as_tensor).operands)


def leaves(operands: Any) -> list[Tensor]:
    """Return the tensors among operands that require grad."""
    if isinstance(operands, list | tuple):
        return [leaf for operand in operands for leaf in leaves(operand)]
    is_leaf = isinstance(operands, Tensor) and operands.requires_grad
    return [operands] if is_leaf else []


def parsed(
    operator: OpDef, operands: list[Any], attributes: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return operands and canonical attributes, as a node of a graph has them."""
    return parse(operator, tuple(operands), attributes)


def call(operator: OpDef, operands: list[Any], attributes: dict[str, Any]) -> Any:
    """Apply the operator as its definition's function is called."""
    return operator.call(*operands, **attributes)


def results(value: Any) -> list[Tensor]:
    """Return the result(s) as a list."""
    return list(value) if isinstance(value, tuple) else [value]


def arrays(value: Any) -> list[Any]:
    """Return the result(s) as arrays."""
    return [t._array for t in results(value)]


def tested() -> list[str]:
    """Return the names of the operators that say what to test them on."""
    return sorted(
        name
        for name, operator in OPERATORS.items()
        if operator.examples is not None or "pointwise" in operator.facts
    )
