"""What a captured function returns: a structure with tensors in places.

Each tensor is an input itself, a view of an input or of another result, or a fresh
array of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from tracegrad.dispatch.entry import LeafEntry, flat_edges
from tracegrad.dispatch.tensor import Tensor, edge_of


@final
@dataclass(frozen=True, slots=True)
class InputItself:
    """The very object that came in as leaf number `index`."""

    index: int


@final
@dataclass(frozen=True, slots=True)
class InputView:
    """A view of leaf number `index`, by a path of view operators."""

    index: int
    path: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Fresh:
    """Result number `index` of the program.

    Attributes
    ----------
    tape : str
        ``""`` if it carries no gradient, ``live`` if backward can start from it,
        ``released`` if backward went through it inside the function.
    """

    index: int
    tape: str


@final
@dataclass(frozen=True, slots=True)
class ResultView:
    """A view of the tensor at place `of` among the returned ones."""

    of: int
    path: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Same:
    """The very tensor at place `of` among the returned ones."""

    of: int


Place: TypeAlias = InputItself | InputView | Fresh | ResultView | Same


class CannotReturnError(Exception):
    """A result that a program can't make again."""


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


@final
@dataclass(frozen=True, slots=True)
class Structure:
    """How results are put together.

    Attributes
    ----------
    build : callable
        ``build(tensors)`` gives what the user's function returned.
    """

    build: Callable[[Sequence[Any]], Any]


def flatten(result: Any, tensors: list[Tensor]) -> Callable[[Sequence[Any]], Any]:
    """Collect the tensors of `result`; return how to build it from others.

    Raises
    ------
    CannotReturnError
        If it holds an object that a program can't make.
    """
    if isinstance(result, Tensor):
        place = len(tensors)
        tensors.append(result)
        return lambda given: given[place]
    if type(result) in _PLAIN or isinstance(result, type):
        return lambda given: result
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        parts = [flatten(item, tensors) for item in result]
        kind = type(result)
        return lambda given: kind(*[part(given) for part in parts])
    if type(result) in (tuple, list):
        items = [flatten(item, tensors) for item in result]
        make = type(result)
        return lambda given: make([part(given) for part in items])
    if type(result) is dict:
        pairs = [(key, flatten(item, tensors)) for key, item in result.items()]
        return lambda given: {key: part(given) for key, part in pairs}
    if getattr(type(result), "__module__", "") in (
        "tracegrad.dtypes",
        "tracegrad.device",
    ):
        return lambda given: result
    if type(result).__name__ == "Size" and isinstance(result, tuple):
        return lambda given: result
    raise CannotReturnError(f"it returns an object of type {type(result).__name__}")


def tape_state(tensor: Tensor, inputs: set[int]) -> str:
    """Return whether a tensor is on the tape, and whether that was released.

    Parameters
    ----------
    tensor : Tensor
    inputs : set of int
        Identities of the tensors that came in.

    Raises
    ------
    CannotReturnError
        If gradients flow to a leaf that was made inside the call.
    """
    edge = edge_of(tensor)
    if edge is None:
        return ""
    pending: list[Any] = [edge]
    seen: set[int] = set()
    while pending:
        found = pending.pop()
        entry = getattr(found, "entry", found)
        if entry is None or id(entry) in seen:
            continue
        seen.add(id(entry))
        if getattr(entry, "saved", ()) is None:
            return "released"
        if entry.__class__ is LeafEntry and id(entry.leaf()) not in inputs:
            raise CannotReturnError(
                "gradients flow to a tensor with requires_grad made in the function"
            )
        pending.extend(flat_edges(entry))
    return "live"
