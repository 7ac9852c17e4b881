"""profile: named blocks and steps, schedules, tables and traces."""

import json
import time

import pytest

from tracegrad.errors import ArgumentError
from tracegrad.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)


def test_blocks_are_measured():
    with profile(activities=[ProfilerActivity.CPU]) as measured:
        for _ in range(3):
            with record_function("short"):
                time.sleep(0.001)

        @record_function("decorated")
        def work():
            time.sleep(0.01)

        work()
    with record_function("after"):
        pass
    averages = {average.key: average for average in measured.key_averages()}
    assert set(averages) == {"short", "decorated"}
    assert averages["short"].count == 3
    assert 1000 <= averages["short"].cpu_time <= averages["short"].cpu_time_total
    table = measured.key_averages().table(sort_by="cpu_time", row_limit=1)
    assert "decorated" in table
    assert "short" not in table
    with pytest.raises(ArgumentError, match="sort_by"):
        measured.key_averages().table(sort_by="cuda_time")


def test_schedules():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    none, warm, record, save = ProfilerAction
    cycle = [none, warm, record, save]
    assert [plan(i) for i in range(11)] == [none, *cycle, *cycle, none, none]
    with pytest.raises(ArgumentError):
        schedule(wait=0, warmup=0, active=0)


def test_steps_and_traces(tmp_path):
    with profile(
        schedule=schedule(wait=1, warmup=0, active=2, repeat=1),
        on_trace_ready=tensorboard_trace_handler(str(tmp_path / "logs")),
    ) as measured:
        for _ in range(5):
            with record_function("work"):
                pass
            measured.step()
    (file,) = (tmp_path / "logs").iterdir()
    names = [event["name"] for event in json.loads(file.read_text())["traceEvents"]]
    assert names == ["work", "ProfilerStep#1", "work", "ProfilerStep#2"]
    measured.export_chrome_trace(tmp_path / "trace.json")
    assert len(json.loads((tmp_path / "trace.json").read_text())["traceEvents"]) == 4
