"""From instructions to lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tracegrad.codegen.numpy.instructions import (
    Argument,
    Array,
    Body,
    Call,
    Commit,
    Exit,
    Expression,
    Loop,
    Refuse,
)
from tracegrad.codegen.numpy.plan import Plan
from tracegrad.codegen.numpy.pointwise import dtype_text
from tracegrad.codegen.program import exit_condition
from tracegrad.dtypes import from_numpy_dtype

_COMMENT_COLUMN = 60


def lines_of(body: Body) -> list[str]:
    """Return the lines of the function's body."""
    lines: list[str] = []
    done: set[Array] = set()
    for instruction in body.instructions:
        lines.extend(_lines(instruction, done))
    return lines


def _lines(instruction: Any, done: set[Array]) -> Iterator[str]:
    if isinstance(instruction, Loop):
        yield from _loop(instruction, done)
        return
    if isinstance(instruction, Exit):
        yield f"if {exit_condition(instruction.array.name, instruction.expected)}:"
        yield _commented(f"    return None, {instruction.index}", instruction.comment)
        return
    if isinstance(instruction, Refuse):
        yield _commented(f"if np.any({_name(instruction.array)}):", instruction.comment)
        yield f"    raise {instruction.error}({instruction.message!r})"
        return
    if isinstance(instruction, Expression):
        text = f"{instruction.target.name} = {instruction.text}"
        yield _commented(text, instruction.comment)
        return
    yield from _allocation(instruction.target, done)
    yield _commented(_call(instruction), instruction.comment)


def _allocation(target: Array, done: set[Array]) -> Iterator[str]:
    root = target.root
    if root.kind == "fresh" and root not in done:
        done.add(root)
        yield f"{root.name} = {_empty(root)}"


def _empty(array: Array) -> str:
    return f"np.empty({array.shape}, {dtype_text(from_numpy_dtype(array.dtype))})"


def _call(call: Call) -> str:
    parts = [_name(a) for a in call.args]
    if call.options:
        parts.append(call.options)
    if call.into:
        parts.append(f"out={call.target.name}")
    return f"{call.function}({', '.join(parts)})"


def _name(argument: Argument) -> str:
    return argument.name if isinstance(argument, Array) else argument


def _commented(text: str, comment: str) -> str:
    if not comment:
        return text
    clean = " ".join(comment.split())
    return f"{text.ljust(_COMMENT_COLUMN)}  # {clean}"


def _loop(loop: Loop, done: set[Array]) -> Iterator[str]:
    for _, whole, _ in loop.cuts:
        yield from _allocation(whole, done)
    ragged = loop.size % loop.step != 0
    yield f"for i in range(0, {loop.size}, {loop.step}):"
    end = f"min(i + {loop.step}, {loop.size})" if ragged else f"i + {loop.step}"
    yield f"    j = {end}"
    for block, whole, dim in loop.cuts:
        yield f"    {block.name} = {whole.name}[{':, ' * dim}i:j]"
    if ragged:
        for array in _temporaries(loop):
            assert array.cut is not None
            whole_name = array.name + "_whole"
            yield f"    {array.name} = {whole_name}[{':, ' * array.cut}: j - i]"
    for instruction in loop.body:
        for line in _lines(instruction, done):
            yield "    " + line


def _temporaries(loop: Loop) -> list[Array]:
    found = (getattr(i, "target", None) for i in loop.body)
    return list(
        dict.fromkeys(
            t
            for t in found
            if isinstance(t, Array) and t.kind == "arena" and t.cut is not None
        )
    )


def arena_names(body: Body, plan: Plan) -> list[tuple[str, Array]]:
    """Return the local names of the arena's arrays."""
    ragged = {
        array
        for loop in body.instructions
        if isinstance(loop, Loop) and loop.size % loop.step
        for array in _temporaries(loop)
    }
    return [(a.name + "_whole" * (a in ragged), a) for a in plan.slot_of]


def arena_lines(body: Body, plan: Plan) -> list[str]:
    """Return the lines that make the arena's arrays."""
    by_slot: dict[int, list[tuple[str, Array]]] = {}
    for name, array in arena_names(body, plan):
        by_slot.setdefault(plan.slot_of[array], []).append((name, array))
    lines: list[str] = []
    for slot, members in by_slot.items():
        kinds = {(a.shape, a.dtype) for _, a in members}
        if len(kinds) == 1:
            targets = " = ".join(name for name, _ in members)
            lines.append(f"{targets} = {_empty(members[0][1])}")
            continue
        lines.append(f"memory_{slot} = np.empty({plan.slots[slot]}, np.uint8)")
        lines.extend(_piece(name, array, slot) for name, array in members)
    return lines


def _piece(name: str, array: Array, slot: int) -> str:
    dtype = dtype_text(from_numpy_dtype(array.dtype))
    size = int(np.prod(array.shape, dtype=np.int64)) * array.dtype.itemsize
    return f"{name} = memory_{slot}[:{size}].view({dtype}).reshape({array.shape})"


def commit_texts(commits: list[Commit]) -> list[str]:
    """Return the writes as tuples of function and arguments."""
    return [
        _commented(f"({', '.join((c.function, *map(_name, c.args)))}),", c.comment)
        for c in commits
    ]
