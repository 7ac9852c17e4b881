"""Nested tuples, lists and dicts of tensors: taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tracegrad.errors import ArgumentError

# From new leaves, in order, to a tree of the same form.
Build: TypeAlias = Callable[[Sequence[Any]], Any]


def flatten(tree: Any) -> tuple[list[Any], Build]:
    """Return the leaves of a tree, and how to build it from others.

    Tuples (named ones too), lists and dicts are nodes; all else is a leaf.
    """
    leaves: list[Any] = []
    build = _take_apart(tree, leaves)
    return leaves, build


def _take_apart(tree: Any, leaves: list[Any]) -> Build:
    if type(tree) in (tuple, list):
        return _of_parts([_take_apart(item, leaves) for item in tree], type(tree))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        parts = [_take_apart(item, leaves) for item in tree]
        return _of_parts(parts, type(tree)._make)  # type: ignore[attr-defined]
    if isinstance(tree, dict):
        parts = [_take_apart(item, leaves) for item in tree.values()]
        kind, keys = type(tree), list(tree)
        return _of_parts(parts, lambda items: kind(zip(keys, items, strict=True)))
    place = len(leaves)
    leaves.append(tree)
    return lambda given: given[place]


def _of_parts(parts: list[Build], make: Callable[[list[Any]], Any]) -> Build:
    return lambda given: make([part(given) for part in parts])


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the tree with `function` of each leaf."""
    leaves, build = flatten(tree)
    return build([function(leaf) for leaf in leaves])


def spread(prefix: Any, tree: Any, name: str) -> list[Any]:
    """Return one value of `prefix` for each leaf of `tree`.

    A value stands for all that is below its place: 0 for ``(0, 0)``.

    Raises
    ------
    ArgumentError
        If the forms do not agree.
    """
    if not isinstance(prefix, tuple | list | dict):
        return [prefix] * len(flatten(tree)[0])
    pairs = _matched(prefix, tree, name)
    return [value for p, t in pairs for value in spread(p, t, name)]


def _matched(prefix: Any, tree: Any, name: str) -> list[tuple[Any, Any]]:
    """Return the entries of one node of `prefix` with those of `tree`."""
    if isinstance(prefix, dict) and isinstance(tree, dict):
        if set(prefix) != set(tree):
            raise ArgumentError(f"{name}: the keys {list(prefix)} are not {list(tree)}")
        return [(prefix[key], value) for key, value in tree.items()]
    if isinstance(prefix, dict) or not isinstance(tree, tuple | list):
        raise ArgumentError(f"{name}: {prefix!r} does not have the form of the values")
    if len(prefix) != len(tree):
        raise ArgumentError(f"{name}: {len(prefix)} entries for {len(tree)} values")
    return list(zip(prefix, tree, strict=True))
