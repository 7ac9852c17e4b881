"""What a captured call leaves on the tape."""

from __future__ import annotations

from typing import Any, final

from tracegrad.dispatch.entry import next_sequence
from tracegrad.errors import GradientError


@final
class ReleasedEntry:
    """The entry of a result whose backward ran inside the captured function."""

    __slots__ = ("__weakref__", "edges", "hooks", "sequence")

    name = "CapturedBackward"

    def __init__(self) -> None:
        self.edges: tuple[Any, ...] = ()
        self.hooks: list[Any] | None = None
        self.sequence = next_sequence()

    def pull(self, ct: Any, create_graph: bool) -> Any:
        """Refuse: as in eager mode, what had been saved is freed."""
        raise GradientError(
            "backward went through this result inside the captured function already "
            "and what it had saved is freed"
        )

    def __repr__(self) -> str:
        return f"<{self.name}>"
