"""Compiled guards: text, messages, leaves."""

from pathlib import Path
from typing import Any

import pytest

from tests.capture.leaf import Leaf, Recording
from tracegrad.capture.checks import Guard, value_check
from tracegrad.capture.effects import Location
from tracegrad.capture.paths import (
    Argument,
    Attribute,
    Constants,
    Environment,
    Function,
    Item,
)
from tracegrad.captured.guards import CompiledGuards, LeafGuard

HERE = Location("model.py", 12)
SCALE = 2.0


class Layer:
    def __init__(self) -> None:
        self.scale = 2.0
        self.weight = Leaf(1)


class Model:
    def __init__(self) -> None:
        self.layers = [Layer(), Layer(), Layer()]
        self.table = {"lr": 0.1}

    def forward(self, x: Leaf) -> Any:
        return x * self.layers[2].weight * self.layers[2].scale * self.table["lr"]


def test_message_names_path_old_new_and_line() -> None:
    model = Model()
    recording = Recording(model.forward, Leaf())
    model.layers[2].scale = 3.0
    line = Model.forward.__code__.co_firstlineno + 1
    place = f"{Path(__file__).name}:{line}"
    assert recording.miss(model.forward, Leaf()) == (
        f"`self.layers[2].scale` was 2.0 and is 3.0, read at {place}"
    )


def test_message_for_a_type() -> None:
    model = Model()
    recording = Recording(model.forward, Leaf())
    model.layers[2].scale = 2  # type: ignore[assignment]
    assert "`self.layers[2].scale` was 2.0 and is 2," in recording.miss(
        model.forward, Leaf()
    )


def test_message_for_what_is_gone() -> None:
    model = Model()
    recording = Recording(model.forward, Leaf())
    del model.table["lr"]
    miss = recording.miss(model.forward, Leaf())
    assert miss.startswith("`self.table['lr']` was 0.1 and is not there, read at")


def test_message_for_a_global() -> None:
    def function() -> float:
        return SCALE

    recording = Recording(function)
    globals()["SCALE"] = 5.0
    try:
        miss = recording.miss(function)
    finally:
        globals()["SCALE"] = 2.0
    assert miss.startswith("`global SCALE` was 2.0 and is 5.0, read at")


def test_message_for_an_argument() -> None:
    def function(x: int, *rest: int) -> int:
        return x

    recording = Recording(function, 1)
    assert recording.miss(function, 2).startswith("`x` was 1 and is 2")
    assert "of type" in recording.miss(function, Leaf()) or recording.miss(
        function, Leaf()
    )
    assert recording.miss(function, 1, 2).startswith(
        "`len(the positional arguments)` was 1 and is 2"
    )
    assert recording.miss(function, 1, x=2).startswith(
        "`the keyword arguments` was none and is x"
    )


def test_leaf_guards_are_checked_and_explained() -> None:
    leaf = LeafGuard(
        Argument(0, "x"),
        "{x}.value == {0} and type({x}) is {1}",
        (3, Leaf),
        old="Leaf(3)",
        describe=lambda value: f"Leaf({value.value})",
        location=HERE,
    )
    guards = CompiledGuards.compile([], [leaf])
    good, bad = Leaf(3), Leaf(4)
    assert guards.check(None, (good,), {}) == (good,)
    assert guards.check(None, (bad,), {}) is None
    assert guards.explain_miss(None, (bad,), {}) == (
        "`x` was Leaf(3) and is Leaf(4), read at model.py:12"
    )
    assert guards.check(None, (), {}) is None
    assert "is not there" in guards.explain_miss(None, (), {})


def test_leaves_may_be_the_same_object_if_asked() -> None:
    leaves = [LeafGuard(Argument(0)), LeafGuard(Argument(1))]
    leaf = Leaf()
    assert CompiledGuards.compile([], leaves).check(None, (leaf, leaf), {}) is None
    free = CompiledGuards.compile([], leaves, distinct=False)
    assert free.check(None, (leaf, leaf), {}) == (leaf, leaf)


def test_shared_steps_are_evaluated_once() -> None:
    counted = 0

    class Counting:
        @property
        def inner(self) -> Any:
            nonlocal counted
            counted += 1
            return [1, 2]

    inner = Attribute(Argument(0), "inner")
    guards = [Guard(Item(inner, i), value_check(i + 1), HERE) for i in range(2)]
    compiled = CompiledGuards.compile(guards)
    assert compiled.check(None, (Counting(),), {}) == ()
    assert counted == 1


@pytest.mark.parametrize(
    "name", ["a b", "a'; import os", "class", "ﬁ", "a\nb", "__import__('os')", "{x}"]
)
def test_users_text_is_never_code(name: str) -> None:
    class Anything:
        pass

    thing = Anything()
    setattr(thing, name, 1)
    path = Attribute(Argument(0), name)
    compiled = CompiledGuards.compile(
        [
            Guard(path, value_check(1), HERE),
            Guard(Item(Argument(1), name), value_check("x'\n"), HERE),
        ]
    )
    assert compiled.check(None, (thing, {name: "x'\n"}), {}) == ()
    assert name not in compiled.source or name == "{x}"


def test_first_miss_names_the_path() -> None:
    guard = Guard(Argument(0), value_check(1), HERE)
    miss = CompiledGuards.compile([guard]).first_miss(None, (2,), {})
    assert miss is not None
    assert miss.path == Argument(0)


def test_paths_compare_by_their_steps() -> None:
    base = Argument(0)
    assert Attribute(base, "x") == Attribute(Argument(0, "named"), "x")
    assert Item(base, 1) != Item(base, True)
    assert Item(base, 1) != Item(base, 1.0)
    assert Attribute(base, "x") != Item(base, "x")
    assert len({Function("a"), Function("b")}) == 1


def test_path_evaluates_as_its_expression() -> None:
    path = Item(Attribute(Argument(0), "layers"), -1)
    model = Model()
    assert path.evaluate(Environment(None, (model,), {})) is model.layers[-1]
    assert path.expression(Constants()) == "args[0].layers[-1]"
