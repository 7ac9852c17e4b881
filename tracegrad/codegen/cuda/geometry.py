"""How a kernel's points are shared out among blocks and threads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tracegrad.codegen.c_family.body import Array
from tracegrad.codegen.c_family.indexing import INT_LIMIT, reach, whole
from tracegrad.codegen.kernel import Kernel
from tracegrad.ir.graph import Value

POINTWISE_THREADS = 256
MAX_BLOCKS = 4096
# Up to here a warp folds a row by itself, several rows to a block.
WARP_COLUMNS = 512
WARPS_PER_BLOCK = 4
BLOCK_THREADS = 256
# Threads above one another for each of 32 neighbouring columns.
COLUMN_HEIGHT = 8
# Fewer blocks than this leave most of a GPU idle: long folds are then cut.
ENOUGH_BLOCKS = 64
ROW_CHUNK = 4096
COLUMN_CHUNK = 256
MAX_CHUNKS = 256
MAX_COLUMN_CHUNKS = 64


@final
@dataclass(frozen=True, slots=True)
class Geometry:
    """The shape of a reduction.

    Attributes
    ----------
    sizes : tuple of int
        Of the domain's axes.
    kept, reduced : tuple of int
        Axes, from the outermost in memory to the innermost.
    rows : bool
        Whether the fold runs along the innermost axis in memory.
    """

    sizes: tuple[int, ...]
    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    rows: bool

    @property
    def kept_size(self) -> int:
        """The number of results of each reduction."""
        return math.prod(self.sizes[a] for a in self.kept)

    @property
    def reduced_size(self) -> int:
        """The number of elements folded into each result."""
        return math.prod(self.sizes[a] for a in self.reduced)

    def chunks(self) -> tuple[int, int]:
        """Return into how many pieces each fold is cut, and how long they are.

        One piece means that a single launch does everything.
        """
        size = self.reduced_size
        if self.rows:
            few = self.kept_size < ENOUGH_BLOCKS
            wanted = min(MAX_CHUNKS, -(-size // ROW_CHUNK))
        else:
            few = -(-self.kept_size // 32) < ENOUGH_BLOCKS
            wanted = min(MAX_COLUMN_CHUNKS, -(-size // COLUMN_CHUNK))
        if not few or wanted < 2:
            return 1, max(size, 1)
        length = -(-size // wanted)
        return -(-size // length), length


def sizes_of(kernel: Kernel) -> tuple[int, ...]:
    """Return the sizes of a kernel's domain."""
    return tuple(whole(s) for s in kernel.domain.shape)


def in_memory_order(
    axes: Sequence[int], arrays: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    """Return `axes` from the outermost in memory to the innermost.

    The first array that steps along both of two axes decides on their order.
    """
    found: list[int] = []
    for axis in axes:
        place = len(found)
        while place > 0 and _goes_outside(axis, found[place - 1], arrays):
            place -= 1
        found.insert(place, axis)
    return tuple(found)


def _goes_outside(axis: int, other: int, arrays: Sequence[tuple[int, ...]]) -> bool:
    for strides in arrays:
        mine, others = abs(strides[axis]), abs(strides[other])
        if mine and others and mine != others:
            return mine > others
    return False


def geometry_of(kernel: Kernel, arrays: Mapping[Value, Array]) -> Geometry:
    """Return the geometry of a kernel with reductions."""
    sizes = sizes_of(kernel)
    assert kernel.domain.reduced is not None
    full = [a.strides for v, a in arrays.items() if kernel.is_full(v)]
    strides = full or [a.strides for a in arrays.values()]
    order = in_memory_order(range(len(sizes)), strides)
    large = [a for a in order if sizes[a] != 1]
    reduced = tuple(a for a in order if a in kernel.domain.reduced)
    kept = tuple(a for a in order if a not in kernel.domain.reduced)
    rows = not large or large[-1] in reduced
    return Geometry(sizes, kept, reduced, rows)


def index_type(sizes: Sequence[int], arrays: Sequence[Array]) -> str:
    """Return the type of indices: int, unless an element lies beyond its range."""
    far = max((reach(sizes, a.strides) for a in arrays), default=0)
    return "int" if max(math.prod(sizes), far) < INT_LIMIT else "long long"
