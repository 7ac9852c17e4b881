"""A module that runs a graph."""

from __future__ import annotations

from typing import Any

import tracegrad as tg
from tracegrad.torch._fx.graph import Graph


class GraphModule(tg.nn.Module):
    """A module whose forward is a graph's Python source.

    Parameters
    ----------
    root : Module or dict
        Where submodules, parameters and buffers that the graph names come from.
    graph : Graph
    class_name : str

    Attributes
    ----------
    graph : Graph
        Call `recompile` after changing it; assigning another one does.
    code : str
        The source that runs.
    """

    def __init__(
        self, root: Any, graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        self.training = getattr(root, "training", True)
        self._name = class_name
        self._code = ""
        for node in graph.nodes:
            if node.op in ("call_module", "get_attr"):
                self._adopt(root, str(node.target))
        self.graph = graph

    def _adopt(self, root: Any, path: str) -> None:
        parts = path.split(".")
        target: Any = self
        source = root
        for part in parts[:-1]:
            source = source[part] if isinstance(source, dict) else getattr(source, part)
            if part not in target._modules:
                target.add_module(part, tg.nn.Module())
            target = target._modules[part]
        last = parts[-1]
        value = root[path] if isinstance(root, dict) else getattr(source, last)
        plain_tensor = isinstance(value, tg.Tensor)
        if plain_tensor and not isinstance(value, tg.nn.Parameter):
            target.register_buffer(last, value)
        elif isinstance(value, tg.nn.Module):
            target.add_module(last, value)
        else:
            setattr(target, last, value)

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""
        found: Graph = self.__dict__["_graph"]
        return found

    @graph.setter
    def graph(self, graph: Graph) -> None:
        self.__dict__["_graph"] = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of forward."""
        return self._code

    def recompile(self) -> Any:
        """Make forward of the graph as it is now."""
        made = self.graph.python_code("self")
        namespace = dict(made.globals)
        exec(compile(made.src, "<graph module>", "exec"), namespace)
        self.__dict__["forward"] = namespace["forward"].__get__(self)
        self._code = made.src
        return made

    def add_submodule(self, target: str, m: tg.nn.Module) -> bool:
        """Add a submodule under a dotted name."""
        *above, last = target.split(".")
        parent: Any = self
        for part in above:
            if part not in parent._modules:
                parent.add_module(part, tg.nn.Module())
            parent = parent._modules[part]
        parent.add_module(last, m)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove direct submodules that the graph does not call."""
        called = self.graph.find_nodes(op="call_module")
        used = {str(node.target).partition(".")[0] for node in called}
        for name in [name for name in self._modules if name not in used]:
            del self._modules[name]

    def print_readable(self, print_output: bool = True, **_: Any) -> str:
        """Return the source, and print it."""
        if print_output:
            print(self._code)
        return self._code

    def __deepcopy__(self, memo: Any) -> GraphModule:
        copied = Graph()
        result = copied.graph_copy(self.graph, {})
        copied.output(result)
        return GraphModule(self, copied, self._name)
