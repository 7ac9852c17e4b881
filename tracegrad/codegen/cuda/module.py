"""The Python side of a program: allocations, launches, library calls, commits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.codegen.c_family.body import Array, Statement, place_of
from tracegrad.codegen.c_family.indexing import domain_strides, whole
from tracegrad.codegen.c_family.names import CNames
from tracegrad.codegen.c_family.problems import problem_of
from tracegrad.codegen.cuda.dialect import CUDA
from tracegrad.codegen.cuda.launch import CudaSource, Launch, Temporary
from tracegrad.codegen.cuda.library import Calls
from tracegrad.codegen.cuda.pointwise import write_pointwise
from tracegrad.codegen.cuda.reduction import write_reduction
from tracegrad.codegen.environment import UserText
from tracegrad.codegen.kernel import Kernel, kernel_of
from tracegrad.codegen.numpy.pointwise import dtype_text
from tracegrad.codegen.program import (
    CallStep,
    KernelStep,
    Program,
    Step,
    exit_condition,
)
from tracegrad.ir.builder import Names
from tracegrad.ir.graph import BindGrad, Graph, Node, Value, WriteStorage
from tracegrad.sizes import contiguous_strides
from tracegrad.spec import ScalarSpec, TensorSpec

_SCALAR_ARGUMENT = {
    "bool": "np.bool_", "int": "np.int64", "float": "np.float64",
    "complex": "np.complex128",
}  # fmt: skip
_RESERVED = ("np", "arena", "math", "make_arena", "results", "writes", "SOURCE",
             "OPTIONS", "laid_out", "complex", "ml_dtypes")  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Held:
    """A local name of the emitted function.

    Attributes
    ----------
    name : str
    root : str
        ``input``, ``fresh``, ``library``: whose memory it is.
    strides : tuple of int or None
        In elements, as far as they are known for sure.
    memory : str
        The name of the array that owns the memory.
    """

    name: str
    root: str
    strides: tuple[int, ...] | None
    memory: str


@final
class ModuleWriter:
    """Writes the emitted function of one program.

    Attributes
    ----------
    source : CudaSource
    calls : Calls
        The library functions that it needs.
    body, commits : list of Statement
    returned : list of str
    launches : list of (str, str)
        Names of the kernels in Python and in C.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph: Graph = program.graph
        self.source = CudaSource()
        self.names = Names()
        for name in _RESERVED:
            self.names.unique(name)
        self.calls = Calls(self.names)
        self.body: list[Statement] = []
        self.commits: list[Statement] = []
        self.returned: list[str] = []
        self.launches: list[tuple[str, str]] = []
        self.uses_layout = False
        self.held: dict[Value, Held] = {}
        self._given: dict[Value, str] = {}
        # Where all specs say the CPU, as those of examples do, devices say nothing.
        self._has_device_values = any(map(_is_on_device, self._values()))
        self.parameters = [self._parameter(v) for v in self._inputs()]

    def _inputs(self) -> list[Value]:
        return [*self.graph.inputs, *(c.value for c in self.graph.constants)]

    def _values(self) -> Iterator[Value]:
        made = (v for node in self.graph.nodes for v in node.results)
        return itertools.chain(self._inputs(), made)

    def _parameter(self, value: Value) -> str:
        name = self._given[value] = self.names.unique(value.name)
        self.held[value] = Held(name, "input", None, name)
        return name

    def run(self) -> None:
        """Write everything."""
        self._lay_out_inputs()
        for step in self.program.steps:
            self._step(step)
        self._exits()
        self._commit()
        self._return()

    def line(self, text: str, place: UserText | None = None) -> None:
        """Add a line to the function's body."""
        self.body.append(Statement(text, place or UserText("")))

    # -- inputs -----------------------------------------------------------------------

    def _lay_out_inputs(self) -> None:
        """Bring inputs that kernels index to the strides that they were written for."""
        constants = {c.value for c in self.graph.constants}
        indexed = self._indexed()
        for value in self._inputs():
            if not isinstance(value.spec, TensorSpec):
                continue
            name = self._given[value]
            elsewhere = self._has_device_values and value.spec.device.type == "cpu"
            if value in constants or elsewhere:
                self.line(f"{name} = np.asarray({name})")
            if value in indexed:
                self.held[value] = self._laid_out(value.spec, name)

    def _indexed(self) -> set[Value]:
        """Return the values whose strides matter to some kernel, views resolved."""
        found: set[Value] = set()
        for step in reversed(self.program.steps):
            if isinstance(step, KernelStep):
                found.update(step.inputs)
            elif step.node.operator.is_view and found & set(step.node.results):
                found.update(step.node.operands())
        return found

    def _laid_out(self, spec: TensorSpec, name: str) -> Held:
        self.uses_layout = True
        strides = tuple(whole(s) for s in spec.strides)
        width = spec.dtype.itemsize
        nbytes = tuple(s * width for s in strides)
        own = self.names.unique(f"{name}_laid_out")
        self.line(f"{own} = laid_out({name}, {nbytes})")
        return Held(own, "input", strides, name)

    # -- steps ------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if isinstance(step, CallStep):
            self._call(step.node)
            return
        inner = dict(zip(step.kernel.inputs, step.inputs, strict=True))
        if problem_of(step.kernel) is None:
            results = dict(zip(step.kernel.outputs, step.node.results, strict=True))
            self._kernel(step.kernel, inner, results)
            return
        self._one_by_one(step, inner)

    def _one_by_one(self, step: KernelStep, inner: Mapping[Value, Value]) -> None:
        """Write the nodes of a kernel that the C family cannot express."""
        for value, outer in inner.items():
            self.held[value] = self.held[outer]
        for node in step.kernel.body.nodes:
            kernel = _alone(node)
            if kernel is None or problem_of(kernel) is not None:
                self._call(node)
                continue
            own = {v: v for v in (*kernel.inputs, *kernel.outputs)}
            self._kernel(kernel, own, own)
        for value, result in zip(step.kernel.outputs, step.node.results, strict=True):
            self.held[result] = self.held[value]

    # -- kernels ----------------------------------------------------------------------

    def _kernel(
        self,
        kernel: Kernel,
        inner: Mapping[Value, Value],
        results: Mapping[Value, Value],
    ) -> None:
        names = CNames(CUDA.reserved)
        place = place_of(kernel.body.nodes[-1])
        reads = {
            v: self._array(kernel, v, self._strides(inner[v]), names)
            for v in kernel.inputs
            if isinstance(v.spec, TensorSpec)
        }
        for value in kernel.outputs:
            self._allocate(results[value])
        writes = {
            v: self._array(kernel, v, self._strides(results[v]), names)
            for v in kernel.outputs
        }
        if _is_empty(kernel):
            return
        if kernel.is_pointwise:
            launches = [write_pointwise(self.source, kernel, reads, writes)]
        else:
            launches = write_reduction(self.source, kernel, reads, writes)
        local: dict[str, str] = {}
        for launch in launches:
            self._launch(launch, {**inner, **results}, local, place)

    def _array(
        self, kernel: Kernel, value: Value, strides: tuple[int, ...], names: CNames
    ) -> Array:
        spec = value.spec
        assert isinstance(spec, TensorSpec)
        own = domain_strides(
            spec, strides, kernel.axes[value], len(kernel.domain.shape)
        )
        return Array(names.unique(f"{value.name}_ptr"), spec.dtype, own)

    def _strides(self, value: Value) -> tuple[int, ...]:
        """Return the strides of a value, made row-major where they are not known."""
        held = self.held[value]
        if held.strides is not None:
            return held.strides
        spec = value.spec
        assert isinstance(spec, TensorSpec)
        name = self.names.unique(f"{held.name}_dense")
        self.line(f"{name} = np.ascontiguousarray({held.name})")
        strides = _row_major(spec)
        if not spec.shape:
            # CuPy and NumPy give at least one dimension.
            self.line(f"{name} = {name}.reshape(())")
        self.held[value] = Held(name, held.root, strides, held.memory)
        return strides

    def _allocate(self, value: Value) -> None:
        spec = value.spec
        assert isinstance(spec, TensorSpec)
        name = self.names.unique(value.name)
        strides = _dense_strides(spec)
        order = sorted(range(spec.ndim), key=lambda d: (-strides[d], d))
        shape = tuple(spec.shape[d] for d in order)
        text = f"np.empty({shape}, {dtype_text(spec.dtype)})"
        if order != list(range(spec.ndim)):
            back = tuple(order.index(d) for d in range(spec.ndim))
            text += f".transpose({back})"
        self.line(f"{name} = {text}")
        self.held[value] = Held(name, "fresh", strides, name)

    def _launch(
        self,
        launch: Launch,
        outer: Mapping[Value, Value],
        local: dict[str, str],
        place: UserText,
    ) -> None:
        arguments = [
            self._temporary(a, local)
            if isinstance(a, Temporary)
            else self._argument(outer[a])
            for a in launch.arguments
        ]
        name = self.names.unique(launch.name)
        self.launches.append((name, launch.name))
        given = _tuple(arguments)
        self.line(f"{name}({launch.grid}, {launch.block}, {given})", place)

    def _temporary(self, temporary: Temporary, local: dict[str, str]) -> str:
        if temporary.name not in local:
            name = local[temporary.name] = self.names.unique(temporary.name)
            dtype = dtype_text(temporary.dtype)
            self.line(f"{name} = np.empty({temporary.size}, {dtype})")
        return local[temporary.name]

    def _argument(self, value: Value) -> str:
        if isinstance(value.spec, ScalarSpec):
            return f"{_SCALAR_ARGUMENT[value.spec.kind]}({self.held[value].name})"
        return self.held[value].name

    # -- library ----------------------------------------------------------------------

    def _call(self, node: Node) -> None:
        names = {v: self.held[v].name for v in node.operands()}
        text = self.calls.text(node, names)
        tensors = [v for v in node.results if isinstance(v.spec, TensorSpec)]
        targets = [self.names.unique(v.name) for v in tensors]
        for state in node.results:
            if state not in tensors:
                self.held[state] = self._state_before(node)
        for line in self.calls.checks(node, names):
            self.line(line, place_of(node))
        if not targets:
            self.line(text, place_of(node))
            return
        several = len(targets) > 1 or node.operator.facts.get("several")
        left = ", ".join(targets) + "," * (len(targets) == 1) if several else targets[0]
        self.line(f"{left} = {text}", place_of(node))
        for value, name in zip(tensors, targets, strict=True):
            self.held[value] = self._result(node, value, name)

    def _result(self, node: Node, value: Value, name: str) -> Held:
        if not node.operator.is_view:
            return Held(name, "library", None, name)
        base = self.held[next(iter(node.operands()))]
        spec = value.spec
        assert isinstance(spec, TensorSpec)
        known = base.strides is not None
        strides = tuple(whole(s) for s in spec.strides) if known else None
        return Held(name, base.root, strides, base.memory)

    def _state_before(self, node: Node) -> Held:
        for value in node.operands():
            if not isinstance(value.spec, TensorSpec | ScalarSpec):
                return self.held[value]
        raise AssertionError(f"{node.operator.name} has no state")

    # -- the end ----------------------------------------------------------------------

    def _exits(self) -> None:
        for index, check in enumerate(self.graph.checks):
            name = self.held[check.value].name
            self.line(f"if {exit_condition(name, check.expected)}:")
            self.line(f"    return None, {index}", UserText(str(check.location or "")))

    def _commit(self) -> None:
        for write in self.graph.writes:
            if not isinstance(write, WriteStorage):
                continue
            if write.target is write.value:
                continue
            source = self._unshared(write.value)
            text = f"(np.copyto, {self._given[write.target]}, {source}),"
            self.commits.append(Statement(text, UserText(str(write.location or ""))))

    def _unshared(self, value: Value) -> str:
        """Return a value that no commit before its own changes."""
        held = self.held[value]
        if held.root != "input":
            return held.name
        name = self.names.unique(held.name)
        self.line(f"{name} = np.array({held.name})")
        return name

    def _return(self) -> None:
        values = list(self.graph.outputs)
        values += [
            w.value for w in self.graph.writes if isinstance(w, BindGrad) and w.value
        ]
        handed_out: set[str] = set()
        for value in values:
            held = self.held[value]
            name = held.name
            if held.root == "input" or held.memory in handed_out:
                name = self.names.unique(name)
                self.line(f"{name} = np.array({held.name})")
            handed_out.add(held.memory)
            self.returned.append(name)


def _is_on_device(value: Value) -> bool:
    return isinstance(value.spec, TensorSpec) and value.spec.device.type == "cuda"


def _alone(node: Node) -> Kernel | None:
    """Return the kernel of one node, or None if it is none."""
    facts = node.operator.facts
    if "pointwise" not in facts and "reduction" not in facts:
        return None
    inputs = tuple(dict.fromkeys(node.operands()))
    return kernel_of(
        node.operator.name,
        Graph(node.operator.name, inputs, (node,), node.results),
    )


def _is_empty(kernel: Kernel) -> bool:
    """Return whether all outputs are empty."""
    return all(0 in _shape(v) for v in kernel.outputs)


def _shape(value: Value) -> tuple[Any, ...]:
    assert isinstance(value.spec, TensorSpec)
    return value.spec.shape


def _row_major(spec: TensorSpec) -> tuple[int, ...]:
    return tuple(whole(s) for s in contiguous_strides(spec.shape))


def _dense_strides(spec: TensorSpec) -> tuple[int, ...]:
    """Return the spec's strides if they are those of a dense array, else row-major."""
    strides = tuple(whole(s) for s in spec.strides)
    step = 1
    for stride, size in sorted(zip(strides, spec.shape, strict=True)):
        if size == 1:
            continue
        if stride != step:
            return _row_major(spec)
        step *= whole(size)
    if any(s == 1 for s in spec.shape) or 0 in spec.shape:
        return _row_major(spec) if spec.is_contiguous() else strides
    return strides


def _tuple(parts: Sequence[str]) -> str:
    inner = ", ".join(parts)
    return f"({inner},)" if len(parts) == 1 else f"({inner})"
