"""Recordings keep nothing alive, and don't mix."""

import gc
import threading
import weakref
from typing import Any

import numpy as np

from tests.capture.leaf import Leaf, Recording


def make(k: Any) -> Any:
    def closure(x: Any) -> Any:
        return x * k

    return closure


class Model:
    def __init__(self) -> None:
        self.weight = Leaf(2)
        self.width = 3

    def forward(self, x: Leaf) -> Leaf:
        return x * self.weight * self.width


def test_closure_is_freed_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        closure = make(2.0)
        reference = weakref.ref(closure)
        recording = Recording(closure, Leaf())
        guards = recording.guards
        recording.result = None
        del closure, recording
        assert reference() is None
        assert guards.check(make(2.0), (Leaf(),), {}) is not None
    finally:
        gc.enable()


def make_function(model: Model, array: Any) -> Any:
    def function(x: Leaf) -> Any:
        return model.forward(x) * float(array.sum())

    return function


def test_guards_hold_no_user_object() -> None:
    model, leaf, array = Model(), Leaf(), np.arange(3.0)
    function = make_function(model, array)

    things = model, model.weight, leaf, array, function
    references = [weakref.ref(thing) for thing in things]
    recording = Recording(function, leaf)
    guards = recording.guards
    assert recording.reason == ""
    del model, leaf, array, function, things, recording
    gc.collect()
    assert [reference() for reference in references] == [None] * 5
    assert guards.source


def test_local_class_is_freed_and_its_guards_miss() -> None:
    class Local:
        scale = 2.0

    def function(thing: Any) -> Any:
        return thing.scale

    recording = Recording(function, Local())
    assert recording.hits(function, Local())
    reference = weakref.ref(Local)
    guards = recording.guards
    del Local, recording
    gc.collect()
    assert reference() is None
    assert guards.check(function, (Model(),), {}) is None


def test_function_that_got_out_works_without_its_recording() -> None:
    def function(k: int) -> Any:
        table = {"a": k}

        def inner(x: int) -> Any:
            if x > 0 and "a" in table:
                table["a"] += x
            return [table["a"], *(y for y in range(k)), make(k)(2), len(table)]

        return inner

    recording = Recording(function, 2)
    inner = recording.result
    reference = weakref.ref(recording)
    del recording
    gc.collect()
    assert reference() is None
    assert inner(1) == [3, 0, 1, 4, 1]


def test_error_frees_what_a_return_frees() -> None:
    def function(x: Leaf) -> None:
        raise ValueError("stop")

    leaf = Leaf()
    reference = weakref.ref(leaf)
    recording = Recording(function, leaf)
    recording.error = None
    del leaf
    gc.collect()
    assert reference() is None


def test_two_threads_record_at_once() -> None:
    barrier = threading.Barrier(2)
    found: dict[int, Any] = {}

    def function(n: int) -> int:
        total = 0
        for i in range(200):
            total += i * n
        return total

    def record(n: int) -> None:
        barrier.wait()
        recordings = [Recording(function, n) for _ in range(20)]
        found[n] = [
            (r.result, r.hits(function, n), r.hits(function, -n), r.reason)
            for r in recordings
        ]

    threads = [threading.Thread(target=record, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in (1, 2):
        assert found[n] == [(19900 * n, True, False, "")] * 20
