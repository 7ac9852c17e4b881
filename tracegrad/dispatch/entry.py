"""What the tape holds: one entry for each operator applied to tracked tensors.

The data is here because making an entry is part of applying an operator; the
engine that walks the entries is in `tracegrad.autograd`.
"""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias, final

if TYPE_CHECKING:
    from tracegrad.dispatch.operator import Plan

# A version counter: one integer, shared by a base, its views and its detached
# aliases. A list, because making one costs a fifth of an object.
Version: TypeAlias = list[int]

next_sequence = itertools.count().__next__


@final
class SavedTensor:
    """A tensor that backward needs, without keeping its Tensor alive.

    Holding the array and the tape position, not the Tensor, makes no reference
    cycle between an output and its own entry, nor after an in-place operator.
    """

    __slots__ = ("array", "count", "edge", "version")

    def __init__(self, array: Any, edge: Edge | None, version: Version) -> None:
        self.array = array
        self.edge = edge
        self.version = version
        self.count = version[0]


@final
class TapeEntry:
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
    hooks : list or None
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
        self.hooks: list[Any] | None = None

    @property
    def name(self) -> str:
        """The name users see, such as ``MulBackward``."""
        return self.plan.operator.name.title().replace("_", "") + "Backward"

    def __repr__(self) -> str:
        return f"<{self.name}>"


@final
class ResultEdge:
    """One of several results of a tape entry."""

    __slots__ = ("entry", "index")

    def __init__(self, entry: TapeEntry, index: int) -> None:
        self.entry = entry
        self.index = index

    def __repr__(self) -> str:
        return repr(self.entry)


@final
class LeafEntry:
    """Where the cotangents of a leaf end up.

    The leaf holds its entry; the entry refers to the leaf weakly, so that neither
    keeps the other in memory.
    """

    __slots__ = ("__weakref__", "hooks", "leaf", "post_hooks", "sequence")

    def __init__(self, leaf: Any) -> None:
        self.leaf = weakref.ref(leaf)
        self.sequence = next_sequence()
        self.hooks: list[Any] | None = None
        self.post_hooks: list[Any] | None = None

    name = "AccumulateGrad"

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


# Where a cotangent goes: an entry with one result is its own edge.
Edge: TypeAlias = TapeEntry | ResultEdge | LeafEntry
