"""Floor 3: the Graph, its builder, text, verifier and reference interpreter."""

from tracegrad.ir.fused import fused
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
from tracegrad.ir.parser import parse
from tracegrad.ir.verifier import verify

__all__ = [
    "BindGrad",
    "Check",
    "Graph",
    "Node",
    "Value",
    "WriteState",
    "WriteStorage",
    "fused",
    "interpret",
    "parse",
    "verify",
]
