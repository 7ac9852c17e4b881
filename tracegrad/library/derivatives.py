"""The derivative that a user registered, on the tape, in transforms and in graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import tracegrad as tg
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.rules import Rule, none
from tracegrad.dispatch.state import no_tape, thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import GradientError
from tracegrad.library.calls import Form
from tracegrad.library.schema import Schema
from tracegrad.ops.shaping import fit


class Definition(Protocol):
    """What this module asks of a custom operator."""

    name: str
    schema: Schema
    operator: OpDef
    backward: Callable[..., Any] | None
    setup_context: Callable[..., Any] | None
    vmap: Callable[..., Any] | None

    def operands_of(
        self, values: Sequence[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return operands and attributes of the functional operator."""


def function_for(definition: Definition) -> type[Any]:
    """Return the autograd Function of a custom operator.

    Its arguments are the form of a call and then the tensors.
    """

    def forward(form: Form, *tensors: Any) -> Any:
        operands, attributes = definition.operands_of(form.fill(tensors))
        return bind(definition.operator, operands, attributes)

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        form, *tensors = inputs
        ctx.form = form
        whole = form.fill(list(ctx.needs_input_grad[1:]))
        ctx.needs_input_grad = tuple(
            value if argument.is_tensor and value is not None else False
            for argument, value in zip(form.schema.arguments, whole, strict=True)
            if not argument.keyword_only
        )
        set_up(definition, ctx, form, tensors, output)

    def backward(ctx: Any, *cts: Any) -> tuple[Any, ...]:
        return (None, *pulled(definition, ctx, ctx.form, cts))

    members: dict[str, Any] = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward),
        "operator": definition.operator,
    }
    if definition.vmap is not None:
        members["vmap"] = staticmethod(_vmap_for(definition))
    name = "Custom_" + definition.name.replace("::", "_")
    return type(name, (tg.autograd.Function,), members)


def _vmap_for(definition: Definition) -> Callable[..., Any]:
    def vmap(info: Any, in_dims: Any, form: Form, *tensors: Any) -> Any:
        return batched(definition, info, in_dims[1:], form, tensors)

    return vmap


def batched(
    definition: Definition, info: Any, dims: Sequence[Any], form: Form, tensors: Any
) -> Any:
    """Apply the user's rule for a batch; return results and their dimensions."""
    positional, keywords = form.for_user(tensors)
    places = tuple(
        (list(dim) if isinstance(dim, tuple) else dim) if argument.is_tensor else None
        for argument, dim in zip(form.schema.arguments, form.fill(dims), strict=True)
        if not argument.keyword_only
    )
    assert definition.vmap is not None
    results, out_dims = definition.vmap(info, places, *positional, **keywords)
    if isinstance(results, list):
        results = tuple(results)
    if isinstance(out_dims, list):
        out_dims = tuple(out_dims)
    return results, out_dims


def set_up(
    definition: Definition, ctx: Any, form: Form, tensors: Sequence[Any], output: Any
) -> None:
    """Call the user's ``setup_context``, if there is one."""
    if definition.setup_context is None:
        return
    positional, keywords = form.for_user(tensors)
    if definition.schema.gives_list:
        output = list(output)
    arguments = {"ctx": ctx, "inputs": positional, "output": output}
    if any(argument.keyword_only for argument in form.schema.arguments):
        arguments["keyword_only_inputs"] = keywords
    definition.setup_context(**arguments)


def pulled(
    definition: Definition, ctx: Any, form: Form, cts: Sequence[Any]
) -> list[Any]:
    """Return the gradients of the tensors, by the user's ``backward``.

    Raises
    ------
    GradientError
        If none is registered, or it gives too few gradients.
    """
    backward = definition.backward
    if backward is None:
        raise GradientError(no_formula(definition.name))
    if thread.recorder is not None:
        backward = thread.recorder.vouched(backward)
    found = (
        backward(ctx, list(cts))
        if definition.schema.gives_list
        else backward(ctx, *cts)
    )
    parts = found if isinstance(found, tuple) else (found,)
    wanted = sum(not a.keyword_only for a in form.schema.arguments)
    if len(parts) < wanted or any(p is not None for p in parts[wanted:]):
        raise GradientError(
            f"the backward of {definition.name} gave {len(parts)} gradients; the "
            f"operator has {wanted} arguments"
        )
    return form.per_tensor(parts)


def no_formula(name: str) -> str:
    """Return what backward through an operator without a derivative says."""
    return (
        f"backward goes through {name}, which has no derivative; state one with "
        "register_autograd"
    )


@final
class _GraphCtx:
    """What setup_context fills where a graph is differentiated: all is kept."""

    def __init__(self, needed: tuple[Any, ...]) -> None:
        self.needs_input_grad = needed
        self.saved_tensors: tuple[Any, ...] = ()
        self.materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward."""
        self.saved_tensors = tensors

    save_for_forward = save_for_backward

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Do nothing: a graph knows by the dtype."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Do nothing: a custom operator declares what it writes."""

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether backward gets zeros, or None, for results without gradient."""
        self.materialize = value


def state_rules(definition: Definition) -> None:
    """State the derivative as rules of the operator, which graphs are derived by."""
    operator = definition.operator
    operator._plans.clear()
    operator.facts["formula"] = definition.backward is not None
    if definition.backward is None or definition.schema.written:
        reason = no_formula(definition.name)
        rules = {p.name: none(reason) for p in operator.operands}
    else:
        rules = {p.name: _rule(definition, p.name) for p in operator.operands}
    operator.vjp_rules.update(rules)


def _rule(definition: Definition, operand: str) -> Rule:
    operator, schema = definition.operator, definition.schema
    given = [p.name for p in operator.operands] + [p.name for p in operator.attributes]
    results = (
        [] if schema.gives_list else ["outs" if len(schema.returns) > 1 else "out"]
    )

    def pull(cts: Any, *arguments: Any) -> Any:
        named = dict(zip(given, arguments[: len(given)], strict=True))
        values = tuple(named[argument.name] for argument in schema.arguments)
        form, tensors = Form.of(schema, values)
        outs = arguments[-1] if results else _again(definition, values)
        several = tuple(outs) if isinstance(outs, tuple) else (outs,)
        ctx = _GraphCtx(_all_needed(schema, values))
        set_up(definition, ctx, form, tensors, outs)
        given_cts = cts if isinstance(cts, list) else [cts]
        if ctx.materialize:
            given_cts = [
                tg.zeros_like(out) if ct is None else ct
                for ct, out in zip(given_cts, several, strict=True)
            ]
        return _own_part(
            form, operand, tensors, pulled(definition, ctx, form, given_cts)
        )

    return Rule("vjp", pull, ("cts", *given, *results))


def _again(definition: Definition, values: Sequence[Any]) -> Any:
    """Return the results once more: a list's length is not known to a rule."""
    operands, attributes = definition.operands_of(values)
    with no_tape():
        return bind(definition.operator, operands, attributes)


def _all_needed(schema: Schema, values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(
        _needed(value) if argument.is_tensor else False
        for argument, value in zip(schema.arguments, values, strict=True)
        if not argument.keyword_only
    )


def _needed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_needed, value))
    return isinstance(value, Tensor) and value.dtype.kind in ("float", "complex")


def _own_part(
    form: Form, operand: str, tensors: Sequence[Any], grads: Sequence[Any]
) -> Any:
    """Return the gradient of one operand, zeros where the user gave None."""
    parts = [
        tg.zeros_like(tensor) if grad is None else _fitted(grad, tensor)
        for tensor, grad in zip(tensors, grads, strict=True)
    ]
    names = [argument.name for argument in form.schema.arguments]
    return form.fill(parts)[names.index(operand)]


def _fitted(grad: Tensor, tensor: Tensor) -> Tensor:
    array = tensor._array
    return fit(grad, (array.shape, array.dtype))
