"""A leaf that stands for tensors, and what a recorder of operators would say of it."""

from typing import Any

from tracegrad.capture.effects import Location
from tracegrad.capture.paths import Path
from tracegrad.capture.reads import ReadRecorder, Reads
from tracegrad.capture.trust import Trust
from tracegrad.captured.guards import CompiledGuards, LeafGuard


class Leaf:
    """Stands for a tensor: opaque, equal only to itself."""

    def __init__(self, value: float = 1.0) -> None:
        self.value = value
        self.grad: Leaf | None = None

    def __add__(self, other: Any) -> "Leaf":
        return Leaf(self.value + (other.value if isinstance(other, Leaf) else other))

    def __mul__(self, other: Any) -> "Leaf":
        return Leaf(self.value * (other.value if isinstance(other, Leaf) else other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return bool(self.value)

    def add_(self, other: Any) -> "Leaf":
        self.value += other
        return self


class StandIn(float):
    """What user code sees of a dynamic number."""


class Leaves:
    """Says that `Leaf` objects are leaves, and keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.truths: list[Location] = []

    def is_leaf(self, value: object) -> bool:
        return type(value) is Leaf

    def read(self, value: Any, path: Path, location: Location) -> None:
        self.told.append(("leaf", str(path)))

    def number(self, value: float, path: Path, location: Location) -> Any:
        self.told.append(("number", str(path)))
        return StandIn(value)

    def truth(self, value: Any, location: Location) -> bool:
        self.truths.append(location)
        return bool(value)

    def attribute(
        self, value: Any, name: str, path: Path | None, location: Location
    ) -> Any:
        return getattr(value, name)

    def returned(self, result: Any) -> None:
        """Nothing is taken apart."""

    def store(self, value: Any, name: str, location: Location) -> str | None:
        return None


class Recording:
    """One recorded call, and its guards."""

    def __init__(
        self,
        function: Any,
        *args: Any,
        dynamic: frozenset[Path] = frozenset(),
        user_packages: tuple[str, ...] = (),
        **kwargs: Any,
    ) -> None:
        self.leaves = Leaves()
        trust = Trust(user_packages, trusted_files=(__file__,))
        self.recorder = ReadRecorder(self.leaves, dynamic, trust)
        self.result: Any = None
        self.error: BaseException | None = None
        try:
            self.result = self.recorder.run(function, args, kwargs)
        except Exception as error:
            self.error = error
        self.reads: Reads = self.recorder.reads()
        leaves = [
            LeafGuard(leaf.path, location=leaf.location) for leaf in self.leaf_reads
        ]
        self.guards = CompiledGuards.compile(self.reads.guards, leaves)

    @property
    def leaf_reads(self) -> tuple[Any, ...]:
        return self.reads.leaves

    @property
    def reason(self) -> str:
        """Why the call can't be captured; empty if it can."""
        return "" if self.reads.reason is None else str(self.reads.reason)

    def hits(self, function: Any, *args: Any, **kwargs: Any) -> bool:
        return self.guards.check(function, args, kwargs) is not None

    def miss(self, function: Any, *args: Any, **kwargs: Any) -> str:
        return self.guards.explain_miss(function, args, kwargs)
