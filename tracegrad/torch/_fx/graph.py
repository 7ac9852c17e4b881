"""A list of calls, in the order in which they run."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tracegrad.errors import ArgumentError, StateError
from tracegrad.torch._fx.node import Node, Shown, Target, map_arg, target_name


class PythonCode(NamedTuple):
    """A graph as the source of a function, and the globals that it needs."""

    src: str
    globals: dict[str, Any]


class Graph:
    """A function as a list of nodes.

    Attributes
    ----------
    nodes : list of Node
        In the order in which they run; the last is the output.
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None) -> None:
        self._nodes: list[Node] = []
        self._names: set[str] = set()
        self._insert_at: Callable[[], int] = lambda: len(self._nodes)
        self.owning_module = owning_module

    @property
    def nodes(self) -> list[Node]:
        """The nodes, as a list of one's own."""
        return list(self._nodes)

    # -- making nodes -----------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node at the insertion point, the end unless `inserting_before` says."""
        node = Node(
            self, self._name_for(name or target), op, target, args or (), kwargs or {}
        )
        node.type = type_expr
        self._nodes.insert(self._insert_at(), node)
        return node

    def _name_for(self, wanted: Target) -> str:
        text = target_name(wanted).rpartition(".")[2] if callable(wanted) else wanted
        base = re.sub(r"\W", "_", text).strip("_").lower() or "value"
        base = f"_{base}" if base[0].isdigit() else base
        name, count = base, 0
        reserved = keyword.iskeyword(base) or hasattr(builtins, base)
        while name in self._names or (reserved and count == 0):
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def placeholder(
        self, name: str, type_expr: Any = None, default_value: Any = None
    ) -> Node:
        """Add an input."""
        args = () if default_value is None else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add the reading of a parameter, buffer or attribute."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function."""
        return self.create_node(
            "call_function", the_function, args, kwargs, name, type_expr
        )

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a submodule."""
        return self.create_node("call_module", module_name, args, kwargs)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Add the return."""
        return self.create_node("output", "output", (result,))

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node
    ) -> Node:
        """Add a copy of another graph's node."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copy = self.create_node(node.op, node.target, args, kwargs, node.name)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(self, g: Graph, val_map: dict[Node, Any]) -> Any:
        """Add copies of all of a graph's nodes; return what it returns, mapped."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                return map_arg(node.args[0], val_map.__getitem__)
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    # -- changing ---------------------------------------------------------------

    @contextmanager
    def _inserting(self, at: Callable[[], int]) -> Iterator[None]:
        before, self._insert_at = self._insert_at, at
        try:
            yield
        finally:
            self._insert_at = before

    def inserting_before(self, n: Node | None = None) -> Any:
        """Let new nodes come before one, in a ``with`` block."""
        return self._inserting(lambda: self._nodes.index(n) if n else 0)

    def inserting_after(self, n: Node | None = None) -> Any:
        """Let new nodes come after one, in a ``with`` block."""
        first = len(self._nodes)

        def place() -> int:
            added = len(self._nodes) - first
            return (self._nodes.index(n) + 1 if n else 0) + added

        return self._inserting(place)

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node.

        Raises
        ------
        StateError
            If its result is used.
        """
        if to_erase.users:
            raise StateError(
                f"erase_node(): {to_erase.name} is still used by {list(to_erase.users)}"
            )
        to_erase.args, to_erase.kwargs = (), {}
        self._nodes.remove(to_erase)

    def eliminate_dead_code(self, is_impure_node: Any = None) -> bool:
        """Remove calls whose results nobody uses; return whether there were any."""
        before = len(self._nodes)
        for node in reversed(self.nodes):
            if node.op not in ("placeholder", "output") and not node.users:
                self.erase_node(node)
        return len(self._nodes) < before

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> Any:
        """Return the nodes of a kind, and of a target if one is given."""
        return [
            node
            for node in self._nodes
            if node.op == op and (target is None or node.target == target)
        ]

    def lint(self) -> None:
        """Check that each node comes after what it uses.

        Raises
        ------
        ArgumentError
            If one does not.
        """
        seen: set[Node] = set()
        for node in self._nodes:
            missing = [used for used in node.all_input_nodes if used not in seen]
            if missing:
                raise ArgumentError(f"lint(): {node.name} comes before its {missing}")
            seen.add(node)

    # -- showing ----------------------------------------------------------------

    def __str__(self) -> str:
        lines = [f"    {node.format_node()}" for node in self._nodes]
        return "\n".join(["graph():", *lines])

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [
            (n.op, n.name, target_name(n.target), str(n.args), str(n.kwargs))
            for n in self._nodes
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = zip(row, widths, strict=True)
            print("  ".join(cell.ljust(width) for cell, width in cells).rstrip())

    def python_code(self, root_module: str = "self") -> PythonCode:
        """Return the graph as the source of ``forward``."""
        names: dict[str, Any] = {}
        inputs = [_input_text(node) for node in self.find_nodes(op="placeholder")]
        steps = [n for n in self._nodes if n.op != "placeholder"]
        body = [f"    {_statement(node, root_module, names)}" for node in steps]
        head = f"def forward({', '.join([root_module, *inputs])}):"
        return PythonCode("\n".join([head, *(body or ["    pass"]), ""]), names)


def _input_text(node: Node) -> str:
    target = str(node.target)
    stars = target[: len(target) - len(target.lstrip("*"))]
    default = f" = {node.args[0]!r}" if node.args else ""
    return f"{stars}{node.name}{default}"


def _statement(node: Node, root: str, names: dict[str, Any]) -> str:
    def shown(value: Any) -> str:
        return repr(_written(value, names))

    if node.op == "output":
        return f"return {shown(node.args[0])}"
    if node.op == "get_attr":
        return f"{node.name} = {root}.{node.target}"
    parts = [shown(arg) for arg in node.args]
    keywords = [f"{key}={shown(value)}" for key, value in node.kwargs.items()]
    if node.op == "call_method":
        call = f"{parts.pop(0)}.{node.target}"
    elif node.op == "call_module":
        steps = str(node.target).split(".")
        call = root + "".join(
            f".{s}" if s.isidentifier() else f".get_submodule({s!r})" for s in steps
        )
    else:
        call = _global(node.target, names)
    return f"{node.name} = {call}({', '.join([*parts, *keywords])})"


def _written(value: Any, names: dict[str, Any]) -> Any:
    """Return an argument whose parts represent themselves as source."""
    if isinstance(value, Node):
        return Shown(value.name)
    if isinstance(value, tuple | list):
        return type(value)(_written(part, names) for part in value)
    if isinstance(value, dict):
        return {key: _written(part, names) for key, part in value.items()}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        inside = ", ".join(repr(_written(part, names)) for part in parts)
        return Shown(f"slice({inside})")
    if isinstance(value, bool | int | str | None):
        return value
    return Shown(_global(value, names))


def _global(value: Any, names: dict[str, Any]) -> str:
    """Return the name under which the source finds an object; no node has it."""
    plain = getattr(value, "__name__", None) or type(value).__name__
    module = getattr(value, "__module__", None) or "builtin"
    origin = module.strip("_").partition(".")[0]
    base = re.sub(r"\W", "_", f"{origin}__{plain}")
    name, count = base, 0
    while name in names and names[name] is not value:
        count += 1
        name = f"{base}_{count}"
    names[name] = value
    return name
