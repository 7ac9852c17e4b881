"""``torch.utils._pytree``: nested tuples, lists and dicts taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import tracegrad.func.trees as trees

PyTree: TypeAlias = Any


class TreeSpec:
    """The form of a tree.

    Attributes
    ----------
    num_leaves : int
    """

    def __init__(self, build: trees.Build, num_leaves: int) -> None:
        self._build = build
        self.num_leaves = num_leaves
        self._shape = repr(build([None] * num_leaves))

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """Return a tree of this form."""
        return self._build(list(leaves))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and other._shape == self._shape

    def __hash__(self) -> int:
        return hash(self._shape)

    def __repr__(self) -> str:
        return f"TreeSpec({self._shape})"


def tree_flatten(tree: PyTree, is_leaf: Any = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, and its form."""
    leaves, build = trees.flatten(tree)
    return leaves, TreeSpec(build, len(leaves))


def tree_unflatten(leaves: Sequence[Any], treespec: TreeSpec) -> PyTree:
    """Return a tree of leaves and a form."""
    return treespec.unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: Any = None) -> list[Any]:
    """Return the leaves of a tree."""
    return trees.flatten(tree)[0]


def tree_structure(tree: PyTree, is_leaf: Any = None) -> TreeSpec:
    """Return the form of a tree."""
    return tree_flatten(tree)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Any = None
) -> PyTree:
    """Return the tree of what `func` makes of the leaves of one or several trees."""
    leaves, build = trees.flatten(tree)
    others = [trees.flatten(rest)[0] for rest in rests]
    return build([func(*group) for group in zip(leaves, *others, strict=True)])


def tree_map_only(kind: Any, func: Callable[..., Any], tree: PyTree) -> PyTree:
    """Return the tree with `func` of those leaves that are of a class."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return whether `pred` holds for every leaf."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return whether `pred` holds for a leaf."""
    return any(map(pred, tree_leaves(tree)))
