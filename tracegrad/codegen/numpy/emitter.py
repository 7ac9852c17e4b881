"""From a program's steps to instructions."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from tracegrad.codegen.kernel import Kernel
from tracegrad.codegen.numpy.blocks import block_step, dim_of_first_axis
from tracegrad.codegen.numpy.instructions import (
    Argument,
    Array,
    Body,
    Call,
    Commit,
    Exit,
    Expression,
    Loop,
    Refuse,
)
from tracegrad.codegen.numpy.library import Library, operator_text
from tracegrad.codegen.numpy.pointwise import (
    Literal,
    cast,
    dtype_text,
    emit_condition,
    emit_expression,
    spec_of,
    wrapped_number,
)
from tracegrad.codegen.program import CallStep, KernelStep, Program
from tracegrad.device import Device
from tracegrad.dispatch.operator import OpDef
from tracegrad.dtypes import ALL, DType, bfloat16, float16, float32
from tracegrad.errors import CompileError
from tracegrad.ir.builder import Names
from tracegrad.ir.graph import (
    BindGrad,
    Graph,
    Node,
    Operand,
    Value,
    WriteBack,
    WriteState,
    WriteStorage,
)
from tracegrad.spec import ScalarSpec, TensorSpec

_RESERVED = ("np", "arena", "ml_dtypes", "i", "j", "math", "make_arena", "complex")


def _compute(dtype: DType) -> DType:
    return float32 if dtype is float16 or dtype is bfloat16 else dtype


@final
class Emitter:
    """Emits one program.

    Attributes
    ----------
    body : Body
    library : Library
        Functions and imports that the emitted module needs.
    numbers : list of str
        Statements of the module that make constant arrays.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph: Graph = program.graph
        self.body = Body()
        self.library = Library()
        self.names = Names()
        for reserved in (*_RESERVED, *(d.name for d in ALL)):
            self.names.unique(reserved)
        self.arrays: dict[Value, Argument] = {}
        self.numbers: list[str] = []
        self._vectors: dict[tuple[int, DType], Array] = {}
        self._current: list[Any] = self.body.instructions
        self._fresh = self._handed_out()
        self._last_writer: dict[Value, Call] = {}

    # -- the Sink protocol --------------------------------------------------------

    def temporary(self, hint: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return a planned buffer."""
        return Array(self.names.unique(hint), shape, np.dtype(dtype), "arena")

    def local(self, hint: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return a name for what a call returns."""
        # Not the name of the helper that is called.
        hint = hint.removeprefix("tg_")
        return Array(self.names.unique(hint), shape, np.dtype(dtype), "result")

    def emit(self, instruction: Any) -> None:
        """Add an instruction."""
        self._current.append(instruction)

    # -- the program --------------------------------------------------------------

    def run(self) -> Body:
        """Emit everything and return it."""
        for value in self.graph.inputs:
            self.arrays[value] = self._input(value, "input")
        for constant in self.graph.constants:
            self.arrays[constant.value] = self._input(constant.value, "constant")
        for step in self.program.steps:
            if isinstance(step, KernelStep):
                self._kernel_step(step)
            else:
                self._call_step(step)
        self._exits()
        self._commits()
        self._returns()
        return self.body

    def _input(self, value: Value, kind: str) -> Argument:
        name = self.names.unique(value.name)
        if isinstance(value.spec, TensorSpec):
            return Array(name, _shape(value), value.spec.dtype.numpy, kind)
        if isinstance(value.spec, ScalarSpec):
            return Array(name, (), None, kind)
        return Array(name, (), np.dtype(object), kind)

    def _handed_out(self) -> set[Value]:
        """Return the values whose memory the user gets, views of them resolved."""
        producers = self.graph.producers()
        found: set[Value] = set()
        wanted = list(self.graph.outputs)
        wanted += [
            w.value for w in self.graph.writes if isinstance(w, BindGrad) and w.value
        ]
        while wanted:
            value = wanted.pop()
            found.add(value)
            node = producers.get(value)
            if node is not None and node.operator.is_view:
                wanted.extend(node.operands())
        return found

    def _argument(self, operand: Operand) -> Argument:
        if isinstance(operand, Value):
            return self.arrays[operand]
        return repr(operand)

    # -- kernels ------------------------------------------------------------------

    def _kernel_step(self, step: KernelStep) -> None:
        kernel = step.kernel
        outer = dict(zip(kernel.inputs, step.inputs, strict=True))
        inner: dict[Value, Argument] = {v: self.arrays[o] for v, o in outer.items()}
        results = dict(zip(kernel.outputs, step.node.results, strict=True))
        for value in kernel.outputs:
            inner[value] = self._buffer(results[value])
        step_size = block_step(kernel)
        if step_size is None:
            self._kernel_body(kernel, inner, None)
        else:
            self._kernel_loop(kernel, inner, step_size)
        for value, result in results.items():
            self.arrays[result] = inner[value]

    def _buffer(self, value: Value) -> Array:
        spec = spec_of(value)
        kind = "fresh" if value in self._fresh else "arena"
        name = self.names.unique(value.name)
        return Array(name, _shape(value), spec.dtype.numpy, kind)

    def _kernel_loop(
        self, kernel: Kernel, inner: dict[Value, Argument], step: int
    ) -> None:
        cuts: list[tuple[Array, Array, int]] = []
        blocks: dict[Value, Argument] = {}
        for value in (*kernel.inputs, *kernel.outputs):
            whole = inner[value]
            dim = dim_of_first_axis(kernel, value)
            if dim is None or not isinstance(whole, Array):
                blocks[value] = whole
                continue
            shape = (*whole.shape[:dim], step, *whole.shape[dim + 1 :])
            name = self.names.unique(whole.name + "_block")
            block = Array(name, shape, whole.dtype, "view", whole)
            cuts.append((block, whole, dim))
            blocks[value] = block
        body: list[Any] = []
        before, self._current = self._current, body
        self._kernel_body(kernel, blocks, step)
        self._current = before
        size = int(kernel.domain.shape[0])  # type: ignore[arg-type]
        self.emit(Loop(size, step, tuple(cuts), body))

    def _kernel_body(
        self, kernel: Kernel, arrays: dict[Value, Argument], step: int | None
    ) -> None:
        for node in kernel.body.nodes:
            self._kernel_node(kernel, node, arrays, step)

    def _kernel_node(
        self,
        kernel: Kernel,
        node: Node,
        arrays: dict[Value, Argument],
        step: int | None,
    ) -> None:
        shape = _shape(node.result)
        dim = None
        if step is not None:
            dim = dim_of_first_axis(kernel, node.result)
            if dim is not None:
                shape = (*shape[:dim], step, *shape[dim + 1 :])
        given = arrays.get(node.result)
        if node.operator.is_view:
            self._view_in_kernel(kernel, node, arrays, shape, given)
            return
        target = given
        if target is None:
            dtype = spec_of(node.result).dtype.numpy
            target = self.temporary(node.result.name, shape, dtype)
            target.cut = None if step is None else dim
            arrays[node.result] = target
        assert isinstance(target, Array)
        if "reduction" in node.operator.facts:
            self._reduction(node, arrays, target)
        else:
            self._pointwise(node, arrays, target)

    def _only_broadcast(self, kernel: Kernel, node: Node) -> bool:
        """Return whether all users of an expanded value broadcast by themselves.

        They are element-wise and have another operand of the full shape.
        """
        shape = _shape(node.result)
        users = [n for n in kernel.body.nodes if node.result in n.operands()]
        return all(
            "pointwise" in user.operator.facts
            and any(
                v is not node.result
                and isinstance(v.spec, TensorSpec)
                and v.spec.shape == shape
                and not self._is_expanded(kernel, v)
                for v in user.operands()
            )
            for user in users
        )

    def _is_expanded(self, kernel: Kernel, value: Value) -> bool:
        return any(
            value in n.results and n.operator.facts.get("broadcasts")
            for n in kernel.body.nodes
        )

    def _view_in_kernel(
        self,
        kernel: Kernel,
        node: Node,
        arrays: dict[Value, Argument],
        shape: tuple[int, ...],
        given: Argument | None,
    ) -> None:
        operand = node.inputs[0]
        assert isinstance(operand, Value)
        source = arrays[operand]
        assert isinstance(source, Array)
        if node.operator.facts.get("broadcasts"):
            if given is None and self._only_broadcast(kernel, node):
                # Its users broadcast by themselves.
                arrays[node.result] = source
                return
            text = f"np.broadcast_to({source.name}, {shape})"
        else:
            text = f"{source.name}.reshape({shape})"
        comment = _comment(node)
        if isinstance(given, Array):
            target = self.local(node.result.name, shape, source.dtype)
            target.kind, target.base = "view", source
            self.emit(Expression(text, (source,), target, comment))
            copy = Call(
                "np.copyto", (given, target), given, into=False, comment=comment
            )
            self.emit(copy)
            return
        name = self.names.unique(node.result.name)
        target = Array(name, shape, source.dtype, "view", source)
        arrays[node.result] = target
        self.emit(Expression(text, (source,), target, comment))

    def _pointwise(
        self, node: Node, arrays: dict[Value, Argument], target: Array
    ) -> None:
        operator = node.operator
        facts = operator.facts["pointwise"]
        specs = [o.spec if isinstance(o, Value) else o for o in node.inputs]
        attributes = dict(node.attributes)
        types, result = facts.types_of(operator.name, specs, attributes.get("dtype"))
        comment = _comment(node)
        operands: dict[str, Argument] = {}
        for operand, parameter, dtype in zip(
            node.inputs, operator.operands, types, strict=True
        ):
            if facts.narrow_literals and isinstance(operand, int | float | complex):
                operand = wrapped_number(operand, dtype)
            operands[parameter.name] = self._operand(operand, arrays, dtype, comment)
        self._refusal(node, facts.failure(types[-1]), operands, comment)
        helpers = facts.numpy_helper_texts
        self.library.functions.update(helpers)
        text = facts.text(types[-1], node.inputs)
        emit_expression(
            self,
            node,
            text,
            operands,
            {name: attribute_text(value) for name, value in attributes.items()},
            target,
            result,
            comment,
            helpers,
        )

    def _refusal(
        self,
        node: Node,
        condition: str | None,
        operands: dict[str, Argument],
        comment: str,
    ) -> None:
        """Emit the error for elements that the operator refuses."""
        if condition is None:
            return
        found = emit_condition(self, condition, operands, comment)
        cls, said = node.operator.facts["pointwise"].refusal
        message = f"{node.operator.name}: {said}"
        self.emit(Refuse(found, self.library.error(cls), message, comment))

    def _operand(
        self,
        operand: Operand,
        arrays: dict[Value, Argument],
        dtype: DType,
        comment: str,
    ) -> Argument:
        computed = _compute(dtype)
        if not isinstance(operand, Value):
            return Literal.of(operand, computed)
        found = arrays[operand]
        if isinstance(found, Array) and found.dtype is None:
            text = f"{dtype_text(computed)}({found.name})"
            target = self.local(found.name, (), computed.numpy)
            self.emit(Expression(text, (found,), target, comment))
            return target
        # To the operand's dtype first: a wider one has no more digits than it.
        return cast(self, cast(self, found, dtype, comment), computed, comment)

    def _reduction(
        self, node: Node, arrays: dict[Value, Argument], target: Array
    ) -> None:
        facts = node.operator.facts["reduction"]
        operand = node.inputs[0]
        assert isinstance(operand, Value)
        comment = _comment(node)
        wanted = _compute(spec_of(node.result).dtype)
        source = cast(self, arrays[operand], wanted, comment)
        assert isinstance(source, Array)
        dims, keepdim = node.attribute("dim"), node.attribute("keepdim")
        result = spec_of(node.result).dtype
        if result.numpy == wanted.numpy == target.dtype and facts.takes_columns(
            source.shape, dims, keepdim, wanted
        ):
            ones = self._ones(source.shape[0], wanted)
            function = facts.columns.partition("(")[0]
            self.emit(Call(function, (ones, source), target, comment=comment))
            return
        function, _, rest = facts.numpy.partition("(")
        options = rest.rstrip(")").replace("{x}, ", "")
        options = options.replace("{axis}", repr(dims))
        options = options.replace("{keepdims}", repr(keepdim))
        if target.dtype == wanted.numpy:
            self.emit(Call(function, (source,), target, options, comment=comment))
            return
        carried = self.temporary(target.name, target.shape, wanted.numpy)
        self.emit(Call(function, (source,), carried, options, comment=comment))
        copied = Call("np.copyto", (target, carried), target, into=False)
        copied.comment = comment
        self.emit(copied)

    def _ones(self, count: int, dtype: DType) -> Array:
        """Return the vector of ones that the module makes once."""
        found = self._vectors.get((count, dtype))
        if found is None:
            name = self.names.unique(f"ones_{count}")
            found = Array(name, (count,), dtype.numpy, "number")
            self._vectors[count, dtype] = found
            self.numbers.append(f"{name} = np.ones({count}, {dtype_text(dtype)})")
        return found

    # -- library operators ----------------------------------------------------------

    def _call_step(self, step: CallStep) -> None:
        node = step.node
        if node.operator.facts.get("writes_path") and self._path_write(node):
            return
        plain = self.library.plain_text(node)
        text = self.library.call_text(node) if plain is None else plain
        args = {
            p.name: self._operand_text(o)
            for p, o in zip(node.operator.operands, node.inputs, strict=True)
        }
        if plain is None:
            args |= {name: self._kernel_attribute(v) for name, v in node.attributes}
        else:
            args |= {name: attribute_text(v) for name, v in node.attributes}
        arrays = tuple(
            a for v in node.operands() if isinstance(a := self.arrays[v], Array)
        )
        comment = _comment(node)
        if "{out}" in text:
            target = self._buffer(node.result)
            self.arrays[node.result] = target
            filled = _filled(text, args)
            function, _, rest = filled.partition("(")
            self.emit(
                Call(
                    function,
                    arrays,
                    target,
                    options=_options_after(rest, arrays),
                    comment=comment,
                )
            )
            return
        self._assign(node, _filled(text, args), arrays, comment)

    def _path_write(self, node: Node) -> bool:
        """Emit a copy of the base and a write into a view of it, if texts exist."""
        steps = []
        for operator, attributes, index in node.attribute("path"):
            text = operator_text(operator, dict(attributes))
            if text is None or "logical" in operator.facts or index:
                return False
            name = operator.operands[0].name
            steps.append((text, name, dict(attributes)))
        base, value = (self.arrays[v] for v in node.operands())
        assert isinstance(base, Array)
        comment = _comment(node)
        target = self._buffer(node.result)
        self.arrays[node.result] = target
        self.emit(
            Call("np.copyto", (target, base), target, into=False, comment=comment)
        )
        region = target.name
        for text, name, attributes in steps:
            texts = {n: attribute_text(v) for n, v in attributes.items()}
            region = _filled(text, {name: region} | texts)
        self.emit(
            Call("np.copyto", (region, value), target, into=False, comment=comment)
        )
        return True

    def _kernel_attribute(self, value: Any) -> str:
        """Return an attribute as text for a kernel's own source."""
        if isinstance(value, Device):
            return "None"
        text = self.library.data_text(value)
        if text is None:
            raise CompileError(f"the attribute {value!r} can't be emitted")
        return text

    def _operand_text(self, operand: Operand) -> str:
        if isinstance(operand, tuple):
            return "[" + ", ".join(_name(self.arrays[v]) for v in operand) + "]"
        return _name(self._argument(operand))

    def _assign(
        self, node: Node, text: str, arrays: tuple[Array, ...], comment: str
    ) -> None:
        is_view = node.operator.is_view and len(node.results) == 1
        tensors = [v for v in node.results if isinstance(v.spec, TensorSpec)]
        for state in node.results:
            if state not in tensors:
                self.arrays[state] = self._state_before(node)
        targets = []
        for value in tensors:
            target = self.local(value.name, _shape(value), spec_of(value).dtype.numpy)
            if is_view or node.operator.is_view:
                target.kind, target.base = "view", arrays[0]
            self.arrays[value] = target
            targets.append(target)
        if len(targets) == 1 and not node.operator.facts.get("several"):
            self.emit(Expression(text, arrays, targets[0], comment))
            return
        joint = self.local("results", (), object)
        self.emit(Expression(text, arrays, joint, comment))
        for index, target in enumerate(targets):
            self.emit(Expression(f"{joint.name}[{index}]", (joint,), target, comment))

    def _state_before(self, node: Node) -> Argument:
        for value in node.operands():
            if not isinstance(value.spec, TensorSpec | ScalarSpec):
                return self.arrays[value]
        raise AssertionError(f"{node.operator.name} has no state")

    # -- the end ----------------------------------------------------------------------

    def _exits(self) -> None:
        for index, check in enumerate(self.graph.checks):
            array = self.arrays[check.value]
            assert isinstance(array, Array)
            self.emit(Exit(index, array, check.expected, str(check.location or "")))

    def _commits(self) -> None:
        for write in self.graph.writes:
            if isinstance(write, WriteState | BindGrad):
                continue
            assert isinstance(write, WriteStorage)
            target, value = self.arrays[write.target], self.arrays[write.value]
            if target is not value and isinstance(value, Array):
                value = self._kept_apart(value)
                commit = Commit("np.copyto", (target, value), str(write.location or ""))
                self.body.commits.append(commit)

    def _kept_apart(self, value: Array) -> Array:
        """Return a copy of memory that an earlier write of the commit may change."""
        if value.root.kind != "input":
            return value
        copy = self.local(value.name, value.shape, value.dtype)
        self.emit(Expression(f"np.array({value.name})", (value,), copy))
        return copy

    def _returns(self) -> None:
        handed: set[int] = set()
        values = list(self.graph.outputs)
        values += [
            w.value for w in self.graph.writes if isinstance(w, BindGrad) and w.value
        ]
        for value in values:
            array = self.arrays[value]
            assert isinstance(array, Array)
            if array.root.kind in ("input", "constant", "arena") or id(array) in handed:
                copy = self.local(array.name, array.shape, array.dtype)
                self.emit(Expression(f"np.array({array.name})", (array,), copy))
                array = copy
            handed.add(id(array))
            self.body.returned.append(array)


def _bound(write: WriteBack) -> Value | None:
    """Return the value that a write binds as a gradient, if it does."""
    return write.value if isinstance(write, BindGrad) else None


def attribute_text(value: Any) -> str:
    """Return an attribute as text."""
    if isinstance(value, DType):
        return dtype_text(value)
    if isinstance(value, tuple):
        inner = ", ".join(map(attribute_text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, OpDef):
        return repr(value.name)
    return repr(value)


def _filled(text: str, args: dict[str, str]) -> str:
    for name, value in args.items():
        text = text.replace("{" + name + "}", value)
    return text


def _options_after(rest: str, arrays: tuple[Array, ...]) -> str:
    """Return what follows the arrays in a call's text, without ``out=``."""
    inner = rest[: rest.rindex(")")]
    parts = [p.strip() for p in inner.split(", ")]
    names = {a.name for a in arrays}
    return ", ".join(p for p in parts if p not in names and p != "out={out}")


def _name(argument: Argument) -> str:
    return argument.name if isinstance(argument, Array) else argument


def _shape(value: Value) -> tuple[int, ...]:
    return tuple(int(s) for s in spec_of(value).shape)  # type: ignore[arg-type]


def _comment(node: Node) -> str:
    place = str(node.location) if node.location is not None else ""
    return f"{place} {node.scope}".strip()
