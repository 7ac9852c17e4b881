"""Why a call fits no program, and whether another program is worth making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
        self._fixed: set[Path] = set()
        self._seen: Counter[Path] = Counter()
        # Lines whose number, taken out of a tensor, was found to be another one.
        self._unsteady: set[str] = set()

    def fix(self, numbers: Iterable[Path]) -> None:
        """Guard the values of numbers from now on: programs can't take them in."""
        self._fixed.update(numbers)
        self.numbers -= self._fixed

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
        left: Mapping[int, Any],
    ) -> list[str]:
        """Return why a call does not fit the program that it fits best.

        Notes the numbers that changed.

        Parameters
        ----------
        programs : sequence of Specialization
        call : tuple
            Function, positional and keyword arguments.
        mode : tuple
        left : dict of int to Check
            By identity of a program, the check that sent the call away.
        """
        best: list[Miss] | None = None
        reasons: list[str] = []
        for program in programs:
            if program.mode != mode:
                if not reasons:
                    reasons = [_of_mode(program.mode, mode)]
                continue
            misses = list(program.guards.misses(*call))
            if best is None or len(misses) <= len(best):
                best = misses
                reasons = [str(miss) for miss in misses]
                if not misses:
                    reasons = [_of_check(left.get(id(program)))]
        for miss in best or ():
            if miss.path not in self._fixed and is_changed_number(miss, call):
                self.numbers.add(miss.path)  # type: ignore[arg-type]
        self._seen.update(m.path for m in (best or ())[:1] if m.path is not None)
        return reasons

    def too_many(self) -> str:
        """Return what changed too often for another program; empty if nothing did."""
        for path, count in self._seen.items():
            if count >= MAX_PROGRAMS_PER_CHANGE:
                return f"`{path}` changed {MAX_PROGRAMS_PER_CHANGE} times or more"
        return ""


def _of_check(check: Any) -> str:
    if check is None:
        return "the inputs share memory in another way"
    return f"the value that is taken from a tensor at {check.location} is another one"


_MODES = ("gradients on", "default dtype", "inference mode", "autocast")


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
