"""Anomaly mode: backward names the line whose operator went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from tracegrad.dispatch.entry import Node
from tracegrad.dispatch.state import installed, thread
from tracegrad.errors import GradientError

# PyTorch's key in `metadata`.
LINE = "traceback_"


@final
class detect_anomaly:  # noqa: N801 - PyTorch's name
    """Note where each tape entry is made, and look for NaN in backward.

    An error in backward then names the line of the forward operator. Slower: use it
    to find a mistake.

    Parameters
    ----------
    check_nan : bool
        Raise where an entry makes a NaN.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan

    def __enter__(self) -> None:
        self._before = thread.anomaly
        # "Busy" keeps operators off the common path, which makes bare entries.
        installed.add_busy(1)
        thread.anomaly = "nan" if self.check_nan else "lines"

    def __exit__(self, *exception: object) -> None:
        thread.anomaly = self._before
        installed.add_busy(-1)


def note_forward_line(error: BaseException, entry: Node) -> None:
    """Add the line of the forward operator to an error, where it is known."""
    if entry.hooks is not None and LINE in entry.hooks.metadata:
        error.add_note(
            f"{entry.name()}: the forward operator was called at "
            f"{entry.hooks.metadata[LINE]}"
        )


def check_finite(entry: Node, cts: Sequence[Any]) -> None:
    """Refuse cotangents with NaN.

    Raises
    ------
    GradientError
        If there is one.
    """
    if thread.anomaly != "nan":
        return
    for place, ct in enumerate(cts):
        array = ct._array
        if array.dtype.kind in "fc" and bool(np.isnan(array).any()):
            raise GradientError(f"{entry.name()} returned NaN in its output {place}")
