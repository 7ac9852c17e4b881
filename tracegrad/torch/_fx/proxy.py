"""A value that is not there yet: what is done with it becomes nodes."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from tracegrad.errors import TracegradError
from tracegrad.torch._fx.graph import Graph
from tracegrad.torch._fx.node import Node, map_aggregate


class TraceError(TracegradError, ValueError):
    """A program that needs a value where there is only a proxy."""


class GraphAppendingTracer:
    """Makes nodes of a graph for what is done with proxies."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: Any,
        kwargs: Any,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Proxy:
        """Add a node and return a proxy of its result."""
        node = self.graph.create_node(
            kind, target, self.create_arg(args), self.create_arg(kwargs), name
        )
        return self.proxy(node)

    def proxy(self, node: Node) -> Proxy:
        """Return a proxy of a node's result."""
        return Proxy(node, self)

    def create_arg(self, a: Any) -> Any:
        """Return an argument with nodes in place of proxies."""
        return map_aggregate(a, lambda p: p.node if isinstance(p, Proxy) else p)


class Proxy:
    """Stands for the result of a node while a function is traced.

    Attributes
    ----------
    node : Node
    tracer : GraphAppendingTracer
    """

    def __init__(self, node: Node, tracer: Any = None) -> None:
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        """Record a call of the value."""
        return self._record("call_method", "__call__", (self, *args), kwargs)

    def _record(self, kind: str, target: Any, args: Any, kwargs: Any = None) -> Proxy:
        found: Proxy = self.tracer.create_proxy(kind, target, args, kwargs or {})
        return found

    def __bool__(self) -> bool:
        raise TraceError(
            f"the truth of {self.node.name} is not known while a function is traced; "
            "tracegrad.trace follows branches"
        )

    def __iter__(self) -> Iterator[Proxy]:
        raise TraceError(
            f"{self.node.name} can't be iterated while a function is traced: its "
            "length is not known"
        )

    def __len__(self) -> int:
        raise TraceError(
            f"the length of {self.node.name} is not known while a function is traced"
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TraceError(f"{self.node.name}[...] = … can't be traced")


class Attribute(Proxy):
    """An attribute of a proxy; a method, if it is called."""

    def __init__(self, root: Proxy, name: str) -> None:
        self._root = root
        self._attribute = name
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The reading of the attribute, added when its value is used."""
        if self._node is None:
            args = (self._root, self._attribute)
            self._node = self._record("call_function", getattr, args).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        """Record a call of the method."""
        given = (self._root, *args)
        return self._record("call_method", self._attribute, given, kwargs)


_BINARY = (
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift eq ne lt le "
    "gt ge"
)


def _binary(name: str) -> None:
    function = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def method(self: Proxy, other: Any) -> Proxy:
        return self._record("call_function", function, (self, other))

    def reflected(self: Proxy, other: Any) -> Proxy:
        return self._record("call_function", function, (other, self))

    setattr(Proxy, f"__{name}__", method)
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Proxy, f"__r{name}__", reflected)


def _unary(name: str, function: Any) -> None:
    def method(self: Proxy, *args: Any) -> Proxy:
        return self._record("call_function", function, (self, *args))

    setattr(Proxy, name, method)


for _name in _BINARY.split():
    _binary(_name)
for _name, _function in (
    ("__neg__", operator.neg),
    ("__pos__", operator.pos),
    ("__invert__", operator.invert),
    ("__abs__", operator.abs),
    ("__getitem__", operator.getitem),
):
    _unary(_name, _function)
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
