"""``torch.fx``: graphs of calls without shapes, made by running a module on proxies.

A graph of calls is Python to be rewritten; it runs eagerly. For shapes, passes and
targets capture its module: `tracegrad.trace` gives the graph of operators (`ir`).
"""

from tracegrad.torch._fx.graph import Graph
from tracegrad.torch._fx.graph_module import GraphModule
from tracegrad.torch._fx.interpreter import Interpreter, Transformer
from tracegrad.torch._fx.node import Node, Target, map_arg
from tracegrad.torch._fx.proxy import GraphAppendingTracer, Proxy, TraceError
from tracegrad.torch._fx.rewriter import Match, replace_pattern
from tracegrad.torch._fx.tracer import Tracer, symbolic_trace, wrap

__all__ = [
    "Graph",
    "GraphAppendingTracer",
    "GraphModule",
    "Interpreter",
    "Match",
    "Node",
    "Proxy",
    "Target",
    "TraceError",
    "Tracer",
    "Transformer",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]
