"""User code that runs uninstrumented during a recording is noticed."""

import os
import sys
import threading
from typing import Any

import pytest

from tests.capture.leaf import Recording
from tracegrad.capture.trust import Trust, assume_pure
from tracegrad.capture.watch import Watch

LIMIT = 3


class Sorted:
    def __init__(self, value: int) -> None:
        self.value = value

    def __lt__(self, other: "Sorted") -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return LIMIT

    def __del__(self) -> None:
        global LIMIT
        LIMIT = 3


def test_operator_methods_are_noticed() -> None:
    recording = Recording(lambda a: sorted(a)[0].value, [Sorted(2), Sorted(1)])
    assert recording.result == 1
    line = Sorted.__lt__.__code__.co_firstlineno
    said = "Sorted.__lt__ was called from code that isn't recorded"
    assert recording.reason == f"{said}, {os.path.basename(__file__)}:{line}"


def test_hash_is_noticed() -> None:
    recording = Recording(lambda a: len({a}), Sorted(2))
    assert "Sorted.__hash__ was called" in recording.reason


def test_del_is_noticed() -> None:
    recording = Recording(lambda: Sorted(2).value)
    assert "Sorted.__del__ was called" in recording.reason


def test_own_code_is_not_noticed() -> None:
    recording = Recording(lambda: [f(1) for f in (lambda x: x, abs)])
    assert recording.reason == ""


def test_function_without_source_runs_and_says_so() -> None:
    namespace: dict[str, Any] = {"y": 2}
    exec("def f(x):\n    return x + y", namespace)
    recording = Recording(namespace["f"], 1)
    assert recording.result == 3
    assert "f has no source file (<string>)" in recording.reason


def test_changed_source_is_refused(tmp_path: Any) -> None:
    file = tmp_path / "changing.py"
    file.write_text("def f():\n    return 1\n")
    namespace: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    file.write_text("def f():\n    return 2\n")
    recording = Recording(namespace["f"])
    assert recording.result == 1
    assert "isn't what runs" in recording.reason


def test_async_function_is_refused() -> None:
    async def f() -> None:
        return None

    recording = Recording(f)
    recording.result.close()
    assert "is asynchronous" in recording.reason


def test_assumed_pure_runs_as_it_is() -> None:
    @assume_pure
    def lookup(x: int) -> int:
        return x + LIMIT

    recording = Recording(lambda: lookup(1))
    assert recording.result == 4
    assert recording.reason == ""


def test_profiler_is_called_on_and_put_back() -> None:
    events: list[str] = []

    def profile(frame: Any, event: str, arg: Any) -> None:
        events.append(event)

    sys.setprofile(profile)
    try:
        Recording(lambda: len([1]))
        restored = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert restored is profile
    assert "call" in events


def test_profiler_is_put_back_after_an_error() -> None:
    Recording(lambda: 1 / 0)
    assert sys.getprofile() is None


def test_watch_is_of_its_thread_only() -> None:
    seen: list[str] = []

    def elsewhere() -> None:
        Sorted(1)

    with Watch(lambda code: True, lambda code: seen.append(code.co_name)):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert "elsewhere" not in seen


@pytest.mark.parametrize(
    ("module", "is_user"),
    [
        ("json", False),
        ("numpy", False),
        ("tracegrad.capture.reads", False),
        ("tests.capture.leaf", True),
    ],
)
def test_which_code_is_the_users(module: str, is_user: bool) -> None:
    __import__(module)
    assert Trust().is_user_module(module) is is_user


def test_named_packages_are_user_code() -> None:
    assert Trust(user_packages=("numpy",)).is_user_module("numpy")
