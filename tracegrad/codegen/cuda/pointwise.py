"""Kernels without reductions: one thread per point, striding over the grid."""

from __future__ import annotations

from collections.abc import Mapping

from tracegrad.codegen.c_family.body import Array, Naming, Scope
from tracegrad.codegen.c_family.indexing import Space
from tracegrad.codegen.c_family.names import CNames
from tracegrad.codegen.cuda.dialect import CUDA
from tracegrad.codegen.cuda.geometry import (
    MAX_BLOCKS,
    POINTWISE_THREADS,
    in_memory_order,
    index_type,
    sizes_of,
)
from tracegrad.codegen.cuda.launch import (
    Argument,
    CudaSource,
    Head,
    Launch,
    comments,
    index_parts,
    parameter,
    read_parameters,
)
from tracegrad.codegen.kernel import Kernel
from tracegrad.ir.graph import Value


def write_pointwise(
    source: CudaSource,
    kernel: Kernel,
    reads: Mapping[Value, Array],
    writes: Mapping[Value, Array],
    stored: Mapping[Value, Argument] | None = None,
) -> Launch:
    """Add a kernel that computes each point by itself; return its launch.

    Parameters
    ----------
    source : CudaSource
    kernel : Kernel
    reads, writes : mapping from Value to Array
        What lies in memory, and what is to be written.
    stored : mapping, optional
        Where values that an earlier launch computed lie, if not in their own array.
    """
    sizes = sizes_of(kernel)
    arrays = [*writes.values(), *reads.values()]
    strides = [a.strides for a in arrays]
    order = in_memory_order(range(len(sizes)), strides)
    space = Space("i", order, sizes, strides)
    naming = Naming(kernel, reads, source.helpers, kernel_names(arrays))
    outside = Scope(naming, [])
    scope = Scope(naming, [space], outside)
    for value, array in writes.items():
        scope.statements.append(scope.store(value, array))
    kind = index_type(sizes, arrays)
    texts, values = read_parameters(naming)
    texts += [parameter(a, written=True) for a in writes.values()]
    head = Head(
        source.names.unique(kernel.name),
        texts,
        POINTWISE_THREADS,
        comments(kernel, list(writes)),
    )
    source.add(
        "cuda/pointwise.cu.j2",
        head,
        index=kind,
        size=space.size,
        before=outside.statements,
        body=[*index_parts(kind, space.parts()), *scope.statements],
    )
    blocks = min(-(-space.size // POINTWISE_THREADS), MAX_BLOCKS)
    where = stored or {}
    arguments = tuple(where.get(v, v) for v in (*values, *writes))
    return Launch(head.name, (blocks,), (POINTWISE_THREADS,), arguments)


def kernel_names(arrays: list[Array]) -> CNames:
    """Return the names of one kernel, where its parameters have theirs already."""
    return CNames(CUDA.reserved | {a.name for a in arrays})
