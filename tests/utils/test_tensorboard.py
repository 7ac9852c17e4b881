"""SummaryWriter: absent, or tensorboardX with tensors."""

import sys
import types

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import MissingPackageError
from tracegrad.utils import tensorboard


def test_it_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="pip install tensorboardX"):
        tensorboard.SummaryWriter()
    with pytest.raises(ImportError):
        tensorboard.SummaryWriter()


def test_tensors_reach_it_as_arrays(monkeypatch):
    calls = []

    class Writer:
        def __init__(self, log_dir):
            calls.append(log_dir)

        def add_scalars(self, name, values, step):
            calls.append((name, values, step))

        def close(self):
            calls.append("closed")

    module = types.ModuleType("tensorboardX")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "tensorboardX", module)
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: module)
    with tensorboard.SummaryWriter("logs") as writer:
        writer.add_scalars("loss", {"a": tg.ones(1, requires_grad=True)}, step=3)
    name, values, step = calls[1]
    assert (name, step) == ("loss", 3)
    assert type(values["a"]) is np.ndarray
    assert calls[0] == "logs"
    assert calls[-1] == "closed"
