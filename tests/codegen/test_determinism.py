"""Two runs with other hash seeds emit the same IR text and the same source."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import tracegrad as tg
from tracegrad import nn
from tracegrad.nn import functional as F
tg.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 4))
optimizer = tg.optim.Adam(model.parameters())
def step(x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss
run = tg.trace(step)
run(tg.ones(5, 8), tg.zeros(5, dtype=tg.int64))
print(run.graph)
print(run.source)
print(run.explain())
"""


def output(seed: str, program: Path) -> str:
    environment = os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, str(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_hash_seeds(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    first = output("1", program)
    assert "def step(" in first
    assert first == output("4242", program)
