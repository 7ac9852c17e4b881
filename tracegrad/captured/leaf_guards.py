"""What must hold of a program's leaves, beyond what the user's code read of them."""

from __future__ import annotations

from typing import Any

from tracegrad.capture.session import LeafInput
from tracegrad.capture.tape import Standing, standing_of, view_standing
from tracegrad.captured.guards import LeafGuard
from tracegrad.dispatch.entry import INFERENCE, LeafEntry
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor


def leaf_guard(leaf: LeafInput) -> LeafGuard:
    """Return the guard of an input that is an object."""
    if leaf.standing is not None:
        return _tensor_guard(leaf, leaf.standing)
    kind = type(leaf.example)
    if isinstance(leaf.example, Generator):
        engine = leaf.example.engine
        return LeafGuard(
            leaf.path,
            "{x}.__class__ is {0} and {x}.engine.__class__ is {1}",
            (kind, type(engine)),
            f"a generator of {engine.name}",
            location=leaf.location,
        )
    return LeafGuard(
        leaf.path,
        "{x}.__class__ is {0}",
        (kind,),
        f"of type {kind.__name__}",
        location=leaf.location,
    )


def _tensor_guard(leaf: LeafInput, standing: Standing) -> LeafGuard:
    parts = [
        "({a}.dtype is {1} or {a}.dtype == {1})",
        "{a}.shape == {2}",
        "{a}.strides == {3}",
        f"{{x}}._counter is {'' if standing.inference else 'not '}{{4}}",
    ]
    constants: list[Any] = [standing.kind, *standing.form, INFERENCE]
    if standing.view is None:
        parts += ["{x}._view is None", *_tape_conditions(standing)]
        constants.append(LeafEntry)
    else:
        parts.append("{5}({x}) == {6}")
        constants += [view_standing, standing.view]
    parts.append(f"{{a}}.__class__ is {{{len(constants)}}}")
    constants.append(standing.memory)
    template, old = " and ".join(parts), str(standing)
    return LeafGuard(
        leaf.path,
        template,
        tuple(constants),
        old,
        _described,
        leaf.location,
        is_tensor=True,
    )


def _tape_conditions(standing: Standing) -> list[str]:
    if not standing.tape:
        return ["{x}._node is None"]
    if standing.tape == "inner":
        return ["{x}._node is not None", "{x}._node.__class__ is not {5}"]
    hooks = "not " if standing.hooked else ""
    return ["{x}._node.__class__ is {5}", f"{{x}}._node.hooks is {hooks}None"]


def _described(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"of type {type(value).__name__}"
    return str(standing_of(value))
