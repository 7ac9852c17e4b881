"""The kernels whose text is kept in golden/cuda/, for people to read in a change.

After a change that is meant, write them anew and read the difference::

    python -m tests.codegen.golden
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.cuda import functions
from tests.cuda.emitted import cuda_text, emitted, fused_graph
from tracegrad.ir.graph import Graph, Node
from tracegrad.location import Location

FOLDER: Final = Path(__file__).parent / "golden" / "cuda"


def _zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


CASES: Final[dict[str, tuple[Callable[..., Any], list[Any]]]] = {
    "chain_with_bias": (functions.two_outputs, [_zeros(64, 48), _zeros(48)]),
    "half_chain_strided": (
        functions.chain,
        [_zeros(8, 6, dtype=np.float16).T, _zeros(12, 8, dtype=np.float16)[::2]],
    ),
    "softmax": (functions.softmax_rows, [_zeros(64, 100)]),
    "layer_norm": (functions.layer_norm, [_zeros(8, 1024), _zeros(1024), _zeros(1024)]),
    "batch_norm": (functions.batch_norm, [_zeros(128, 4096), _zeros(4096)]),
    "column_sum_in_chunks": (functions.column_sum, [_zeros(4096, 40)]),
    "full_sum": (functions.full_sum, [_zeros(512, 512)]),
}


def text_of(name: str) -> str:
    """The CUDA C of a case; its operators stand on lines 1, 2, … of model.py."""
    function, inputs = CASES[name]
    graph = fused_graph(function, inputs, name)
    return cuda_text(emitted(_with_lines(graph)))


def _with_lines(graph: Graph) -> Graph:
    (node,) = graph.nodes
    body = node.attribute("graph")
    nodes = tuple(
        replace(node, location=Location("model.py", line))
        for line, node in enumerate(body.nodes, 1)
    )
    whole: Node = replace(node, attributes=(("graph", replace(body, nodes=nodes)),))
    return replace(graph, nodes=(whole,))


def main() -> None:
    """Write the golden files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        (FOLDER / f"{name}.cu").write_text(text_of(name))


if __name__ == "__main__":
    main()
