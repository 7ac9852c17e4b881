"""While a function is traced, tracegrad's functions record calls on proxies.

A function that is called with a proxy among its arguments becomes a node; without one
it runs. It is replaced where programs find it: in tracegrad's public modules, and among
the globals of the functions that are traced.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tracegrad.torch._facade import Facade
from tracegrad.torch._fx.node import map_aggregate
from tracegrad.torch._fx.proxy import Proxy

_PUBLIC = (
    "tracegrad",
    "tracegrad.nn.functional",
    "tracegrad.linalg",
    "tracegrad.fft",
    "tracegrad.special",
)
Place = tuple[dict[str, Any], str]
_wrapped_by_users: list[Place] = []


def wrap_in(namespace: dict[str, Any], name: str) -> None:
    """Let a user's function, a global of that name, become a node when traced."""
    _wrapped_by_users.append((namespace, name))


def proxy_among(*values: Any) -> Proxy | None:
    """Return the first proxy in nested arguments."""
    found: list[Proxy] = []
    map_aggregate(values, lambda p: found.append(p) if isinstance(p, Proxy) else None)
    return found[0] if found else None


def recording(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, recorded when it is called on a proxy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        proxy = proxy_among(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", function, args, kwargs)

    return call


def _is_function(name: str, value: Any) -> bool:
    # Objects with a call of their own, such as settings and types, stay.
    if name.startswith("_") or not inspect.isroutine(value):
        return False
    return (getattr(value, "__module__", None) or "").startswith("tracegrad")


def _public_places() -> Iterator[Place]:
    modules = [sys.modules[name] for name in _PUBLIC if name in sys.modules]
    modules += [module for module in sys.modules.values() if type(module) is Facade]
    for module in dict.fromkeys(modules):
        namespace = module.__dict__
        yield from (
            (namespace, name)
            for name, value in list(namespace.items())
            if _is_function(name, value)
        )


@contextmanager
def patched(user_globals: Iterable[dict[str, Any]]) -> Iterator[None]:
    """Replace the functions while the block runs."""
    places = list(_public_places())
    known = {id(namespace[name]) for namespace, name in places}
    for namespace in user_globals:
        places += [
            (namespace, name) for name, value in namespace.items() if id(value) in known
        ]
    places += _wrapped_by_users
    before = [(namespace, name, namespace[name]) for namespace, name in places]
    original = {recording(function): function for _, _, function in before}
    recorder_of = {id(function): call for call, function in original.items()}
    try:
        for namespace, name, function in before:
            namespace[name] = recorder_of[id(function)]
        yield
    finally:
        for namespace, name, function in before:
            namespace[name] = function
        _restore_facades(original)


def _restore_facades(original: dict[Any, Any]) -> None:
    """Undo in facades too, which keep what was looked up while functions recorded."""
    for module in list(sys.modules.values()):
        if type(module) is not Facade:
            continue
        kept = module.__dict__
        for name, value in list(kept.items()):
            if inspect.isroutine(value) and value in original:
                kept[name] = original[value]
