"""Forward mode: tangents travel with the operators, one level per use.

The rules are the operators' own JVPs; an operator that is linear in an operand is
its own JVP by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from tracegrad.autograd.side_table import LevelTransform
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.inplace import write
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.rules import Rule
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import GradientError, NotSupportedError
from tracegrad.ops.shaping import zeros_of

_DIFFERENTIABLE = ("float", "complex")


@final
class ForwardTransform(LevelTransform):
    """One level of forward mode; its values are tangents."""

    def bind(
        self, operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """Apply the operator, and push the operands' tangents through it."""
        tangents = [self._tangent_of(operand) for operand in operands]
        if all(t is None for t in tangents):
            return bind(operator, operands, attributes)
        if operator.body is not None and not operator.jvp_rules:
            with self.active():
                return operator.body(*operands, **attributes)
        result = bind(operator, operands, attributes)
        pushed = _push(operator, operands, attributes, tangents, result)
        results = result if isinstance(result, tuple) else (result,)
        for tensor, tangent in zip(results, pushed, strict=True):
            if tangent is not None and tensor.dtype.kind in _DIFFERENTIABLE:
                self.keep(tensor, _like(tangent, tensor))
        return result

    def _tangent_of(self, operand: Any) -> Any:
        if isinstance(operand, Tensor):
            return self.value_of(operand)
        if operand.__class__ is tuple:
            found = tuple(self._tangent_of(o) for o in operand)
            return None if all(t is None for t in found) else found
        return None

    def write(self, target: Tensor, value: Tensor) -> None:
        """Let the tangent of `target` follow a write."""
        self.note_write(target, value)
        write(target, value)

    def written(self, base: Tensor, value: Tensor, path: tuple[Any, ...]) -> Any:
        """Return the base's tangent after a write."""
        tangent = self.value_of(value)
        if not path:
            return tangent
        before = self.value_of(base)
        spec = (base._array.shape, base._array.dtype)
        old = zeros_of(spec, base) if before is None else before
        new = zeros_of((value._array.shape, value._array.dtype), value)
        return OPERATORS["view_write"](old, new if tangent is None else tangent, path)

    def call(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Apply a `Function`, by its ``jvp``."""
        tangents = tuple(self._tangent_of(a) for a in args)
        output, ctx = function.run_with_context(args)
        if all(t is None for t in tangents):
            return output
        found = function.jvp(ctx, *tangents)
        outputs = output if isinstance(output, tuple) else (output,)
        pushed = found if isinstance(found, tuple) else (found,)
        for tensor, tangent in zip(outputs, pushed, strict=True):
            if tangent is not None and isinstance(tensor, Tensor):
                self.keep(tensor, tangent)
        return output


def _like(tangent: Tensor, result: Tensor) -> Tensor:
    """Return a tangent with its result's shape and dtype."""
    shape = result._array.shape
    if tangent._array.shape != shape:
        tangent = OPERATORS["expand"](tangent, *shape)
    if tangent.dtype is not result.dtype:
        tangent = OPERATORS["cast"](tangent, result.dtype)
    return tangent


def _push(
    operator: OpDef,
    operands: tuple[Any, ...],
    attributes: dict[str, Any],
    tangents: Sequence[Any],
    result: Any,
) -> list[Any]:
    """Return the tangents of an operator's results, None where there is none."""
    several = isinstance(result, tuple)
    totals: list[Any] = [None] * (len(result) if several else 1)
    values: dict[str, Any] | None = None
    for index, (operand, tangent) in enumerate(
        zip(operator.operands, tangents, strict=True)
    ):
        if tangent is None:
            continue
        rule = operator.jvp_rules.get(operand.name)
        if operand.name in operator.linear_in:
            found = _push_linear(operator, operands, attributes, index, tangent)
        elif rule is None:
            _check_constant(operator, result)
            continue
        else:
            if values is None:
                values = rule_values(operator, operands, attributes, result)
            found = _push_by_rule(rule, tangent, values)
        for place, part in enumerate(found if isinstance(found, tuple) else (found,)):
            if part is not None:
                before = totals[place]
                totals[place] = part if before is None else before + part
    return totals


def _push_by_rule(rule: Rule, tangent: Any, values: dict[str, Any]) -> Any:
    return rule.push(tangent, values)


def _push_linear(
    operator: OpDef,
    operands: tuple[Any, ...],
    attributes: dict[str, Any],
    index: int,
    tangent: Any,
) -> Any:
    """Return the operator's result with the tangent in an operand's place."""
    operand = operands[index]
    if isinstance(tangent, tuple):
        tangent = tuple(
            zeros_of((o._array.shape, o._array.dtype), o) if t is None else t
            for o, t in zip(operand, tangent, strict=True)
        )
    if operator.is_view:
        return _push_view(operator, attributes, tangent)
    mixed = (*operands[:index], tangent, *operands[index + 1 :])
    return bind(operator, mixed, attributes)


def _push_view(operator: OpDef, attributes: dict[str, Any], tangent: Tensor) -> Any:
    """Return the part of a tangent that a view reaches, whatever its strides are."""
    logical = operator.facts.get("logical")
    if logical is not None:
        return logical["call"](tangent, **attributes)
    return bind(operator, (tangent.contiguous(),), attributes)


def rule_values(
    operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any], result: Any
) -> dict[str, Any]:
    """Return by name what an operator's rules may ask for."""
    values = dict(attributes)
    for operand, value in zip(operator.operands, operands, strict=True):
        values[operand.name] = value
        values[operand.name + "_spec"] = _spec(value)
    values["out"] = result[0] if isinstance(result, tuple) else result
    values["outs"] = result
    return values


def _spec(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array.shape, value._array.dtype
    return tuple(map(_spec, value)) if isinstance(value, tuple) else None


def _check_constant(operator: OpDef, result: Any) -> None:
    """Refuse an operator that has a derivative, but not in forward mode."""
    if not operator.vjp_rules:
        return
    kinds = [t.dtype.kind for t in (result if isinstance(result, tuple) else (result,))]
    if any(kind in _DIFFERENTIABLE for kind in kinds):
        raise NotSupportedError(
            f"{operator.name} has no forward-mode derivative; use reverse mode (vjp)"
        )


def fresh(tensor: Tensor) -> Tensor:
    """Return another object with the same memory, version and gradient path.

    A level marks it, so that the same tensor captured by the function is not marked.
    """
    result: Tensor = bind(OPERATORS["marked"], (tensor,), {})
    return result


def push_forward(
    func: Callable[..., Any], inputs: Sequence[Any], tangents: dict[int, Tensor]
) -> tuple[Any, ForwardTransform]:
    """Run `func` with tangents for some inputs; ask the level for the results'.

    Raises
    ------
    GradientError
        If a tangent does not have its input's shape and dtype.
    """
    level = ForwardTransform()
    args = list(inputs)
    for place, tangent in tangents.items():
        primal = inputs[place]
        if tangent._array.shape != primal._array.shape:
            raise GradientError(
                f"the tangent has shape {list(tangent.shape)}, its primal "
                f"{list(primal.shape)}"
            )
        args[place] = fresh(primal)
        level.keep(args[place], _like(tangent, primal))
    with level.active():
        return func(*args), level
