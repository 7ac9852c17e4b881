"""The report of a captured function, in sentences."""

from __future__ import annotations

from typing import Any, final


@final
class Explanation:
    """What happened to a captured function; its ``str`` is the report."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self._limit_said = False

    def captured(self, specialization: Any, misses: list[str]) -> None:
        """Note a new program, and why the others did not fit."""
        number = sum("program" in line for line in self.lines) + 1
        count = len(specialization.graph.nodes)
        self.lines.append(f"program {number}: captured {count} operators")
        self.lines.extend(f"  made because {reason}" for reason in misses)

    def fell_back(self, reason: str) -> None:
        """Note a call that ran eagerly."""
        line = f"ran eagerly: {reason}"
        if line not in self.lines:
            self.lines.append(line)

    def limit(self, count: int) -> None:
        """Note, once, that no more programs are made."""
        if not self._limit_said:
            self._limit_said = True
            self.lines.append(f"more than {count} programs: other calls run eagerly")

    def __str__(self) -> str:
        return "\n".join([f"{self.name}:", *(f"  {line}" for line in self.lines)])

    __repr__ = __str__
