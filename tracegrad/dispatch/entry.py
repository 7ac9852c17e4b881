"""What the tape holds: one entry for each operator applied to tracked tensors.

The data is here because making an entry is part of applying an operator; the
engine that walks the entries is in `tracegrad.autograd`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, final

from tracegrad.dispatch.hooks import EntryHooks, RemovableHandle
from tracegrad.errors import GradientError

if TYPE_CHECKING:
    from tracegrad.dispatch.operator import OpDef, Plan

# A version counter: one integer, shared by a base, its views and its detached
# aliases; behind it, once it was written under grad, where that was. A list, because
# making one costs a fifth of an object.
Version: TypeAlias = list[Any]


@final
class _InferenceVersion(list[Any]):
    """The version of all tensors made in inference mode: there is none."""

    def __getitem__(self, index: Any) -> Any:
        raise GradientError(
            "an inference tensor has no version and can't be saved for backward; "
            "use its clone() outside inference_mode"
        )


INFERENCE: Version = _InferenceVersion([0])

next_sequence = itertools.count().__next__


@final
class SavedTensor:
    """A tensor that backward needs, without keeping its Tensor alive.

    Holding the array and the tape position, not the Tensor, makes no reference
    cycle between an output and its own entry, nor after an in-place operator.
    """

    __slots__ = ("__weakref__", "array", "count", "edge", "version")

    def __init__(self, array: Any, edge: Any, version: Version) -> None:
        self.array = array
        self.edge = edge
        self.version = version
        self.count = version[0]


class Node:
    """What users see as ``grad_fn``: an entry of the tape.

    Abstract: the entries are `TapeEntry`, `LeafEntry` and those of functions that
    users write (`tracegrad.autograd.Function`).
    """

    __slots__ = ()

    hooks: EntryHooks | None
    sequence: int

    def name(self) -> str:
        """Return the name that users see, such as ``MulBackward0``."""
        raise NotImplementedError

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where cotangents go: entries, each with the index of its result."""
        return tuple(map(_target, flat_edges(self)))

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for users."""
        return hooks_of(self).metadata

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the entry ran.

        What it returns, if not None, replaces the gradients of the operands.
        """
        return RemovableHandle(hooks_of(self).after, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the entry runs.

        What it returns, if not None, replaces the gradients of the results.
        """
        return RemovableHandle(hooks_of(self).before, fn)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


def hooks_of(entry: Node) -> EntryHooks:
    """Return what is attached to `entry`, made when first asked for."""
    if entry.hooks is None:
        entry.hooks = EntryHooks()  # type: ignore[misc]
    return entry.hooks


def flat_edges(entry: Any) -> list[Edge | None]:
    """Return an entry's edges, those of an operand that is several tensors in line."""
    found: list[Edge | None] = []
    for edge in getattr(entry, "edges", ()):
        if edge.__class__ is tuple:
            found.extend(edge)
        else:
            found.append(edge)
    return found


def _target(edge: Any) -> tuple[Node | None, int]:
    if edge.__class__ is ResultEdge:
        return edge.entry, edge.index
    return edge, 0


@final
class KeptTensor:
    """A tensor that a functional level's tape needs: the Tensor itself.

    The levels outside know it by identity. No cycle comes of it, for a level's tape
    is beside the tensors, not in them.
    """

    __slots__ = ("count", "tensor", "version")

    def __init__(self, tensor: Any, version: Version) -> None:
        self.tensor = tensor
        self.version = version
        self.count = version[0]

    @property
    def array(self) -> Any:
        """What the tensor has for data."""
        return self.tensor._array


@final
class TapeEntry(Node):
    """One operator application on the tape.

    Attributes
    ----------
    plan : Plan
        The operator, what was saved, and the rules to run.
    edges : tuple
        For each operand where its cotangent goes: an edge, None, or a tuple of
        these for an operand that is several tensors.
    saved : tuple of SavedTensor or None
        What the plan asked for; None once released.
    operand_specs : tuple or None
        NumPy's ``(shape, dtype)`` of each tensor operand; None when all are those
        of the result.
    result_specs : tuple or None
        ``(shape, dtype)`` of each result where there are several.
    attributes : dict
    literals : tuple
        The operands that are no tensors, None elsewhere.
    sequence : int
        Entries made later run first.
    hooks : EntryHooks or None
    """

    __slots__ = (
        "__weakref__",
        "attributes",
        "edges",
        "hooks",
        "literals",
        "operand_specs",
        "plan",
        "result_specs",
        "saved",
        "sequence",
    )

    def __init__(
        self,
        plan: Plan,
        edges: tuple[Any, ...],
        saved: tuple[SavedTensor, ...] | None,
        operand_specs: tuple[Any, ...] | None,
        result_specs: tuple[Any, ...] | None,
        attributes: dict[str, Any],
        literals: tuple[Any, ...],
    ) -> None:
        self.plan = plan
        self.edges = edges
        self.saved = saved
        self.operand_specs = operand_specs
        self.result_specs = result_specs
        self.attributes = attributes
        self.literals = literals
        self.sequence = next_sequence()
        self.hooks: EntryHooks | None = None

    def name(self) -> str:
        """Return the operator's name in the form ``MulBackward0``."""
        return tape_name(self.plan.operator)


@final
class PairEntry(Node):
    """One operator that its kernel pair computed (`tracegrad.dispatch.kernel_pair`).

    Attributes
    ----------
    given : tuple or None
        A `SavedTensor` for each tensor operand, other operands as they are; None
        once released.
    saved_arrays : object
        What the pair's forward kept for its backward.
    results : tuple of SavedTensor
        The results, where what was kept shares their memory.
    """

    __slots__ = (
        "__weakref__",
        "attributes",
        "edges",
        "given",
        "hooks",
        "operator",
        "result_specs",
        "results",
        "saved_arrays",
        "sequence",
    )

    # Attached by `tracegrad.autograd`: the pair's backward, or the operator's own
    # derivative, with where the cotangents go.
    pull: Callable[[PairEntry, Any, bool, Any], list[tuple[Any, Any]]]

    def __init__(
        self, operator: OpDef, edges: tuple[Any, ...], attributes: dict[str, Any]
    ) -> None:
        self.operator = operator
        self.edges = edges
        self.attributes = attributes
        self.given: tuple[Any, ...] | None = ()
        self.saved_arrays: Any = None
        self.results: tuple[SavedTensor, ...] = ()
        self.result_specs: tuple[Any, ...] = ()
        self.sequence = next_sequence()
        self.hooks: EntryHooks | None = None

    def name(self) -> str:
        """Return the operator's name in the form ``MulBackward0``."""
        return tape_name(self.operator)

    def release(self) -> None:
        """Free what was saved."""
        self.given = self.saved_arrays = None
        self.results = ()


def tape_name(operator: OpDef) -> str:
    """Return what users see as the name of an operator's entries."""
    stated: str | None = operator.facts.get("tape_name")
    return stated or operator.name.title().replace("_", "") + "Backward0"


@final
class ResultEdge:
    """One of several results of a tape entry."""

    __slots__ = ("entry", "index")

    def __init__(self, entry: Any, index: int) -> None:
        self.entry = entry
        self.index = index


@final
class LeafEntry(Node):
    """Where the cotangents of a leaf end up.

    The leaf holds its entry; the entry refers to the leaf weakly, so that neither
    keeps the other in memory.
    """

    __slots__ = ("__weakref__", "hooks", "leaf", "sequence")

    def __init__(self, leaf: Any) -> None:
        self.leaf = weakref.ref(leaf)
        self.sequence = next_sequence()
        self.hooks: EntryHooks | None = None

    def name(self) -> str:
        """Return PyTorch's name for it."""
        return "AccumulateGrad"

    @property
    def variable(self) -> Any:
        """The leaf, or None if it is gone."""
        return self.leaf()


# Where a cotangent goes: an entry with one result is its own edge.
Edge: TypeAlias = Node | ResultEdge
