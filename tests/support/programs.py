"""Load the programs of `tests/programs/` under PyTorch or tracegrad.

A program imports `torch` at its top and yields its losses from `train`. Both libraries
take the name in turn, so both can run in one process.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tracegrad.torch as tracegrad_torch

FOLDER = Path(__file__).parents[1] / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")

Train = Callable[[int], Iterator[float]]


@contextmanager
def under_tracegrad(name: str) -> Iterator[Train]:
    """The program's `train`, whose `torch` is tracegrad."""
    with _without_einops(), tracegrad_torch.aliased():
        yield _train_of(name)


@contextmanager
def under_pytorch(name: str) -> Iterator[Train]:
    """The program's `train`, whose `torch` is PyTorch."""
    with _without_einops():
        yield _train_of(name)


def _train_of(name: str) -> Train:
    return runpy.run_path(str(FOLDER / f"{name}.py"))["train"]


@contextmanager
def _without_einops() -> Iterator[None]:
    """Let einops be imported anew: it keeps the `torch` that it found first."""
    before = _take_einops()
    try:
        yield
    finally:
        _take_einops()
        sys.modules.update(before)


def _take_einops() -> dict[str, Any]:
    names = [name for name in sys.modules if name.partition(".")[0] == "einops"]
    return {name: sys.modules.pop(name) for name in names}
