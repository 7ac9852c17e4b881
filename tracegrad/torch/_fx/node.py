"""A call in a graph, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Target: TypeAlias = Callable[..., Any] | str


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Return an argument with `fn` of each node in it."""
    return map_aggregate(a, lambda part: fn(part) if isinstance(part, Node) else part)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Return nested tuples, lists, dicts and slices with `fn` of what is in them."""
    if isinstance(a, tuple):
        parts = [map_aggregate(part, fn) for part in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(part, fn) for part in a]
    if isinstance(a, dict):
        return {key: map_aggregate(value, fn) for key, value in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(p, fn) for p in (a.start, a.stop, a.step)))
    return fn(a)


class Node:
    """One step of a graph.

    Attributes
    ----------
    graph : Graph
    name : str
        Of its result; unique in the graph.
    op : str
        ``placeholder``, ``get_attr``, ``call_function``, ``call_module``,
        ``call_method`` or ``output``.
    target : str or callable
        What is called or read.
    args, kwargs
        With nodes in place of values.
    users : dict of Node
        The nodes that take its result, in order.
    meta : dict
    """

    def __init__(
        self,
        graph: Any,
        name: str,
        op: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self.type: Any = None
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._set(args, kwargs)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments by position."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by name."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set(self._args, kwargs)

    def _set(self, args: Any, kwargs: Any) -> None:
        for used in self.all_input_nodes:
            used.users.pop(self, None)
        self._args, self._kwargs = tuple(args), dict(kwargs)
        for used in self.all_input_nodes:
            used.users[self] = None

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among its arguments, each once."""
        found: dict[Node, None] = {}
        map_arg((self._args, self._kwargs), lambda node: found.setdefault(node))
        return list(found)

    @property
    def next(self) -> Node:
        """The following node."""
        nodes: list[Node] = self.graph._nodes
        return nodes[nodes.index(self) + 1]

    @property
    def prev(self) -> Node:
        """The preceding node."""
        nodes: list[Node] = self.graph._nodes
        return nodes[nodes.index(self) - 1]

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take another node's result in place of one's."""

        def changed(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set(map_arg(self._args, changed), map_arg(self._kwargs, changed))

    def replace_all_uses_with(self, replace_with: Node) -> list[Node]:
        """Let every user take another node's result; return the users."""
        users = [user for user in self.users if user is not replace_with]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    def append(self, x: Node) -> None:
        """Move a node to the place after this one."""
        nodes: list[Node] = self.graph._nodes
        nodes.remove(x)
        nodes.insert(nodes.index(self) + 1, x)

    def prepend(self, x: Node) -> None:
        """Move a node to the place before this one."""
        nodes: list[Node] = self.graph._nodes
        nodes.remove(x)
        nodes.insert(nodes.index(self), x)

    def format_node(self) -> str:
        """Return its line of the graph's text."""
        if self.op == "placeholder":
            default = f" = {self._args[0]!r}" if self._args else ""
            return f"%{self.name} : [num_users={len(self.users)}]{default}"
        if self.op == "output":
            return f"return {_shown(self._args[0])}"
        parts = [_shown(arg) for arg in self._args]
        parts += [f"{key}={_shown(value)}" for key, value in self._kwargs.items()]
        return (
            f"%{self.name} : [num_users={len(self.users)}] = "
            f"{self.op}[target={target_name(self.target)}]({', '.join(parts)})"
        )

    def __repr__(self) -> str:
        return self.name


def _shown(arg: Any) -> str:
    return str(map_arg(arg, lambda node: Shown(f"%{node.name}")))


class Shown:
    """Text that represents itself, inside tuples and lists too."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def target_name(target: Target) -> str:
    """Return how a target is written."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None) or ""
    name = getattr(target, "__name__", repr(target))
    return f"{module.replace('_operator', 'operator')}.{name}" if module else name
