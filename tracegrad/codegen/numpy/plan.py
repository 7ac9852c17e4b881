"""Memory planning: which temporaries share memory, and what is written at the commit.

Lifetimes are positions in the order of instructions; an array that is read inside a
loop lives to the loop's end. A temporary takes the place of one that is not used any
more, also of an argument of the very call that fills it where that is element-wise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

from tracegrad.codegen.numpy.instructions import Array, Body, Call, Commit, Loop


@final
@dataclass(slots=True)
class Plan:
    """Where the temporaries lie.

    Attributes
    ----------
    slots : list of int
        Sizes of the blocks of memory, in bytes.
    slot_of : dict of Array to int
    """

    slots: list[int] = field(default_factory=list)
    slot_of: dict[Array, int] = field(default_factory=dict)


def plan(body: Body) -> Plan:
    """Return where the arena arrays of `body` lie."""
    first, last = _lifetimes(body)
    order = sorted(first, key=lambda a: first[a][0])
    result = Plan()
    free: list[int] = []
    active: list[Array] = []
    for array in order:
        start, may_take = first[array]
        for other in list(active):
            if last[other] < start or (last[other] == start and other in may_take):
                active.remove(other)
                free.append(result.slot_of[other])
        slot = _best(free, result.slots, array.nbytes)
        if slot is None:
            slot = len(result.slots)
            result.slots.append(array.nbytes)
        else:
            free.remove(slot)
        result.slot_of[array] = slot
        active.append(array)
    return result


def _best(free: list[int], sizes: list[int], nbytes: int) -> int | None:
    """Return the free slot that wastes least."""
    fitting = [s for s in free if sizes[s] >= nbytes]
    return min(fitting, key=lambda s: sizes[s], default=None)


def _lifetimes(
    body: Body,
) -> tuple[dict[Array, tuple[int, set[Array]]], dict[Array, int]]:
    """Return for each arena array its first and last position.

    With the first stand the arrays whose place it may take.
    """
    first: dict[Array, tuple[int, set[Array]]] = {}
    last: dict[Array, int] = {}
    position = 0
    for position, end, instruction in _positions(body):
        for array in instruction.arrays():
            root = array.root
            local = root.cut is not None
            last[root] = position if local else end
        target = getattr(instruction, "target", None)
        if isinstance(target, Array) and target.root.kind == "arena":
            root = target.root
            last[root] = max(
                last.get(root, 0), position if root.cut is not None else end
            )
            if root not in first:
                first[root] = (position, _replaceable(instruction))
    for commit in body.commits:
        for argument in commit.args:
            if isinstance(argument, Array):
                last[argument.root] = position + 1
    for returned in body.returned:
        if isinstance(returned, Array):
            last[returned.root] = position + 1
    return first, last


def _positions(body: Body) -> Iterator[tuple[int, int, Any]]:
    """Iterate over (position, end of the enclosing loop, instruction)."""
    position = 0
    for instruction in body.instructions:
        if not isinstance(instruction, Loop):
            yield position, position, instruction
            position += 1
            continue
        end = position + len(instruction.body)
        yield position, end, _LoopHead(instruction)
        for inner in instruction.body:
            position += 1
            yield position, end, inner
        position += 1


class _LoopHead:
    """The whole arrays that a loop reads and writes, which live through it."""

    def __init__(self, loop: Loop) -> None:
        self._wholes = [whole for _, whole, _ in loop.cuts]

    def arrays(self) -> Iterator[Array]:
        return iter(self._wholes)

    target = None


def _replaceable(instruction: Any) -> set[Array]:
    if not isinstance(instruction, Call) or not instruction.elementwise:
        return set()
    target = instruction.target
    return {
        a.root
        for a in instruction.arrays()
        if a.root is a and a.shape == target.shape and a.dtype == target.dtype
    }


def defer_writes(body: Body) -> None:
    """Let the last element-wise call before a write to an input be the write itself.

    ``t = w - step`` and then, at the commit, ``w[...] = t`` becomes, at the commit,
    ``np.subtract(w, step, w)``.
    """
    targets = [c.args[0] for c in body.commits]
    for index, commit in enumerate(body.commits):
        call = _only_writer(body, commit.args[1])
        if call is None or not _can_wait(call, commit, targets[:index]):
            continue
        body.instructions.remove(call)
        body.commits[index] = Commit(
            call.function, (*call.args, commit.args[0]), call.comment
        )


def _only_writer(body: Body, value: Any) -> Call | None:
    """Return the call that makes `value`, if nothing but the commit uses it."""
    if not isinstance(value, Array) or value.kind != "arena":
        return None
    if sum(v is value for c in body.commits for v in c.args) != 1:
        return None
    found: Call | None = None
    for _, _, instruction in _positions(body):
        if any(a.root is value for a in instruction.arrays()):
            return None
        target = getattr(instruction, "target", None)
        if isinstance(target, Array) and target.root is value:
            if found is not None or not isinstance(instruction, Call):
                return None
            found = instruction
    if found is None or found not in body.instructions:
        return None
    return found


def _can_wait(call: Call, commit: Commit, earlier: list[Any]) -> bool:
    target = commit.args[0]
    return (
        call.elementwise
        and call.into
        and not call.options
        and call.target.dtype == getattr(target, "dtype", None)
        and not any(a.root in earlier for a in call.arrays())
    )
