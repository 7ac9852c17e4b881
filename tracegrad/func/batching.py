"""How operators apply to a whole batch: by family, by own rule, else one by one.

Every rule gets its operands with the batch dimension first (those that are batched)
and gives its results so. Nothing here knows which transform is outside: the rules are
written with operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.dispatch.bind import abstract_composite, bind
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.dtypes import DType
from tracegrad.errors import TransformError
from tracegrad.ops._pointwise import Pointwise, typed_spec
from tracegrad.ops.batching import Call, aligned, expanded, state_rules
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec

# All operators are defined by now, and nobody else needs the rules.
state_rules()


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """A batch's result(s), and whether a view result really shares memory."""

    results: Any
    shares: bool


def apply_batched(operator: OpDef, call: Call) -> Outcome:
    """Apply `operator` to a batch."""
    if operator.facts.get("dynamic_size"):
        raise TransformError(
            f"{operator.name} gives results of a size that depends on the data, which "
            "differs from example to example; it is not possible inside vmap"
        )
    if operator.family == "pointwise":
        return Outcome(_pointwise(operator, call), False)
    if operator.family in ("reduction", "scan"):
        return Outcome(_along_dims(operator, call), False)
    if operator.batch is not None:
        found = operator.batch(call)
        if found is not NotImplemented:
            return Outcome(found, True)
    return Outcome(one_by_one(operator, call), False)


def _pointwise(operator: OpDef, call: Call) -> Any:
    """Line the batch dimensions up; an example without dimensions promotes as such."""
    rank = max(len(spec.shape) for spec in call.specs if spec is not None)
    operands = list(call.operands)
    dtypes = _computed_dtypes(operator, call)
    for index, spec in enumerate(call.specs):
        if spec is None or not call.batched[index]:
            continue
        operand = operands[index]
        if not spec.shape and dtypes is not None and dtypes[index] is not spec.dtype:
            operand = OPERATORS["cast"](operand, dtypes[index])
        operands[index] = aligned(operand, len(spec.shape), rank)
    return bind(operator, operands, call.attributes)


def _computed_dtypes(operator: OpDef, call: Call) -> Sequence[DType] | None:
    """Return the operands' compute dtypes, where hidden dimensions could change them.

    An example without dimensions has less weight in promotion than a vector, which
    its batch is.
    """
    specs = [spec for spec in call.specs if spec is not None]
    if len({spec.dtype for spec in specs}) < 2 or all(spec.shape for spec in specs):
        return None
    typed = tuple(
        typed_spec(operand if spec is None else spec)
        for operand, spec in zip(call.operands, call.specs, strict=True)
    )
    facts: Pointwise = operator.facts["pointwise"]
    return facts.types(operator.name, typed, call.attributes.get("dtype"))[0]


def _along_dims(operator: OpDef, call: Call) -> Any:
    """Fold or scan the same dimensions, one place further on."""
    dim = call.attributes["dim"]
    rank = max(len(spec.shape) for spec in call.specs if spec is not None)
    operands = [
        expanded(o, call, i) if isinstance(o, Tensor) else o
        for i, o in enumerate(call.operands)
    ]
    if rank == 0:
        operands = [OPERATORS["unsqueeze"](o, 1) for o in operands]
    moved = tuple(d + 1 for d in dim) if isinstance(dim, tuple) else dim + 1
    results = bind(operator, operands, call.attributes | {"dim": moved})
    if rank:
        return results
    several = results if isinstance(results, tuple) else (results,)
    squeezed = tuple(OPERATORS["squeeze"](r, 1) if r.ndim > 1 else r for r in several)
    return squeezed if isinstance(results, tuple) else squeezed[0]


def one_by_one(operator: OpDef, call: Call) -> Any:
    """Apply the operator to each example and stack the results."""
    if call.size == 0:
        return _no_examples(operator, call)
    found = [
        bind(operator, call.example(place), call.attributes)
        for place in range(call.size)
    ]
    if isinstance(found[0], tuple):
        return tuple(stacked(operator, parts) for parts in zip(*found, strict=True))
    return stacked(operator, found)


def stacked(operator: OpDef, parts: Sequence[Any]) -> Any:
    """Return tensors of one shape as a batch.

    Raises
    ------
    TransformError
        If their shapes differ.
    """
    if len({tuple(part._array.shape) for part in parts}) > 1:
        raise TransformError(
            f"{operator.name} gives results of different shapes for the examples of a "
            "batch; it is not possible inside vmap"
        )
    return OPERATORS["stack"](list(parts), 0)


def _no_examples(operator: OpDef, call: Call) -> Any:
    specs = tuple(
        spec if spec is not None else operand
        for spec, operand in zip(call.specs, call.operands, strict=True)
    )
    if operator.body is not None:
        found = abstract_composite(operator, specs, call.attributes)
    else:
        found = operator.abstract(*specs, **call.attributes)
    if isinstance(found, tuple):
        return tuple(_empty((0, *spec.shape), spec) for spec in found)
    return _empty((0, *found.shape), found)


def _empty(shape: Shape, spec: TensorSpec) -> Any:
    return OPERATORS["full"](shape, 0, spec.dtype, spec.device)


def specs_of(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Return the operands' visible specs, None for what is no tensor."""
    return tuple(_spec(operand) for operand in operands)


def _spec(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return spec_of(operand)
    if isinstance(operand, tuple):
        return tuple(map(_spec, operand))
    return None
