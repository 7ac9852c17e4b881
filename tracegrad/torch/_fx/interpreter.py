"""Run a graph node by node."""

from __future__ import annotations

from typing import Any

from tracegrad.errors import ArgumentError
from tracegrad.torch._fx.graph import Graph
from tracegrad.torch._fx.graph_module import GraphModule
from tracegrad.torch._fx.node import Node, Target, map_arg
from tracegrad.torch._fx.proxy import GraphAppendingTracer, Proxy


class Interpreter:
    """Runs a graph; its methods may be replaced, one for each kind of node.

    Parameters
    ----------
    module : Module
        What the graph's names are looked up in.
    graph : Graph, optional
        The module's own if not given.
    """

    def __init__(
        self,
        module: Any,
        garbage_collect_values: bool = True,
        graph: Graph | None = None,
    ) -> None:
        self.module = module
        self.graph: Graph = module.graph if graph is None else graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.args_iter: Any = iter(())

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Return what the graph returns for these inputs."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node not in self.env:
                self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
        return None

    def run_node(self, n: Node) -> Any:
        """Return the result of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[Any, Any]:
        """Return a node's arguments with values in place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(
            n.kwargs, n
        )

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return arguments with values in place of nodes."""
        return map_arg(args, self.env.__getitem__)

    def fetch_attr(self, target: str) -> Any:
        """Return an attribute of the module, by its dotted name."""
        found = self.module
        for part in target.split("."):
            found = getattr(found, part)
        return found

    def placeholder(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return the next input, or its default.

        Raises
        ------
        ArgumentError
            If there is none.
        """
        for value in self.args_iter:
            return value
        if not args:
            raise ArgumentError(f"run(): no value is given for the input {target}")
        return args[0]

    def get_attr(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return an attribute of the module."""
        return self.fetch_attr(str(target))

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return what a function returns."""
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return what a method returns."""
        owner, *rest = args
        return getattr(owner, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return what a submodule returns."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return the graph's result."""
        return args[0]


class Transformer(Interpreter):
    """Runs a graph on proxies, which makes another graph."""

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = GraphAppendingTracer(self.new_graph)

    def placeholder(self, target: Target, args: Any, kwargs: Any) -> Proxy:
        """Return a proxy of a new input."""
        return self.tracer.create_proxy("placeholder", target, args, {})

    def get_attr(self, target: Target, args: Any, kwargs: Any) -> Proxy:
        """Return a proxy of an attribute."""
        return self.tracer.create_proxy("get_attr", target, (), {})

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return a proxy of a call."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return a proxy of a call."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def call_module(self, target: Target, args: Any, kwargs: Any) -> Any:
        """Return a proxy of a call."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return a module of the new graph."""
        result = super().run()
        self.new_graph.output(self.tracer.create_arg(result))
        return GraphModule(self.module, self.new_graph)
