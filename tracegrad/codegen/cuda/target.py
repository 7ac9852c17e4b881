"""The target ``cuda``: a program as a Python module that needs CuPy only."""

from __future__ import annotations

from tracegrad.codegen.cuda.module import ModuleWriter
from tracegrad.codegen.environment import render
from tracegrad.codegen.program import Program
from tracegrad.codegen.source import Source

_ARENA = "make_arena"


def emit_cuda(program: Program) -> Source:
    """Return `program` as CUDA source and the Python that launches it.

    The entry takes and gives what that of the target ``numpy`` does, on the device.

    Raises
    ------
    CompileError
        If an operator can be written neither as a kernel nor as a call.
    """
    writer = ModuleWriter(program)
    writer.run()
    graph = program.graph
    entry = writer.names.unique(graph.name)
    library = writer.calls.library
    text = render(
        "cuda/program.py.j2",
        title=f"{entry}: emitted by tracegrad for CUDA.",
        imports=_imports(writer),
        functions=list(library.functions.values()),
        launches=writer.launches,
        source=writer.source.text(),
        uses_layout=writer.uses_layout,
        arena=_ARENA,
        entry=entry,
        parameters=", ".join([*writer.parameters, "arena"]),
        body=writer.body,
        returned=writer.returned,
        commits=writer.commits,
    )
    constants = {
        name: constant.array
        for name, constant in zip(
            writer.parameters[len(graph.inputs) :], graph.constants, strict=True
        )
    }
    return Source(
        "cuda",
        text,
        entry,
        _ARENA,
        constants,
        library.names,
        kernels=tuple(kernel for _, kernel in writer.launches),
    )


def _imports(writer: ModuleWriter) -> list[str]:
    library = writer.calls.library
    # NumPy's name in a kernel's own source means CuPy, as its parameter does.
    lines = [text for name, text in library.imports.items() if name != "np"]
    if not {"DType", "Operator"}.isdisjoint(library.functions):
        lines.insert(0, "from typing import NamedTuple")
    if any("ml_dtypes" in line.text for line in writer.body) and (
        "ml_dtypes" not in library.imports
    ):
        lines.insert(0, "import ml_dtypes")
    return lines
