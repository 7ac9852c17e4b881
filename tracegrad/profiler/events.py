"""What a profile has measured: blocks with their times, and tables of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.errors import ArgumentError


@final
@dataclass(frozen=True, slots=True)
class Event:
    """One run of a named block.

    Attributes
    ----------
    name : str
    start_us, duration_us : float
        On the clock of the profile, in microseconds.
    thread : int
    """

    name: str
    start_us: float
    duration_us: float
    thread: int


@final
@dataclass(slots=True)
class Average:
    """All runs of the blocks of one name.

    Attributes
    ----------
    key : str
    count : int
    cpu_time_total : float
        In microseconds.
    """

    key: str
    count: int = 0
    cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        """The mean, in microseconds."""
        return self.cpu_time_total / self.count


_ORDERS = {
    "cpu_time_total": lambda average: -average.cpu_time_total,
    "self_cpu_time_total": lambda average: -average.cpu_time_total,
    "cpu_time": lambda average: -average.cpu_time,
    "count": lambda average: -average.count,
}


@final
class Averages(Sequence[Average]):
    """Sums over the runs of each name."""

    def __init__(self, events: Sequence[Event]) -> None:
        found: dict[str, Average] = {}
        for event in events:
            average = found.setdefault(event.name, Average(event.name))
            average.count += 1
            average.cpu_time_total += event.duration_us
        self._averages = list(found.values())

    def __getitem__(self, index: Any) -> Any:
        return self._averages[index]

    def __len__(self) -> int:
        return len(self._averages)

    def __iter__(self) -> Iterator[Average]:
        return iter(self._averages)

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, **others: Any
    ) -> str:
        """Return the sums as text.

        Parameters
        ----------
        sort_by : str, optional
            ``"cpu_time_total"``, ``"cpu_time"`` or ``"count"``; in the order in which
            they came if not given.
        row_limit : int
            How many rows; -1 for all.
        **others
            Accepted as PyTorch's, without effect.

        Raises
        ------
        ArgumentError
            If there is nothing to sort by of that name.
        """
        del others
        rows = list(self._averages)
        if sort_by is not None:
            order = _ORDERS.get(sort_by)
            if order is None:
                raise ArgumentError(
                    f"table(): sort_by is one of {', '.join(_ORDERS)}, "
                    f"not {sort_by!r}; only wall time is measured"
                )
            rows.sort(key=order)
        rows = rows if row_limit < 0 else rows[:row_limit]
        width = max([len(row.key) for row in rows] + [4])
        rule = "  ".join(["-" * width, *["-" * 12] * 3])
        heads = ["CPU total", "CPU time avg", "# of Calls"]
        head = f"{'Name':<{width}}  " + "  ".join(f"{h:>12}" for h in heads)
        body = [
            f"{row.key:<{width}}  {_ms(row.cpu_time_total):>12}  "
            f"{_ms(row.cpu_time):>12}  {row.count:>12}"
            for row in rows
        ]
        return "\n".join([rule, head, rule, *body, rule])


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1000:.3f}ms"


def write_chrome_trace(path: str | os.PathLike[str], events: Sequence[Event]) -> None:
    """Write events in the form that chrome://tracing and Perfetto read."""
    entries = [
        {
            "name": event.name,
            "ph": "X",
            "ts": event.start_us,
            "dur": event.duration_us,
            "pid": os.getpid(),
            "tid": event.thread,
            "cat": "user_annotation",
        }
        for event in events
    ]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": entries}, file)
