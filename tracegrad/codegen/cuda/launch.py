"""Kernels as text with what their launches pass, and the source that holds them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from tracegrad.codegen.c_family.body import Array, Naming, Statement, dtype_of
from tracegrad.codegen.c_family.names import CNames
from tracegrad.codegen.c_family.reductions import Fold
from tracegrad.codegen.c_family.types import c_type
from tracegrad.codegen.cuda.dialect import CUDA, cuda_helpers, from_lane
from tracegrad.codegen.cuda.geometry import COLUMN_HEIGHT
from tracegrad.codegen.environment import UserText, render
from tracegrad.codegen.kernel import Kernel
from tracegrad.dtypes import DType
from tracegrad.ir.graph import Operand, Value

_LINE = 84
# Namespaces of nvcc, and functions that its headers declare: no kernel's names.
_TAKEN = frozenset({"std", "cuda", "nvcuda", "div", "ldiv", "lldiv"})


@final
@dataclass(frozen=True, slots=True)
class Temporary:
    """Memory between the launches of one kernel.

    Attributes
    ----------
    name : str
    size : int
        In elements.
    dtype : DType
    """

    name: str
    size: int
    dtype: DType


Argument: TypeAlias = Value | Temporary


@final
@dataclass(frozen=True, slots=True)
class Launch:
    """One launch.

    Attributes
    ----------
    name : str
        Of the function.
    grid, block : tuple of int
    arguments : tuple of Value or Temporary
        Values of the kernel's graph.
    """

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Argument, ...]


@final
@dataclass(frozen=True, slots=True)
class Head:
    """What a template writes before a kernel's body."""

    name: str
    parameters: list[str]
    threads: int
    comments: list[UserText]

    def listed(self) -> str:
        """Return the parameters, each on its own line where one is too short."""
        line = ", ".join(self.parameters)
        if len(line) + len(self.name) < _LINE:
            return line
        return "\n    " + ",\n    ".join(self.parameters)


@final
@dataclass(slots=True)
class _Teams:
    fold: Fold
    teams: set[str] = field(default_factory=set)


@final
class CudaSource:
    """The CUDA C of one program, while it is collected.

    Attributes
    ----------
    helpers : Helpers
    names : CNames
        Of its kernels.
    """

    def __init__(self) -> None:
        self.helpers = cuda_helpers()
        self.names = CNames(CUDA.reserved | _TAKEN)
        self._texts: list[str] = []
        self._folds: dict[str, _Teams] = {}

    def fold(self, fold: Fold, team: str) -> None:
        """Note that a team of threads folds in this way."""
        found = self._folds.setdefault(fold.name, _Teams(fold))
        found.teams.update((team, "warp") if team == "block" else (team,))

    def add(self, template: str, head: Head, **values: Any) -> None:
        """Add a kernel."""
        self._texts.append(render(template, kernel=head, **values))

    def text(self) -> str:
        """Return the whole source."""
        folds = [_rendered(f.fold, f.teams) for f in self._folds.values()]
        teams = render("cuda/team.cu.j2", folds=folds, height=COLUMN_HEIGHT)
        parts = [*self.helpers.texts(), *teams.split("\n\n"), *self._texts]
        return render(
            "cuda/source.cu.j2",
            parts=[text.strip() for text in parts if text.strip()],
        )


def _rendered(fold: Fold, teams: set[str]) -> dict[str, Any]:
    return {
        "name": fold.name,
        "type": fold.type,
        "start": fold.start,
        "teams": teams,
        "combined": fold.combined("a", "b"),
        "from_lower_lane": from_lane("__shfl_down_sync", "a", "offset", fold.dtype),
        "from_first_lane": from_lane("__shfl_sync", "a", "0", fold.dtype),
    }


def parameter(array: Array, written: bool) -> str:
    """Return the parameter that points to an array."""
    kind = c_type(array.dtype).storage
    return f"{'' if written else 'const '}{kind}* __restrict__ {array.name}"


def read_parameters(naming: Naming) -> tuple[list[str], list[Value]]:
    """Return the parameters for what the statements read, and their values."""
    values = [v for v in naming.arrays if v in naming.read]
    texts = [parameter(naming.arrays[v], written=False) for v in values]
    for value in naming.read:
        if value not in naming.arrays:
            values.append(value)
            texts.append(f"const {c_type(dtype_of(value)).value} {naming(value)}")
    return texts, values


def comments(
    kernel: Kernel, outputs: Sequence[Value], what: str = ""
) -> list[UserText]:
    """Return what a kernel computes, one line for each output."""
    found = [UserText(f"{v.name} = {expression(kernel, v)}{what}") for v in outputs]
    return found or [UserText(f"{kernel.name}{what}")]


def expression(kernel: Kernel, value: Value) -> str:
    """Return how `value` follows from the kernel's inputs, as nested calls.

    What is used more than once is shown where it is first met.
    """
    return _nested(value, kernel.body.producers(), set())


def _nested(value: Value, producers: Mapping[Value, Any], shown: set[Value]) -> str:
    node = producers.get(value)
    if node is None or value in shown:
        return value.name
    shown.add(value)
    inner = ", ".join(_operand(o, producers, shown) for o in node.inputs)
    return f"{node.operator.name}({inner})"


def _operand(
    operand: Operand, producers: Mapping[Value, Any], shown: set[Value]
) -> str:
    if isinstance(operand, Value):
        return _nested(operand, producers, shown)
    return repr(operand)


def index_parts(kind: str, parts: Sequence[tuple[str, str]]) -> list[Statement]:
    """Return the statements that split a linear index."""
    return [Statement(f"const {kind} {name} = {text};") for name, text in parts]
