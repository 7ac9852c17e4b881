"""VJP: from a graph to the graph of its derivative.

The operators' own rules run on spec-only tensors, with the graph builder in the
recorder's slot; what they do becomes nodes. So the backward graph is an ordinary
graph, which fuses, prints and can be differentiated again.

::

    graph f(%x: f32[4] grad) {
      %y: f32[4] = exp(%x)
      return %y
    }

gives, for the cotangent ``%ct_y``, ``%mul = mul(%ct_y, %y)``: the residual is ``%y``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.dispatch.rules import Rule
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import Graph, Node, Operand, Value
from tracegrad.ir.rewriting import names_of
from tracegrad.ops.shaping import fit
from tracegrad.passes.decompose import Decompose
from tracegrad.passes.spec_recorder import SpecRecorder
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Derived:
    """A graph split into a forward and a backward part.

    Attributes
    ----------
    joint : Graph
        Inputs and cotangents to outputs and gradients, in one graph.
    forward : Graph
        Outputs of the original, then the residuals that are computed.
    backward : Graph
        From residuals, then cotangents, to gradients.
    residuals : tuple of Value
        What backward needs: inputs of the original, and computed values.
    computed : tuple of Value
        The residuals that are no inputs, in the order of the forward's last outputs.
    cotangents : tuple of Value
        One for each output that carries gradient.
    carrying : tuple of int
        Which outputs these are.
    wanted : tuple of Value
        The inputs that a gradient goes to.
    """

    joint: Graph
    forward: Graph
    backward: Graph
    residuals: tuple[Value, ...]
    computed: tuple[Value, ...]
    cotangents: tuple[Value, ...]
    carrying: tuple[int, ...]
    wanted: tuple[Value, ...]


def derive(graph: Graph) -> Derived:
    """Return the forward and backward graphs of `graph`.

    Gradients go to the inputs marked ``requires_grad``.
    """
    graph = Decompose(keep_derivable=True).run(graph)
    carrying = _carrying(graph)
    out = [i for i, v in enumerate(graph.outputs) if v in carrying]
    builder = GraphBuilder(graph.name)
    builder.names = names_of(graph)
    recorder = SpecRecorder(builder)
    cotangents = [
        builder.input("ct_" + graph.outputs[i].name, _dense(graph.outputs[i]))
        for i in out
    ]
    before = set_grad_enabled(False)
    try:
        with recorder:
            flow = _Flow(graph, recorder, carrying)
            for i, ct in zip(out, cotangents, strict=True):
                flow.send(graph.outputs[i], recorder.tensor_for(ct))
            flow.run()
            wanted = [v for v in graph.inputs if v.requires_grad and v in flow.arrived]
            grads = [recorder.value_of(_fitted(flow.arrived[v], v)) for v in wanted]
    finally:
        set_grad_enabled(before)
    return _split(
        graph,
        tuple(builder.nodes),
        tuple(builder.constants),
        cotangents,
        out,
        wanted,
        grads,
    )


def _dense(value: Value) -> TensorSpec:
    assert isinstance(value.spec, TensorSpec)
    return TensorSpec(value.spec.dtype, value.spec.shape, (), value.spec.device)


def _fitted(ct: Any, value: Value) -> Any:
    assert isinstance(value.spec, TensorSpec)
    return fit(ct, (value.spec.shape, value.spec.dtype))


def _carrying(graph: Graph) -> set[Value]:
    """Return the values that a gradient flows through."""
    found = {v for v in graph.inputs if v.requires_grad}
    for node in graph.nodes:
        if any(_tracked(node, i, found) for i in range(len(node.inputs))):
            found.update(v for v in node.results if _is_differentiable(v))
    return found


def reached_inputs(graph: Graph, output: Value) -> set[Value]:
    """Return the inputs that a gradient from `output` gets to, be it zero."""
    carrying = _carrying(graph)
    reached = {output}
    for node in reversed(graph.nodes):
        if not any(v in reached for v in node.results):
            continue
        for index, operand in enumerate(node.inputs):
            if _tracked(node, index, carrying):
                parts = operand if isinstance(operand, tuple) else (operand,)
                reached.update(v for v in parts if v in carrying)
    return {v for v in graph.inputs if v in reached}


def _is_differentiable(value: Value) -> bool:
    spec = value.spec
    return isinstance(spec, TensorSpec) and spec.dtype.kind in ("float", "complex")


def _tracked(node: Node, index: int, carrying: set[Value]) -> bool:
    operand = node.inputs[index]
    if node.operator.operands[index].name not in node.operator.vjp_rules:
        return False
    if isinstance(operand, tuple):
        return any(v in carrying for v in operand)
    return isinstance(operand, Value) and operand in carrying


@final
class _Flow:
    """Cotangents flowing back through a graph's nodes."""

    def __init__(
        self, graph: Graph, recorder: SpecRecorder, carrying: set[Value]
    ) -> None:
        self.graph = graph
        self.recorder = recorder
        self.carrying = carrying
        self.arrived: dict[Value, Any] = {}
        self._tensors: dict[Value, Any] = {}

    def send(self, value: Value, ct: Any) -> None:
        """Add a cotangent to what has arrived at `value`."""
        before = self.arrived.get(value)
        self.arrived[value] = ct if before is None else before + ct

    def run(self) -> None:
        """Pull cotangents through the nodes, from the last to the first."""
        for node in reversed(self.graph.nodes):
            if any(v in self.arrived for v in node.results):
                self._pull(node)

    def _pull(self, node: Node) -> None:
        cts = [self.arrived.get(v) for v in node.results]
        ct = cts[0] if len(_tensors_of(node)) == 1 else cts
        if node.operator.facts.get("several") and not isinstance(ct, list):
            ct = cts
        self.recorder.location = node.location
        self.recorder.scope = node.scope
        values = _Values(self, node)
        for index, parameter in enumerate(node.operator.operands):
            rule = node.operator.vjp_rules.get(parameter.name)
            if rule is None or not _tracked(node, index, self.carrying):
                continue
            self._send_operand(node, node.inputs[index], rule, ct, values)

    def _send_operand(
        self, node: Node, operand: Operand, rule: Rule, ct: Any, values: _Values
    ) -> None:
        result = rule.pull(ct, values)
        if isinstance(operand, tuple):
            for value, part in zip(operand, result, strict=True):
                if value in self.carrying and part is not None:
                    self.send(value, part)
            return
        assert isinstance(operand, Value)
        if node.operator.family == "pointwise":
            result = _fitted(result, operand)
        self.send(operand, result)

    def tensor(self, operand: Operand) -> Any:
        """Return what stands for an operand in a rule."""
        if isinstance(operand, tuple):
            return tuple(map(self.tensor, operand))
        if not isinstance(operand, Value):
            return operand
        found = self._tensors.get(operand)
        if found is None:
            found = self._tensors[operand] = self.recorder.tensor_for(operand)
        return found


def _tensors_of(node: Node) -> list[Value]:
    return [v for v in node.results if isinstance(v.spec, TensorSpec)]


@final
class _Values(dict[str, Any]):
    """What a rule may ask for, by name, made when asked for."""

    def __init__(self, flow: _Flow, node: Node) -> None:
        super().__init__(node.attributes)
        self._flow = flow
        self._node = node

    def __missing__(self, name: str) -> Any:
        node = self._node
        if name == "out":
            return self._flow.tensor(node.results[0])
        if name == "outs":
            return self._flow.tensor(node.results)
        index = node.operator.operand_index
        if name in index:
            return self._flow.tensor(node.inputs[index[name]])
        return _spec(node.inputs[index[name.removesuffix("_spec")]])


def _spec(operand: Operand) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_spec, operand))
    if not isinstance(operand, Value) or not isinstance(operand.spec, TensorSpec):
        return None
    return operand.spec.shape, operand.spec.dtype


def _split(
    graph: Graph,
    backward_nodes: tuple[Node, ...],
    constants: tuple[Any, ...],
    cotangents: Sequence[Value],
    carrying: Sequence[int],
    wanted: Sequence[Value],
    grads: Sequence[Value],
) -> Derived:
    own = {v for n in backward_nodes for v in n.results}
    own |= set(cotangents) | {c.value for c in constants}
    used = [v for n in backward_nodes for v in n.operands()] + list(grads)
    residuals = tuple(dict.fromkeys(v for v in used if v not in own))
    inputs = set(graph.inputs) | {c.value for c in graph.constants}
    computed = tuple(v for v in residuals if v not in inputs)
    forward = Graph(
        graph.name,
        graph.inputs,
        graph.nodes,
        (*graph.outputs, *computed),
        graph.constants,
        graph.checks,
        graph.writes,
    )
    held = tuple(c for c in graph.constants if c.value in residuals)
    given = tuple(v for v in residuals if v not in {c.value for c in held})
    backward = Graph(
        graph.name + "_backward",
        (*given, *cotangents),
        backward_nodes,
        tuple(grads),
        (*held, *constants),
    )
    joint = Graph(
        graph.name + "_joint",
        (*graph.inputs, *cotangents),
        (*graph.nodes, *backward_nodes),
        tuple(grads),
        (*graph.constants, *constants),
    )
    return Derived(
        joint,
        forward,
        backward,
        given,
        computed,
        tuple(cotangents),
        tuple(carrying),
        tuple(wanted),
    )
