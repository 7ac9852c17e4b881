"""From a module or function to a graph, by running it on proxies."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tracegrad as tg
from tracegrad.errors import ArgumentTypeError
from tracegrad.torch._fx.graph import Graph
from tracegrad.torch._fx.graph_module import GraphModule
from tracegrad.torch._fx.node import map_aggregate
from tracegrad.torch._fx.patches import patched, proxy_among, wrap_in
from tracegrad.torch._fx.proxy import GraphAppendingTracer, Proxy


class Tracer(GraphAppendingTracer):
    """Runs a module on proxies and keeps what it does.

    Attributes
    ----------
    root : Module
    graph : Graph
    """

    def __init__(
        self,
        autowrap_modules: tuple[Any, ...] = (),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._functions = autowrap_functions

    def is_leaf_module(self, m: tg.nn.Module, module_qualified_name: str) -> bool:
        """Return whether calls of a module stay one node: those of tracegrad's do."""
        is_ours = type(m).__module__.startswith("tracegrad.nn")
        return is_ours and not isinstance(m, tg.nn.Sequential)

    def path_of_module(self, mod: tg.nn.Module) -> str:
        """Return a submodule's name from the root.

        Raises
        ------
        ArgumentTypeError
            If it is none.
        """
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise ArgumentTypeError("a module was called that is no submodule of the root")

    def call_module(
        self,
        m: tg.nn.Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Record a call of a leaf module; run others."""
        name = self.path_of_module(m)
        if self.is_leaf_module(m, name):
            return self.create_proxy("call_module", name, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a: Any) -> Any:
        """Return an argument with nodes for proxies and for the root's tensors."""
        return map_aggregate(a, self._node_of)

    def _node_of(self, part: Any) -> Any:
        if isinstance(part, Proxy):
            return part.node
        if not isinstance(part, tg.Tensor):
            return part
        for name, value in (*self.root.named_parameters(), *self.root.named_buffers()):
            if value is part:
                return self.graph.get_attr(name)
        return self.graph.get_attr(self._constant(part))

    def _constant(self, value: tg.Tensor) -> str:
        count = 0
        while hasattr(self.root, f"_tensor_constant{count}"):
            count += 1
        name = f"_tensor_constant{count}"
        self.root.register_buffer(name, value)
        return name

    def trace(
        self,
        root: tg.nn.Module | Callable[..., Any],
        concrete_args: dict[str, Any] | None = None,
    ) -> Graph:
        """Return the graph of a module's forward, or of a function.

        Parameters
        ----------
        root : Module or callable
        concrete_args : dict, optional
            Values of parameters that are not to become inputs.
        """
        self.root: tg.nn.Module
        self.root = root if isinstance(root, tg.nn.Module) else tg.nn.Module()
        self.graph = Graph(self.root)
        function = root.forward if isinstance(root, tg.nn.Module) else root
        args, kwargs = self._inputs(function, concrete_args or {})
        with self._modules_recorded(), patched(self._globals(function)):
            result = function(*args, **kwargs)
        self.graph.output(self.create_arg(result))
        return self.graph

    def _inputs(
        self, function: Callable[..., Any], concrete: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            value = concrete.get(name)
            if name not in concrete:
                default = parameter.default
                given = () if default is parameter.empty else (default,)
                value = self.create_proxy("placeholder", name, given, {})
            if parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        return args, kwargs

    def _globals(self, function: Callable[..., Any]) -> list[dict[str, Any]]:
        names = {type(module).__module__ for module in self.root.modules()}
        names.add(getattr(function, "__module__", "") or "")
        found = [vars(sys.modules[n]) for n in sorted(names) if n in sys.modules]
        found.append(getattr(inspect.unwrap(function), "__globals__", {}))
        outside = [each for each in found if not _is_tracegrads(each)]
        return list({id(each): each for each in outside}.values())

    @contextmanager
    def _modules_recorded(self) -> Iterator[None]:
        plain = tg.nn.Module.__call__
        tracer = self

        def call(self: tg.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if proxy_among(args, kwargs) is None:
                return plain(self, *args, **kwargs)

            def forward(*given: Any, **named: Any) -> Any:
                return plain(self, *given, **named)

            return tracer.call_module(self, forward, args, kwargs)

        tg.nn.Module.__call__ = call  # type: ignore[method-assign]
        try:
            yield
        finally:
            tg.nn.Module.__call__ = plain  # type: ignore[method-assign]


def _is_tracegrads(namespace: dict[str, Any]) -> bool:
    return str(namespace.get("__name__", "")).startswith("tracegrad.")


def symbolic_trace(
    root: tg.nn.Module | Callable[..., Any],
    concrete_args: dict[str, Any] | None = None,
) -> GraphModule:
    """Return a module that runs the graph of calls of a module or function.

    Parameters
    ----------
    root : Module or callable
        Run once on proxies. A branch on a value raises; `tracegrad.trace`, which
        runs on tensors, follows branches.
    concrete_args : dict, optional
        Values of parameters that are not to become inputs.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    is_module = isinstance(root, tg.nn.Module)
    name = type(root).__name__ if is_module else getattr(root, "__name__", "function")
    return GraphModule(tracer.root, graph, name)


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Let calls of a global function of the calling module become nodes when traced.

    Parameters
    ----------
    fn_or_name : str or callable
        May be used as a decorator.
    """
    if callable(fn_or_name):
        wrap_in(fn_or_name.__globals__, fn_or_name.__name__)
    else:
        frame = inspect.currentframe()
        caller = None if frame is None else frame.f_back
        assert caller is not None
        namespace = caller.f_globals
        # A builtin is found behind the globals; it is put among them.
        builtins = namespace["__builtins__"]
        found = builtins if isinstance(builtins, dict) else vars(builtins)
        namespace.setdefault(fn_or_name, found.get(fn_or_name))
        wrap_in(namespace, fn_or_name)
    return fn_or_name
