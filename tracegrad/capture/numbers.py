"""Numbers that change between calls: inputs of the program instead of guarded values.

While a call is recorded such a number is a stand-in, a float or int with its true
value. Arithmetic on it gives stand-ins again, which the program's caller computes anew
in Python at each call. Whatever else looks at the value pins it: a guard, as for any
other number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class Leaf:
    """A number that comes in as leaf `index`."""

    index: int


@final
@dataclass(frozen=True, slots=True)
class Computed:
    """A number that Python computes from others.

    Attributes
    ----------
    function : callable
        Of module `operator`, or ``float``.
    args : tuple
        Sources, and plain numbers.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """The only element of a tensor, taken by ``item()``: the `index`-th taking."""

    index: int


Source: TypeAlias = Leaf | Computed | Taken


def evaluate(source: Any, leaves: Sequence[Any], taken: Any = ()) -> Any:
    """Return the number for the leaves of a call, and what it took from tensors."""
    if isinstance(source, Leaf):
        return leaves[source.index]
    if isinstance(source, Taken):
        return taken[source.index]
    if isinstance(source, Computed):
        return source.function(*[evaluate(arg, leaves, taken) for arg in source.args])
    return source


def takings_of(source: Any) -> set[int]:
    """Return which takings a number comes from."""
    if isinstance(source, Taken):
        return {source.index}
    if isinstance(source, Computed):
        return set().union(*map(takings_of, source.args))
    return set()


class NumberOwner:
    """What stand-ins report to: the session, until the recording ends."""

    def value_for(self, number: Any) -> Any:
        """Return the graph's input for a stand-in, or the number itself if pinned."""
        raise NotImplementedError

    def made(self, number: Any) -> None:
        """Note that a stand-in was made."""
        raise NotImplementedError

    def pin(self, source: Source) -> None:
        """Guard the values of the leaves that `source` comes from."""
        raise NotImplementedError


class StandIn:
    """Common to stand-ins: where the number comes from."""

    source: Source
    owner: NumberOwner | None
    uses: int

    @property
    def graph_value(self) -> Any:
        """The graph's input that has this number."""
        assert self.owner is not None
        self.uses += 1
        return self.owner.value_for(self)

    def pin(self) -> None:
        """Note that something depends on the value itself."""
        if self.owner is not None:
            self.owner.pin(self.source)

    def __reduce__(self) -> tuple[Any, ...]:
        self.pin()
        return type(plain(self)), (plain(self),)


def stand_in(value: float, source: Source, owner: NumberOwner) -> Any:
    """Return the stand-in for `value`."""
    made: Any = IntStandIn(value) if isinstance(value, int) else FloatStandIn(value)
    made.source, made.owner, made.uses = source, owner, 0
    owner.made(made)
    return made


def plain(value: Any) -> Any:
    """Return the number that a stand-in stands for; other values as they are."""
    if isinstance(value, IntStandIn):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, FloatStandIn) else value


def looked_at(value: Any) -> Any:
    """Pin the stand-ins that a value is or holds, and return it with plain numbers."""
    if isinstance(value, StandIn):
        value.pin()
        return plain(value)
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        if any(isinstance(part, StandIn) for part in parts):
            return slice(*map(looked_at, parts))
    elif value.__class__ in (tuple, list):
        return value.__class__(map(looked_at, value))
    return value


def pin_within(value: Any, depth: int = 4) -> None:
    """Pin the stand-ins that a value is or holds, to `depth` levels."""
    if isinstance(value, StandIn):
        value.pin()
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            pin_within(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in value.values():
            pin_within(item, depth - 1)


def without_stand_in(value: Any) -> Any:
    """Return a value that may leave the call: the number that a stand-in stands for."""
    if isinstance(value, StandIn):
        value.pin()
        return plain(value)
    return value


def _source(value: Any) -> Any:
    return value.source if isinstance(value, StandIn) else value


def _arithmetic(function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        if any(type(plain(o)) not in (int, float) for o in others):
            # A tensor's operator takes the stand-in itself; a list's takes the value.
            if not any(hasattr(o, "_array") for o in others):
                self.pin()
            return NotImplemented
        args = (*others, self) if swapped else (self, *others)
        value = function(*map(plain, args))
        if self.owner is None or type(value) not in (int, float):
            return value
        self.uses += 1
        return stand_in(
            value, Computed(function, tuple(map(_source, args))), self.owner
        )

    return method


def _looking(base: type, name: str) -> Callable[..., Any]:
    inherited = getattr(base, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.pin()
        if not callable(inherited):
            return getattr(plain(self), name)
        return inherited(plain(self), *map(plain, args), **kwargs)

    return method


_ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "truediv": operator.truediv, "floordiv": operator.floordiv,
    "mod": operator.mod, "pow": operator.pow,
}  # fmt: skip
# What Python itself needs of an object; none of it depends on the value.
_OF_OBJECTS = {
    "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__class__",
    "__getattribute__", "__setattr__", "__delattr__", "__doc__", "__dir__",
    "__reduce__", "__reduce_ex__", "__getnewargs__", "__getstate__", "__sizeof__",
    "__getformat__", "__setformat__", "from_bytes", "fromhex",
}  # fmt: skip


def _methods(base: type) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for name, function in _ARITHMETIC.items():
        methods[f"__{name}__"] = _arithmetic(function, False)
        methods[f"__r{name}__"] = _arithmetic(function, True)
    methods["__neg__"] = _arithmetic(operator.neg, False)
    methods["__pos__"] = _arithmetic(operator.pos, False)
    methods["__abs__"] = _arithmetic(operator.abs, False)
    for name in dir(base):
        if name in methods or name in _OF_OBJECTS:
            continue
        looks = _looking(base, name)
        methods[name] = looks if callable(getattr(base, name)) else property(looks)
    return methods


# Messages name the classes of what arrived, and these are none of the user's.
FloatStandIn: Any = type("float", (StandIn, float), _methods(float))
FloatStandIn.__qualname__ = "FloatStandIn"
IntStandIn: Any = type("int", (StandIn, int), _methods(int))
IntStandIn.__qualname__ = "IntStandIn"
