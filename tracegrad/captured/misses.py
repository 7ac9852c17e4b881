"""Why a call fits no program, and whether another program is worth making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from tracegrad.capture.paths import (
    Argument,
    Attribute,
    Cell,
    Default,
    Environment,
    Global,
    Item,
    Keyword,
    Path,
)
from tracegrad.captured.guards import Miss
from tracegrad.captured.specialization import Specialization
from tracegrad.ir.graph import Graph

# How many programs are made because one thing changed, before it runs eagerly.
MAX_PROGRAMS_PER_CHANGE = 4

# A number in these places is a value; a length, say, is structure.
_NUMBER_PLACES = (Argument, Keyword, Attribute, Item, Global, Cell, Default)


@final
class Changes:
    """What was seen to change between the calls of one captured function.

    Attributes
    ----------
    numbers : set of Path
        Where numbers changed: inputs of the next program.
    """

    def __init__(self) -> None:
        self.numbers: set[Path] = set()
        self._seen: Counter[Path] = Counter()
        # Lines whose number, taken out of a tensor, was found to be another one.
        self._unsteady: set[str] = set()

    def left(self, check: Any) -> None:
        """Note that a check found another value."""
        if not isinstance(check.expected, bool):
            self._unsteady.add(str(check.location))

    def why_not_kept(self, graph: Graph) -> str:
        """Return why a recorded graph is no good as a program; empty if it is."""
        for check in graph.checks:
            if str(check.location) in self._unsteady:
                return (
                    "the number that was taken out of a tensor here changes from call "
                    f"to call and decides something, {check.location}"
                )
        return ""

    def misses(
        self,
        programs: Sequence[Specialization],
        call: tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]],
        mode: tuple[Any, ...],
    ) -> list[str]:
        """Return why the programs do not fit a call; notes the numbers that changed."""
        reasons = []
        paths = []
        for program in programs:
            if program.mode != mode:
                reasons.append(_of_mode(program.mode, mode))
                continue
            miss = program.guards.first_miss(*call)
            if miss is None:
                reasons.append(_LEFT)
                continue
            if miss.path is not None:
                paths.append(miss.path)
            if is_changed_number(miss, call):
                self.numbers.add(miss.path)  # type: ignore[arg-type]
            reasons.append(str(miss))
        # What the newest program found: what older ones found may be settled since.
        self._seen.update(paths[-1:])
        return reasons

    def too_many(self) -> str:
        """Return what changed too often for another program; empty if nothing did."""
        for path, count in self._seen.items():
            if count >= MAX_PROGRAMS_PER_CHANGE:
                return f"`{path}` changed {MAX_PROGRAMS_PER_CHANGE} times or more"
        return ""


_LEFT = "the inputs share memory in another way, or a value taken from a tensor differs"
_MODES = ("gradients on", "default dtype", "inference mode")


def _of_mode(before: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    changed = [
        f"{name} was {a} and is {b}"
        for name, a, b in zip(_MODES, before, now, strict=True)
        if a != b
    ]
    return " and ".join(changed)


def is_changed_number(
    miss: Miss, call: tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]
) -> bool:
    """Return whether what changed is a Python number that a program could take."""
    path = miss.path
    if path is None or not isinstance(path, _NUMBER_PLACES):
        return False
    try:
        value = path.evaluate(Environment(*call))
    except (AttributeError, IndexError, KeyError, TypeError):
        return False
    return type(value) in (int, float) and _is_number_text(miss.old)


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
