"""Python around the tensors: effects, what is read from outside, errors, threads."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import threading
import time
import traceback
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import tracegrad as tg
from tests.captured.compare import compare_calls, ran
from tracegrad import nn

FACTOR = 2.0
LOG: list[Any] = []
TABLE = {"scale": 2.0}


def x2() -> tg.Tensor:
    return tg.tensor([1.0, 2.0])


# -- effects happen each time ---------------------------------------------------------


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    def say(x: tg.Tensor) -> tg.Tensor:
        print("sum", x.sum().item())  # noqa: T201 - what is tested
        return x * 2

    captured = tg.trace(say)
    for k in (1.0, 2.0, 2.0):
        captured(tg.tensor([k]))
    assert capsys.readouterr().out == "sum 1.0\nsum 2.0\nsum 2.0\n"
    report = str(captured.explain())
    assert "calls print" in report
    assert f"test_trace_effects.py:{say.__code__.co_firstlineno + 1}" in report


def test_outside_containers_in_order() -> None:
    seen: list[Any] = []
    counts: dict[str, int] = {}

    def note(x: tg.Tensor) -> tg.Tensor:
        seen.append("first")
        counts["calls"] = counts.get("calls", 0) + 1
        seen.append(counts["calls"])
        return x + counts["calls"]

    captured = tg.trace(note)
    found = [captured(tg.zeros(1)).item() for _ in range(3)]
    assert found == [1.0, 2.0, 3.0]
    assert seen == ["first", 1, "first", 2, "first", 3]


@tg.trace
def counted(x: tg.Tensor) -> Any:
    """Count its calls in an attribute of itself."""
    counted.calls += 1
    return x + counted.calls, counted.calls


def test_counter_attribute() -> None:
    counted.calls = 0
    assert [counted(tg.zeros(1))[1] for _ in range(3)] == [1, 2, 3]
    counted.calls = 10
    assert counted(tg.zeros(1))[0].item() == 11.0


def test_mutable_default() -> None:
    def grow(x: tg.Tensor, acc: list[int] = []) -> tg.Tensor:  # noqa: B006
        acc.append(1)
        return x + len(acc)

    captured = tg.trace(grow)
    assert [captured(tg.zeros(1)).item() for _ in range(2)] == [1.0, 2.0]
    assert captured.__defaults__ == ([1, 1],)


def test_clock_and_generator_objects() -> None:
    captured = tg.trace(lambda x: x + time.perf_counter())
    first, second = (captured(tg.zeros(1, dtype=tg.float64)).item() for _ in range(2))
    assert first != second
    steps = iter([1.0, 2.0, 3.0])
    captured = tg.trace(lambda x: x + next(steps))
    assert [captured(tg.zeros(1)).item() for _ in range(3)] == [1.0, 2.0, 3.0]


def test_effect_only_on_one_branch() -> None:
    def maybe(x: tg.Tensor, loud: bool) -> tg.Tensor:
        if loud:
            LOG.append("loud")
        return x * 3

    LOG.clear()
    captured = tg.trace(maybe)
    for loud in (True, False, True, False, False):
        captured(x2(), loud)
    assert LOG == ["loud", "loud"]
    assert [s.hits for s in captured.specializations] == [2]


# -- what is read from outside ------------------------------------------------------


def test_global_closure_default_class_attribute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Settings:
        bias: ClassVar[float] = 1.0

    step = 3.0

    def read(x: tg.Tensor, power: float = 2.0) -> tg.Tensor:
        return x * FACTOR + step + Settings.bias + power + TABLE["scale"]

    captured = tg.trace(read)

    def agree() -> None:
        for _ in range(2):
            assert captured(x2()).tolist() == read(x2()).tolist()

    agree()
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    agree()
    step = 7.0
    agree()
    Settings.bias = -1.0
    agree()
    read.__defaults__ = (9.0,)
    agree()
    monkeypatch.setitem(TABLE, "scale", 11.0)
    agree()
    assert ran(captured)


def test_two_closures_are_two_functions() -> None:
    def make(k: float) -> Callable[[tg.Tensor], tg.Tensor]:
        return tg.trace(lambda x: x * k)

    twice, thrice = make(2.0), make(3.0)
    for _ in range(3):
        assert twice(x2()).tolist() == [2.0, 4.0]
        assert thrice(x2()).tolist() == [3.0, 6.0]


def test_modes() -> None:
    def f(x: tg.Tensor, w: tg.Tensor) -> Any:
        with tg.no_grad():
            a = x * w
        with tg.enable_grad():
            b = x * w
        return a, b, tg.is_grad_enabled(), tg.tensor(1.5).dtype

    captured = tg.trace(f)
    w = tg.ones(2, requires_grad=True)
    x = x2()
    for _ in range(2):
        for mode in (tg.enable_grad, tg.no_grad, tg.inference_mode):
            with mode():
                a, b = captured(x, w), f(x, w)
                for found, expected in zip(a[:2], b[:2], strict=True):
                    assert found.requires_grad == expected.requires_grad
                    assert found.is_inference() == expected.is_inference()
                assert a[2:] == b[2:]
    tg.set_default_dtype(tg.float64)
    try:
        assert captured(x, w)[3] is tg.float64
    finally:
        tg.set_default_dtype(tg.float32)


def test_mode_left_changed() -> None:
    def off(x: tg.Tensor) -> tg.Tensor:
        tg.set_grad_enabled(False)
        return x * 2

    captured = tg.trace(off)
    for _ in range(3):
        captured(tg.ones(1))
        assert not tg.is_grad_enabled()
        tg.set_grad_enabled(True)


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_requires_grad_of_inputs(order: tuple[bool, bool]) -> None:
    compare_calls(
        lambda x, y: (x * y, x + 1),
        lambda: [
            (tg.tensor([1.0], requires_grad=a), tg.tensor([2.0], requires_grad=b))
            for a in order
            for b in order
        ],
        backward=True,
    )


def test_training_flag() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    captured = tg.trace(model)
    x = tg.ones(2, 4)
    for training in (True, False, True, False):
        model.train(training)
        tg.manual_seed(0)
        expected = model(x).tolist()
        tg.manual_seed(0)
        assert captured(x).tolist() == expected


# -- errors ---------------------------------------------------------------------------


def test_error_class_message_and_line() -> None:
    def picky(x: tg.Tensor) -> tg.Tensor:
        LOG.append(len(x))
        x.add_(1)
        if len(x) > 2:
            raise ValueError(f"too long {len(x)}")
        return x * 2

    captured = tg.trace(picky)
    LOG.clear()
    for _ in range(2):
        captured(tg.ones(2))
        x = tg.ones(3)
        with pytest.raises(ValueError, match=r"^too long 3$") as caught:
            captured(x)
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert frames[-1].filename == __file__
        assert "raise ValueError" in (frames[-1].line or "")
        assert len(frames) <= 5
        assert x.tolist() == [2.0, 2.0, 2.0]
    assert LOG == [2, 3, 2, 3]


def test_index_out_of_range_names_the_users_line() -> None:
    def pick(x: tg.Tensor, i: tg.Tensor) -> tg.Tensor:
        x.mul_(2)
        return x[i] + 1

    captured = tg.trace(pick)
    for k in (0, 1, 1):
        captured(x2(), tg.tensor([k]))
    assert ran(captured)
    x = x2()
    with pytest.raises(IndexError) as caught:
        captured(x, tg.tensor([5]))
    lines = [f.line for f in traceback.extract_tb(caught.value.__traceback__)]
    assert any("return x[i] + 1" in (line or "") for line in lines)
    assert x.tolist() == [2.0, 4.0]


def test_interrupt_leaves_all_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = tg.trace(lambda x, y: (x.add_(1), y.mul_(2))[0] * 1)
    a, b = x2(), x2()
    captured(a, b)
    program = captured.specializations[0].compiled.executable

    def interrupted(*arrays: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "function", interrupted)
    a, b = x2(), x2()
    with pytest.raises(KeyboardInterrupt):
        captured(a, b)
    assert (a.tolist(), b.tolist(), a._version) == ([1.0, 2.0], [1.0, 2.0], 0)
    monkeypatch.undo()
    captured(a, b)
    assert a.tolist() == [2.0, 3.0]


# -- what is captured ---------------------------------------------------------------


class Scaler:
    """A class with captured methods."""

    def __init__(self, k: float) -> None:
        self.k = k
        self.w = tg.tensor([k])

    @tg.trace
    def scale(self, x: tg.Tensor) -> tg.Tensor:
        return x * self.k + self.w

    @tg.trace
    def twice(self, x: tg.Tensor) -> tg.Tensor:
        return self.scale(self.scale(x))


def test_methods_are_per_instance() -> None:
    a, b = Scaler(2.0), Scaler(3.0)
    for _ in range(3):
        assert a.scale(x2()).tolist() == [4.0, 6.0]
        assert b.scale(x2()).tolist() == [6.0, 9.0]
    a.k = 10.0
    assert a.scale(x2()).tolist() == [12.0, 22.0]
    assert a.scale.specializations is Scaler.scale.specializations
    assert "Scaler" not in str(a.scale.graph)


def test_nested_captured_functions_are_one_program() -> None:
    inner = tg.trace(lambda x: x * 2)
    outer = tg.trace(lambda x: inner(x) + inner(x + 1))
    for _ in range(3):
        assert outer(x2()).tolist() == [6.0, 10.0]
    assert ran(outer)
    assert [n.operator.name for n in outer.graph.nodes].count("mul") == 2
    a = Scaler(2.0)
    for _ in range(3):
        assert a.twice(x2()).tolist() == [10.0, 14.0]
    assert ran(Scaler.twice)


def test_module_is_still_itself() -> None:
    model = nn.Linear(2, 2)
    names = list(model.state_dict())
    captured = tg.trace(model)
    captured(tg.ones(1, 2))
    assert list(model.state_dict()) == names
    assert list(captured.state_dict()) == names
    pairs = zip(captured.parameters(), model.parameters(), strict=True)
    assert all(p is q for p, q in pairs)
    copied = copy.deepcopy(model)
    assert copied.weight is not model.weight
    assert pickle.loads(pickle.dumps(model)).weight.tolist() == model.weight.tolist()
    captured.eval()
    assert not model.training


def test_copies_and_pickles() -> None:
    assert pickle.loads(pickle.dumps(counted)) is counted
    assert copy.deepcopy(counted) is counted
    captured = tg.trace(nn.Linear(2, 1))
    before = captured(tg.ones(1, 2)).tolist()
    other = copy.deepcopy(captured)
    loaded = pickle.loads(pickle.dumps(captured))
    for twin in (other, loaded):
        assert twin(tg.ones(1, 2)).tolist() == before
        assert twin.eager is not captured.eager
    with tg.no_grad():
        other.eager.weight.zero_()
    assert captured(tg.ones(1, 2)).tolist() == before


@dataclasses.dataclass
class Batch:
    """Structured argument and result."""

    x: tg.Tensor
    extra: Any = None


def test_structures() -> None:
    def f(batch: Batch, more: dict[str, Any], *rest: Any) -> Any:
        return Batch(batch.x * 2, more["k"]), {"n": None, "t": (batch.x, len(rest))}

    def make() -> Any:
        return [
            (Batch(x2()), {"k": 1}, 5, None),
            (Batch(x2() + 1), {"k": 1}, 5, None),
            (Batch(x2() + 1), {"k": 2}),
            (Batch(x2(), "text"), {"k": [1]}),
        ]

    assert ran(compare_calls(f, make))


def test_returning_what_came_in() -> None:
    def f(items: list[Any], table: dict[str, Any]) -> Any:
        return items, table

    captured = tg.trace(f)
    items, table = [x2()], {"a": x2()}
    for _ in range(3):
        found = captured(items, table)
        assert found[0] is items
        assert found[1] is table


def test_one_list_in_two_places() -> None:
    def f(x: tg.Tensor) -> Any:
        both = [x * 2]
        return both, both

    captured = tg.trace(f)
    for _ in range(3):
        a, b = captured(x2())
        assert a is b


# -- threads --------------------------------------------------------------------------


def test_first_call_from_many_threads() -> None:
    def f(x: tg.Tensor) -> tg.Tensor:
        return (x * 2 + 1).sum()

    for _ in range(10):
        captured = tg.trace(f)
        barrier = threading.Barrier(8)
        wrong: list[Any] = []

        def work(
            k: int,
            captured: Any = captured,
            barrier: Any = barrier,
            wrong: list[Any] = wrong,
        ) -> None:
            barrier.wait()
            for i in range(5):
                x = tg.full((3,), float(k + i), requires_grad=bool(k % 2))
                with tg.set_grad_enabled(k % 3 != 0):
                    y = captured(x)
                if y.item() != 3 * (2 * (k + i) + 1):
                    wrong.append((k, i, y.item()))
                if y.requires_grad != (bool(k % 2) and k % 3 != 0):
                    wrong.append((k, i, y.requires_grad))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(captured.specializations) <= 4


# -- memory ---------------------------------------------------------------------------


def test_nothing_is_kept() -> None:
    captured = tg.trace(lambda x, w: ((x * w).exp(), x.sum()))
    recorded = tg.ones(4)
    captured(recorded, tg.ones(4, requires_grad=True))
    watched = [weakref.ref(recorded)]
    del recorded
    gc.collect()
    assert watched[0]() is None
    gc.disable()
    try:
        for _ in range(3):
            x, w = tg.ones(4), tg.ones(4, requires_grad=True)
            y, z = captured(x, w)
            y.sum().backward()
            watched = [weakref.ref(t) for t in (x, w, y, z, w.grad)]
            del x, w, y, z
            assert [r() for r in watched] == [None] * 5
    finally:
        gc.enable()


def test_function_and_module_are_let_go() -> None:
    model = nn.Linear(2, 2)
    captured = tg.trace(model)
    for _ in range(2):
        captured(tg.ones(1, 2))
    watched = [weakref.ref(model), weakref.ref(model.weight), weakref.ref(captured)]
    del model, captured
    gc.collect()
    assert [r() for r in watched] == [None] * 3


def test_no_growth() -> None:
    captured = tg.trace(lambda x, w: (x * w).sum())
    x, w = tg.ones(1000), tg.ones(1000, requires_grad=True)

    def round_of_calls() -> None:
        for _ in range(50):
            captured(x, w).backward()
            w.grad = None

    round_of_calls()
    gc.collect()
    tracemalloc.start()
    round_of_calls()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    round_of_calls()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2000


def test_an_error_lets_go() -> None:
    def fail(x: tg.Tensor, i: tg.Tensor) -> tg.Tensor:
        return x[i]

    captured = tg.trace(fail)
    captured(tg.ones(3), tg.tensor([0]))
    captured(tg.ones(3), tg.tensor([0]))
    x = tg.ones(3)
    watched = weakref.ref(x)
    try:
        captured(x, tg.tensor([7]))
    except IndexError as error:
        error.__traceback__ = None
    del x
    gc.collect()
    assert watched() is None
