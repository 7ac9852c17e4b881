"""spawn: several processes, and what becomes of their errors."""

import os
import signal

import pytest

import tracegrad as tg
from tracegrad import multiprocessing as mp
from tracegrad.errors import ProcessExitedError, ProcessRaisedError


def _write(index, folder):
    (folder / str(index)).write_text(str((tg.ones(2) * index).tolist()))


def _fail(index):
    if index == 1:
        raise ValueError("broken process")


def _die(index):
    os.kill(os.getpid(), signal.SIGKILL)


def test_each_has_its_number(tmp_path):
    assert mp.spawn(_write, (tmp_path,), nprocs=2, start_method="fork") is None
    assert (tmp_path / "1").read_text() == "[1.0, 1.0]"
    assert len(list(tmp_path.iterdir())) == 2


def test_errors_come_back():
    with pytest.raises(ProcessRaisedError, match="broken process") as caught:
        mp.spawn(_fail, nprocs=2, start_method="fork")
    assert "in _fail" in str(caught.value)
    context = mp.spawn(_die, nprocs=1, join=False, start_method="fork")
    assert len(context.pids()) == 1
    with pytest.raises(ProcessExitedError, match="signal 9"):
        context.join()


def test_tensors_are_sent_as_copies():
    queue = mp.SimpleQueue()
    x = tg.arange(3)
    queue.put(x)
    received = queue.get()
    assert received.tolist() == [0, 1, 2]
    received += 1
    assert x.tolist() == [0, 1, 2]
