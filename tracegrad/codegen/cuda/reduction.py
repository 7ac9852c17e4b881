"""Kernels with reductions.

Where there are enough results to keep a GPU busy, one launch does everything, in
stages: a loop per level of reductions, and what follows from them. Else each level is
cut into chunks that blocks fold on their own, a second launch folds the chunks, in a
fixed order, and a last one computes what has an element for each point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from tracegrad.codegen.c_family.body import (
    Array,
    Naming,
    Scope,
    Statement,
    dtype_of,
    place_of,
)
from tracegrad.codegen.c_family.casts import cast
from tracegrad.codegen.c_family.indexing import Space
from tracegrad.codegen.c_family.levels import levels_of, reductions_by_level
from tracegrad.codegen.c_family.reductions import Fold, element, fold_of
from tracegrad.codegen.c_family.types import c_type
from tracegrad.codegen.cuda.geometry import (
    BLOCK_THREADS,
    COLUMN_HEIGHT,
    MAX_BLOCKS,
    WARP_COLUMNS,
    WARPS_PER_BLOCK,
    Geometry,
    geometry_of,
    index_type,
)
from tracegrad.codegen.cuda.launch import (
    Argument,
    CudaSource,
    Head,
    Launch,
    Temporary,
    comments,
    index_parts,
    parameter,
    read_parameters,
)
from tracegrad.codegen.cuda.pointwise import kernel_names, write_pointwise
from tracegrad.codegen.kernel import Kernel
from tracegrad.ir.graph import Node, Value


@final
@dataclass(frozen=True, slots=True)
class Folding:
    """An accumulator, and how it folds."""

    variable: str
    fold: Fold


@final
@dataclass(slots=True)
class Stage:
    """One loop over the reduced axes, and what comes before it."""

    before: list[Statement] = field(default_factory=list)
    loop: list[Statement] = field(default_factory=list)
    reductions: list[Folding] = field(default_factory=list)


def write_reduction(
    source: CudaSource,
    kernel: Kernel,
    reads: Mapping[Value, Array],
    writes: Mapping[Value, Array],
) -> list[Launch]:
    """Add the kernels that compute `kernel`; return their launches, in order."""
    writer = _Writer(source, kernel, reads, writes)
    if writer.chunks == 1:
        return [writer.in_one_launch()]
    return writer.in_chunks()


@final
class _Writer:
    def __init__(
        self,
        source: CudaSource,
        kernel: Kernel,
        reads: Mapping[Value, Array],
        writes: Mapping[Value, Array],
    ) -> None:
        self.source = source
        self.kernel = kernel
        self.reads = reads
        self.writes = writes
        self.levels = levels_of(kernel)
        self.groups = reductions_by_level(kernel, self.levels)
        self.geometry = geometry_of(kernel, reads)
        self.chunks, self.length = self.geometry.chunks()
        self.full = {v: a for v, a in writes.items() if kernel.is_full(v)}

    def in_one_launch(self) -> Launch:
        launch = _LaunchWriter(self, self.reads, list(self.writes.values()), {})
        for level in range(len(self.groups) + 1):
            nodes = self.groups[level] if level < len(self.groups) else []
            outputs = [v for v in self.full if self.levels[v] == level]
            launch.stage(nodes, {v: self.full[v] for v in outputs})
        rows = {v: a for v, a in self.writes.items() if v not in self.full}
        launch.store_rows(rows)
        return launch.finish(self.kernel.name, self.writes, {})

    def in_chunks(self) -> list[Launch]:
        launches: list[Launch] = []
        reads = dict(self.reads)
        stored: dict[Value, Argument] = {}
        for level, nodes in enumerate(self.groups):
            partials = {n.result: self._partial(n) for n in nodes}
            launches.append(self._fold_chunks(nodes, reads, stored, partials))
            kept = self._kept(level)
            launches.append(
                self._fold_partials(level, nodes, reads, stored, partials, kept)
            )
            reads |= kept
            stored |= {
                v: Temporary(a.name, self.geometry.kept_size, a.dtype)
                for v, a in kept.items()
                if v not in self.writes
            }
        if self.full:
            launches.append(
                write_pointwise(self.source, self.kernel, reads, self.full, stored)
            )
        return launches

    def _partial(self, node: Node) -> Temporary:
        dtype = fold_of(node, self.source.helpers).dtype
        size = self.chunks * self.geometry.kept_size
        name = self.source.names.unique(f"{node.result.name}_partial")
        return Temporary(name, size, dtype)

    def _kept(self, level: int) -> dict[Value, Array]:
        """Return the reductions of a level that later launches read."""
        later = level + 1 < len(self.groups) or bool(self.full)
        found: dict[Value, Array] = {}
        for node in self.groups[level]:
            value = node.result
            if value in self.writes:
                found[value] = self.writes[value]
            elif later:
                name = self.source.names.unique(f"{value.name}_whole")
                found[value] = Array(name, dtype_of(value), self._dense_strides())
        return found

    def _dense_strides(self) -> tuple[int, ...]:
        strides = [0] * len(self.geometry.sizes)
        step = 1
        for axis in reversed(self.geometry.kept):
            strides[axis] = step
            step *= self.geometry.sizes[axis]
        return tuple(strides)

    def _fold_chunks(
        self,
        nodes: Sequence[Node],
        reads: Mapping[Value, Array],
        stored: Mapping[Value, Argument],
        partials: Mapping[Value, Temporary],
    ) -> Launch:
        launch = _LaunchWriter(self, reads, [], partials, chunk=self.length)
        launch.stage(nodes, {})
        launch.store_partials()
        return launch.finish(f"{self.kernel.name}_chunks", partials, stored)

    def _fold_partials(
        self,
        level: int,
        nodes: Sequence[Node],
        reads: Mapping[Value, Array],
        stored: Mapping[Value, Argument],
        partials: Mapping[Value, Temporary],
        kept: Mapping[Value, Array],
    ) -> Launch:
        rows = {
            v: a
            for v, a in self.writes.items()
            if v not in self.full and max(self.levels[v], 1) == level + 1
        }
        writes = {**rows, **kept}
        arrays = list(writes.values())
        launch = _LaunchWriter(self, reads, arrays, partials, self.chunks)
        launch.stage_of_partials(nodes)
        launch.store_rows(writes)
        return launch.finish(self.kernel.name, writes, stored)


@final
class _LaunchWriter:
    """Writes one kernel.

    Parameters
    ----------
    owner : _Writer
    reads : mapping from Value to Array
    writes : sequence of Array
    partials : mapping from Value to Temporary
        Where the results of chunks lie, by the reduction's result.
    reduced : int
        How many elements are folded, if not those of the kernel's domain.
    chunk : int
        How many a block folds, if not all.
    """

    def __init__(
        self,
        owner: _Writer,
        reads: Mapping[Value, Array],
        writes: Sequence[Array],
        partials: Mapping[Value, Temporary],
        reduced: int | None = None,
        chunk: int = 0,
    ) -> None:
        self.owner = owner
        self.source = owner.source
        self.geometry: Geometry = owner.geometry
        self.reduced = self.geometry.reduced_size if reduced is None else reduced
        self.chunk = chunk
        self.arrays = [*reads.values(), *writes]
        self.index = index_type(self.geometry.sizes, self.arrays)
        self.team = self._team()
        self.partials = partials
        names = kernel_names([*self.arrays, *map(_array, partials.values())])
        self.naming = Naming(owner.kernel, reads, self.source.helpers, names)
        self.outside = Scope(self.naming, [])
        self.rows = self._space(self.geometry.kept, "row", "column")
        self.row = Scope(self.naming, [self.rows], self.outside)
        self.stages: list[Stage] = []
        self.stores: list[Statement] = []

    def _team(self) -> str:
        if not self.geometry.rows:
            return "column"
        return "warp" if not self.chunk and self.reduced <= WARP_COLUMNS else "block"

    def _space(self, axes: tuple[int, ...], in_rows: str, in_columns: str) -> Space:
        variable = in_rows if self.geometry.rows else in_columns
        strides = [a.strides for a in self.arrays]
        return Space(variable, axes, self.geometry.sizes, strides)

    def stage(self, nodes: Sequence[Node], writes: Mapping[Value, Array]) -> None:
        """Add a loop that folds `nodes` and writes values that have all points."""
        space = self._space(self.geometry.reduced, "column", "row")
        scope = Scope(self.naming, [space], self.row)
        foldings = []
        for node in nodes:
            operand = node.inputs[0]
            assert isinstance(operand, Value)
            text = element(scope.value(operand), node, self.source.helpers)
            foldings.append(self._accumulate(scope, node, text))
        for value, array in writes.items():
            scope.statements.append(scope.store(value, array))
        if not scope.statements:
            return
        loop = [*index_parts(self.index, space.parts()), *scope.statements]
        self.stages.append(Stage(self.row.drained(), loop, foldings))
        self._results(nodes, foldings)

    def stage_of_partials(self, nodes: Sequence[Node]) -> None:
        """Add a loop that folds what the chunks gave."""
        scope = Scope(self.naming, [], self.row)
        place = f"row * {self.reduced} + column"
        if not self.geometry.rows:
            place = f"row * {self.geometry.kept_size} + column"
        foldings = []
        for node in nodes:
            partial = self.partials[node.result]
            foldings.append(self._accumulate(scope, node, f"{partial.name}[{place}]"))
        self.stages.append(Stage(self.row.drained(), scope.statements, foldings))
        self._results(nodes, foldings)

    def _accumulate(self, scope: Scope, node: Node, text: str) -> Folding:
        fold = fold_of(node, self.source.helpers)
        self.source.fold(fold, self.team)
        name = self.naming(node.result)
        if fold.dtype is not dtype_of(node.result):
            name = self.naming.names.unique(f"{name}_wide")
        if not text.isidentifier():
            variable = self.naming.names.unique(f"{name}_element")
            line = f"const {fold.type} {variable} = {text};"
            scope.statements.append(Statement(line))
            text = variable
        line = f"{name} = {fold.combined(name, text)};"
        scope.statements.append(Statement(line, place_of(node)))
        return Folding(name, fold)

    def _results(self, nodes: Sequence[Node], foldings: Sequence[Folding]) -> None:
        """Give the reductions' results to the row, in their own dtype.

        Where only partial results are made nothing may be computed from them.
        """
        if self.chunk:
            return
        for node, folding in zip(nodes, foldings, strict=True):
            name = self.row.declare(node.result)
            if folding.variable != name:
                dtype = dtype_of(node.result)
                text = cast(
                    folding.variable, folding.fold.dtype, dtype, self.source.helpers
                )
                line = f"const {c_type(dtype).value} {name} = {text};"
                self.row.statements.append(Statement(line))

    def store_rows(self, writes: Mapping[Value, Array]) -> None:
        """Write values that have one element for each fold."""
        self.stores += [self.row.store(v, a) for v, a in writes.items()]

    def store_partials(self) -> None:
        """Write what a chunk gave."""
        place = f"row * {self.owner.chunks} + blockIdx.y"
        if not self.geometry.rows:
            place = f"blockIdx.y * {self.geometry.kept_size} + column"
        foldings = [f for stage in self.stages for f in stage.reductions]
        for partial, folding in zip(self.partials.values(), foldings, strict=True):
            line = f"{partial.name}[{place}] = {folding.variable};"
            self.stores.append(Statement(line))

    def finish(
        self,
        name: str,
        writes: Mapping[Value, Array] | Mapping[Value, Temporary],
        stored: Mapping[Value, Argument],
    ) -> Launch:
        """Add the kernel to the source; return its launch."""
        texts, values = read_parameters(self.naming)
        arguments: list[Argument] = [stored.get(v, v) for v in values]
        if not self.chunk:
            partials = self.partials.values()
            texts += [parameter(_array(p), written=False) for p in partials]
            arguments += partials
        for value, target in writes.items():
            array = _array(target)
            texts.append(parameter(array, written=True))
            arguments.append(_target(value, target, self.owner.writes, self.geometry))
        head = Head(
            self.source.names.unique(name),
            texts,
            self._threads(),
            comments(self.owner.kernel, list(writes), self._what()),
        )
        self.source.add(f"cuda/{self._template()}.cu.j2", head, **self._values())
        return Launch(head.name, self._grid(), self._block(), tuple(arguments))

    def _what(self) -> str:
        return f", in {self.owner.chunks} chunks" if self.chunk else ""

    def _template(self) -> str:
        return "row_reduction" if self.geometry.rows else "column_reduction"

    def _values(self) -> dict[str, Any]:
        after = self.row.drained()
        return {
            "index": self.index,
            "team": self.team,
            "rows_per_block": WARPS_PER_BLOCK,
            "height": COLUMN_HEIGHT,
            "width": 32 if self.team == "warp" else BLOCK_THREADS,
            "kept": self.geometry.kept_size,
            "reduced": self.reduced,
            "chunk": self.chunk,
            "before": self.outside.statements,
            "row_parts": index_parts(self.index, self.rows.parts()),
            "stages": self.stages,
            "after": after,
            "stores": self.stores,
        }

    def _threads(self) -> int:
        if self.team == "warp":
            return 32 * WARPS_PER_BLOCK
        return BLOCK_THREADS if self.team == "block" else 32 * COLUMN_HEIGHT

    def _block(self) -> tuple[int, ...]:
        return (32, COLUMN_HEIGHT) if self.team == "column" else (self._threads(),)

    def _grid(self) -> tuple[int, ...]:
        per_block = {"warp": WARPS_PER_BLOCK, "block": 1, "column": 32}[self.team]
        blocks = -(-self.geometry.kept_size // per_block)
        if self.geometry.rows:
            blocks = min(blocks, MAX_BLOCKS)
        return (blocks, self.owner.chunks) if self.chunk else (blocks,)


def _array(target: Array | Temporary) -> Array:
    if isinstance(target, Temporary):
        return Array(target.name, target.dtype, ())
    return target


def _target(
    value: Value,
    target: Array | Temporary,
    outputs: Mapping[Value, Array],
    geometry: Geometry,
) -> Argument:
    """Return what a launch passes for an array that it writes."""
    if isinstance(target, Temporary):
        return target
    if value in outputs:
        return value
    return Temporary(target.name, geometry.kept_size, target.dtype)
