"""What a captured function returns: a structure with tensors in places.

Each tensor is an input itself, a view of an input or of another result, an alias, or a
fresh array of the program. A place may be hidden: a tensor that is not returned but
whose view is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from tracegrad.capture.numbers import Source, StandIn, plain
from tracegrad.dispatch.tensor import Tensor


@final
@dataclass(frozen=True, slots=True)
class InputItself:
    """The very object that came in as leaf number `index`."""

    index: int


@final
@dataclass(frozen=True, slots=True)
class Fresh:
    """Result number `index` of the program.

    Attributes
    ----------
    tape : str
        ``""`` if it carries no gradient, ``live`` if backward can start from it,
        ``released`` if backward went through it inside the function.
    strides : tuple of int or None
        In bytes, if its memory has no gaps: the program may lay it out differently.
    version : int
        How often it was written inside the function.
    inference : bool
        Whether it is an inference tensor.
    """

    index: int
    tape: str
    strides: tuple[int, ...] | None = None
    version: int = 0
    inference: bool = False


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """The fresh gradient that write-back number `index` of the gradients binds.

    Attributes
    ----------
    strides : tuple of int or None
    version : int
        How often it was written inside the function.
    """

    index: int
    strides: tuple[int, ...] | None = None
    version: int = 0


@final
@dataclass(frozen=True, slots=True)
class ViewOf:
    """A view of the tensor at place `of`, by view operators.

    Attributes
    ----------
    tracked : bool
        Whether the view was made with gradients on.
    """

    of: int
    path: tuple[Any, ...]
    tracked: bool


@final
@dataclass(frozen=True, slots=True)
class AliasOf:
    """The memory of the tensor at place `of` without gradient: ``detach``, ``data``.

    Attributes
    ----------
    shares_version : bool
        Whether writes to one count for the other.
    version : int
        If not: how often it was written inside the function.
    """

    of: int
    shares_version: bool
    version: int = 0


@final
@dataclass(frozen=True, slots=True)
class Number:
    """A Python number that comes from what the call took out of tensors."""

    source: Source


Place: TypeAlias = InputItself | Fresh | Bound | ViewOf | AliasOf | Number


class CannotReturnError(Exception):
    """A result that a program can't make again."""


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_OURS = ("tracegrad.dtypes", "tracegrad.device")

Build: TypeAlias = Callable[[Sequence[Any]], Any]


@final
class Flattening:
    """A result taken apart: its tensors and taken numbers, and how it is put together.

    Parameters
    ----------
    is_outside : callable
        Whether an object came from outside the call.

    Attributes
    ----------
    parts : list
        Tensors and stand-ins of numbers, in the order of their places in `build`.
    """

    def __init__(self, is_outside: Callable[[object], bool]) -> None:
        self.parts: list[Any] = []
        self._is_outside = is_outside
        self._seen: set[int] = set()

    def take_apart(self, result: Any) -> Build:
        """Collect the parts of `result`; return how to build it from others.

        Raises
        ------
        CannotReturnError
            If it holds an object that a program can't make.
        """
        if isinstance(result, Tensor | StandIn):
            place = len(self.parts)
            self.parts.append(result)
            return lambda given: given[place]
        if _is_value(result):
            return lambda given: result
        return self._container(result)

    def _container(self, result: Any) -> Build:
        kind = type(result)
        if kind is tuple and not result:
            return lambda given: ()
        if self._is_outside(result):
            raise CannotReturnError(
                f"it returns an object of type {kind.__name__} that came from outside"
            )
        if id(result) in self._seen:
            raise CannotReturnError(
                f"it returns one object of type {kind.__name__} in two places"
            )
        self._seen.add(id(result))
        if kind in (tuple, list):
            items = [self.take_apart(item) for item in result]
            return lambda given: kind([part(given) for part in items])
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._named_tuple(result)
        if kind is dict:
            pairs = [(key, self.take_apart(item)) for key, item in result.items()]
            if not all(_is_value(key) for key, _ in pairs):
                raise CannotReturnError("it returns a dict with keys that are objects")
            return lambda given: {key: part(given) for key, part in pairs}
        if dataclasses.is_dataclass(kind) and _is_simple(result):
            return self._dataclass(result)
        raise CannotReturnError(f"it returns an object of type {kind.__name__}")

    def _named_tuple(self, result: Any) -> Build:
        kind = type(result)
        parts = [self.take_apart(item) for item in result]
        return lambda given: tuple.__new__(kind, [part(given) for part in parts])

    def _dataclass(self, result: Any) -> Build:
        kind = type(result)
        fields = [(n, self.take_apart(v)) for n, v in vars(result).items()]

        def build(given: Sequence[Any]) -> Any:
            made = object.__new__(kind)
            for name, part in fields:
                object.__setattr__(made, name, part(given))
            return made

        return build


def _is_value(result: Any) -> bool:
    """Return whether `result` is the same in each call and can't be changed."""
    if type(result) in _PLAIN or isinstance(result, type):
        return True
    if getattr(type(result), "__module__", "") in _OURS:
        return True
    return type(result).__name__ == "Size" and isinstance(result, tuple)


def _is_simple(result: Any) -> bool:
    """Return whether a dataclass's instance is its fields, all in its ``__dict__``."""
    kind = type(result)
    return (
        hasattr(result, "__dict__")
        and not any("__new__" in vars(cls) for cls in kind.__mro__[:-1])
        and kind.__setattr__ in (object.__setattr__, kind.__dict__.get("__setattr__"))
        and set(vars(result)) == {f.name for f in dataclasses.fields(result)}
    )


def shown(parts: Sequence[Any]) -> list[Any]:
    """Return the parts of the recorded call, numbers in place of their stand-ins."""
    return [plain(part) if isinstance(part, StandIn) else part for part in parts]
