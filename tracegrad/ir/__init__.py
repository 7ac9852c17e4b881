"""Floor 3: the Graph, its builder, text, verifier and reference interpreter."""

from tracegrad.ir.graph import (
    BindGrad,
    Check,
    Graph,
    Node,
    Value,
    WriteState,
    WriteStorage,
)
from tracegrad.ir.interpreter import interpret

__all__ = [
    "BindGrad",
    "Check",
    "Graph",
    "Node",
    "Value",
    "WriteState",
    "WriteStorage",
    "interpret",
]
