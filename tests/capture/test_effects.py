"""What a call does to the world outside it is noticed, with its line."""
# ruff: noqa: B006, B905, PLC0415, T201

import functools
import heapq
import inspect
import io
import operator
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.leaf import Leaf, Recording
from tracegrad.capture.effects import Effect

LOG: list[Any] = []
TABLE: dict[str, Any] = {"k": [1]}
NAMES: set[str] = set()
ARRAY = np.zeros(3)
TEXT = io.StringIO()
STEPS = iter([1, 2, 3, 4])
COUNT = 0


class Thing:
    total = 0

    def __init__(self) -> None:
        self.calls = 0
        self.items: list[int] = []

    def bump(self) -> None:
        self.calls += 1

    @functools.cached_property
    def lazily(self) -> int:
        return 1

    def __setitem__(self, key: int, value: int) -> None:
        self.items.append(value)


THING = Thing()


def rebind() -> None:
    global COUNT
    COUNT = 0


def delete_global() -> None:
    global TEMPORARY
    del TEMPORARY


def import_global() -> None:
    global json
    import json


def bump_nonlocal() -> Callable[[], None]:
    count = 0

    def bump() -> None:
        nonlocal count
        count += 1

    return bump


@functools.lru_cache
def cached(x: int) -> int:
    return x


def born_inside() -> Any:
    log: list[int] = []
    log.append(1)
    log.extend([2])
    log.sort(key=lambda x: -x)
    table = {"a": log}
    table.update(b=[])
    table["b"].append(3)
    thing = Thing()
    thing.bump()
    thing.calls += 1
    thing.extra = 1  # type: ignore[attr-defined]
    thing[0] = 5
    thing.more = 2
    Thing.bump(thing)
    names = set()
    names.add("x")
    array = np.zeros(2)
    array[0] = 1.0
    array += 1
    heap: list[int] = []
    heapq.heappush(heap, 1)
    return log, table, thing.calls, names, array, heap


def born_but_holding_outside() -> None:
    thing = Thing()
    thing.items = LOG
    thing.items += [1]


def born_list_holding_outside() -> None:
    several = [LOG]
    several[0] += [1]


def alias() -> None:
    log = LOG
    log += [1]


def through_attribute() -> None:
    append = LOG.append
    append(1)


def loop_store() -> None:
    for THING.calls in [1]:
        pass


EFFECTS: list[tuple[str, Callable[[], Any], str]] = [
    ("append", lambda: LOG.append(1), "calls LOG.append"),
    ("append from class", lambda: list.append(LOG, 1), "calls LOG.append"),
    ("bound earlier", through_attribute, "calls LOG.append"),
    ("extend", lambda: LOG.extend([1]), "calls LOG.extend"),
    ("clear", lambda: LOG.clear(), "calls LOG.clear"),
    ("alias", alias, "changes `global LOG` in place"),
    ("held by a new object", born_but_holding_outside, "changes `global LOG` in place"),
    ("held by a new list", born_list_holding_outside, "changes `global LOG` in place"),
    ("dict update", lambda: TABLE.update(a=1), "calls TABLE.update"),
    ("dict setdefault", lambda: TABLE.setdefault("z", 1), "calls TABLE.setdefault"),
    ("dict pop", lambda: TABLE.pop("z", None), "calls TABLE.pop"),
    ("inner list", lambda: TABLE["k"].append(1), "calls TABLE['k'].append"),
    ("set add", lambda: NAMES.add("x"), "calls NAMES.add"),
    ("setitem function", lambda: operator.setitem(TABLE, "q", 1), "operator.setitem"),
    ("attribute", lambda: THING.bump(), "sets THING.calls"),
    ("setattr", lambda: setattr(THING, "calls", 0), "sets THING.calls"),
    (
        "object.__setattr__",
        lambda: object.__setattr__(THING, "calls", 0),
        "calls THING.__setattr__",
    ),
    ("own list", lambda: THING.items.append(1), "calls THING.items.append"),
    ("user __setitem__", lambda: operator.setitem(THING, 0, 1), "operator.setitem"),
    ("class attribute", lambda: setattr(Thing, "total", 0), "sets Thing.total"),
    ("cached property", lambda: THING.lazily, "fills the cached property"),
    ("loop target", loop_store, "sets THING.calls"),
    ("global", rebind, "rebinds `COUNT`"),
    ("import as global", import_global, "rebinds `json`"),
    ("nonlocal", bump_nonlocal(), "rebinds `count`"),
    ("print", lambda: print(end=""), "calls print"),
    ("file", lambda: TEXT.write(""), "calls TEXT.write"),
    ("print to file", lambda: print(file=TEXT, end=""), "calls print"),
    ("open", lambda: open("/dev/null").close(), "open"),
    ("random", lambda: random.random(), "random"),
    ("random state", lambda: random.Random(1).random(), "random"),
    ("numpy random", lambda: np.random.rand(2), "rand"),
    ("time", lambda: time.time(), "calls time.time"),
    ("append called back", lambda: [*map(LOG.append, [1])], "calls LOG.append"),
    ("print called back", lambda: [*map(print, [])], "calls print"),
    ("iterator", lambda: next(STEPS), "consumes the iterator"),
    (
        "iterator in loop",
        lambda: [s for _, s in zip("a", STEPS)],
        "consumes the iterator",
    ),
    ("array item", lambda: ARRAY.__setitem__(0, 1.0), "calls ARRAY.__setitem__"),
    ("array out", lambda: np.exp(ARRAY, out=ARRAY), "writes into `global ARRAY`"),
    ("array fill", lambda: ARRAY.fill(0), "calls ARRAY.fill"),
    ("array copyto", lambda: np.copyto(ARRAY, 1.0), "copyto"),
    ("heap", lambda: heapq.heappush(LOG, 1), "heappush"),
    ("cached", lambda: cached(1), "keeps results"),
    ("vars", lambda: vars(THING).update(calls=0), "calls THING.__dict__.update"),
    ("globals", lambda: globals()["COUNT"], "reads globals()"),
    ("eval", lambda: eval("COUNT"), "calls eval"),
]


@pytest.mark.parametrize(
    ("function", "sentence"), [e[1:] for e in EFFECTS], ids=[e[0] for e in EFFECTS]
)
def test_effect_is_noticed_with_its_line(
    function: Callable[[], Any], sentence: str
) -> None:
    recording = Recording(function)
    assert recording.error is None
    reason = recording.reads.reason
    assert reason is not None
    assert sentence in reason.sentence
    assert reason.location.file == __file__
    lines, first = inspect.getsourcelines(function)
    class_first = inspect.getsourcelines(Thing)[1]
    end = max(first + len(lines), first + 1)
    in_class = class_first <= reason.location.line < class_first + 20
    assert first <= reason.location.line < end or in_class


def test_objects_born_inside_are_free() -> None:
    recording = Recording(born_inside)
    assert recording.error is None
    assert recording.reason == ""
    assert recording.hits(born_inside)


def test_effects_happen_once_and_in_order() -> None:
    def function(log: list[int]) -> int:
        log.append(1)
        log.append(2)
        return len(log)

    log: list[int] = []
    recording = Recording(function, log)
    assert (recording.result, log) == (2, [1, 2])
    assert [type(effect) for effect in recording.reads.effects] == [Effect, Effect]
    first, second = recording.reads.effects
    assert second.location.line == first.location.line + 1
    assert str(first) == f"calls log.append, which may change it, {first.location}"


def test_mutable_default_is_outside() -> None:
    def function(x: int, seen: list[int] = []) -> int:
        seen.append(x)
        return len(seen)

    recording = Recording(function, 1)
    assert recording.reason.startswith("calls seen.append")
    assert function.__defaults__ == ([1],)


def test_effect_before_an_exception_is_kept() -> None:
    def function(log: list[int]) -> None:
        log.append(1)
        raise ValueError("stop")

    log: list[int] = []
    recording = Recording(function, log)
    assert isinstance(recording.error, ValueError)
    assert log == [1]
    assert "log.append" in recording.reason


def test_leaf_methods_are_not_effects() -> None:
    leaf = Leaf(1)
    recording = Recording(lambda: leaf.add_(1))
    assert recording.reason == ""
    assert leaf.value == 2
