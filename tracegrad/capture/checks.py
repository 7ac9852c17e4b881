"""What a guard asks of the object at a path, as a Python expression.

The expression is the only definition: compiled guards contain it, and messages about
a miss evaluate it. Each takes some 15 to 40 nanoseconds, so it is written for speed.
"""

import math
import struct
import weakref
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Protocol, final

import numpy as np

from tracegrad.capture.effects import Location
from tracegrad.capture.paths import Constants, Path

HEAP_TYPE = 1 << 9
SINGLETONS = (None, True, False, Ellipsis, NotImplemented)


class Check(Protocol):
    """A condition on one object."""

    def render(self, value: str, constants: Constants) -> str:
        """Python expression that is true where the object `value` is as before."""
        ...

    def old(self) -> str:
        """What the object was, in a user's words."""
        ...

    def new(self, value: Any) -> str:
        """What the object `value` is, in the same words."""
        ...


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which a recording may be used.

    Attributes
    ----------
    path : Path
        What is checked.
    check : Check
        The condition.
    location : Location
        The user's line that read it.
    """

    path: Path
    check: Check
    location: Location


def brief(value: Any) -> str:
    """The value in at most 60 characters, never raising."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."


def _described(value: Any) -> str:
    """Value for a simple one, else its type: a user's repr may be long, or run code."""
    if type(value) in (int, float, str, bytes, bool, complex, tuple, type(None), range):
        return brief(value)
    if isinstance(value, type):
        return f"class {value.__qualname__}"
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return name
    return f"an object of type {type(value).__qualname__}"


class _Valued:
    """A check that compares with a value that both messages show."""

    __slots__ = ()

    def new(self, value: Any) -> str:
        return _described(value)


@final
@dataclass(frozen=True, slots=True)
class Is(_Valued):
    """The very object: singletons and what lives as long as the process."""

    value: Any

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        return f"{value} is {constants.add(self.value)}"

    def old(self) -> str:
        """See `Check`."""
        return _described(self.value)


@final
class IsStill(_Valued):
    """The very object, referred to weakly: classes, modules, enum members."""

    __slots__ = ("name", "reference")

    def __init__(self, value: Any) -> None:
        self.reference = weakref.ref(value)
        self.name = _described(value)

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        return f"{value} is {constants.alive(self.reference)}"

    def old(self) -> str:
        """See `Check`."""
        return self.name


@final
@dataclass(frozen=True, slots=True)
class IsCode:
    """A function's code object."""

    code: CodeType

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        return f"{value}.__code__ is {constants.add(self.code)}"

    def old(self) -> str:
        """See `Check`."""
        return f"{self.code.co_qualname} of line {self.code.co_firstlineno}"

    def new(self, value: Any) -> str:
        """See `Check`."""
        code = getattr(value, "__code__", None)
        return IsCode(code).old() if isinstance(code, CodeType) else _described(value)


@final
class HasType:
    """``type(value)`` is a class; classes that can die are referred to weakly."""

    __slots__ = ("name", "reference")

    def __init__(self, cls: type) -> None:
        heap = cls.__flags__ & HEAP_TYPE
        self.reference: Any = weakref.ref(cls) if heap else cls
        self.name = cls.__qualname__

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        if isinstance(self.reference, type):
            return f"type({value}) is {constants.add(self.reference)}"
        return f"type({value}) is {constants.alive(self.reference)}"

    def old(self) -> str:
        """See `Check`."""
        return f"of type {self.name}"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return f"of type {type(value).__qualname__}"


@final
@dataclass(frozen=True, slots=True)
class Equals(_Valued):
    """Of the same type, and equal. For types where that means the same bits."""

    value: Any

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        kind = constants.add(type(self.value))
        return f"type({value}) is {kind} and {self.render_value(value, constants)}"

    def render_value(self, value: str, constants: Constants) -> str:
        """Python expression for what is of the type for sure."""
        number = self.value.__class__ is int
        return f"{value} == {self.value if number else constants.add(self.value)}"

    def old(self) -> str:
        """See `Check`."""
        return _described(self.value)


@final
@dataclass(frozen=True, slots=True)
class SameBits(_Valued):
    """Of the same type, with the same bits: NaN equals itself, and -0.0 isn't 0.0."""

    value: Any

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        bits, kind = constants.add(bits_of), constants.add(type(self.value))
        return (
            f"type({value}) is {kind} and {bits}({value}) == "
            f"{constants.add(bits_of(self.value))}"
        )

    def old(self) -> str:
        """See `Check`."""
        return _described(self.value)


def bits_of(value: Any) -> bytes:
    """The bits of a float, a complex number or a NumPy scalar."""
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, complex):
        return struct.pack("<dd", value.real, value.imag)
    return struct.pack("<d", value)


@final
@dataclass(frozen=True, slots=True)
class Exactly(_Valued):
    """Equal, with elements of the same types and bits, to any depth."""

    value: Any

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        return f"{constants.add(exact)}({value}, {constants.add(self.value)})"

    def old(self) -> str:
        """See `Check`."""
        return _described(self.value)


@final
@dataclass(frozen=True, slots=True)
class HasParts(_Valued):
    """A tuple of names and integers, of the same types: compared in C."""

    value: tuple[Any, ...]

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        return f"type({value}) is tuple and {self.render_value(value, constants)}"

    def render_value(self, value: str, constants: Constants) -> str:
        """Python expression for what is a tuple for sure."""
        if not self.value:
            return f"not {value}"
        parts, kinds = constants.add(self.value), tuple(map(type, self.value))
        types = f"tuple(map(type, {value})) == {constants.add(kinds)}"
        return f"{value} == {parts} and {types}"

    def old(self) -> str:
        """See `Check`."""
        return _described(self.value)


_NAMES_AND_INTEGERS = frozenset({str, int, bool, type(None)})


def exact(value: Any, other: Any) -> bool:
    """Whether two immutable values are of the same types, element by element."""
    if type(value) is not type(other):
        return False
    if isinstance(value, (float, complex, np.generic)):
        return bits_of(value) == bits_of(other)
    if isinstance(value, tuple):
        return len(value) == len(other) and all(map(exact, value, other))
    if isinstance(value, frozenset):
        return _typed(value) == _typed(other)
    if isinstance(value, slice):
        return exact(_slice_parts(value), _slice_parts(other))
    return bool(value == other)


def _typed(elements: frozenset[Any]) -> set[tuple[type, Any]]:
    return {(type(element), element) for element in elements}


def _slice_parts(value: slice) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step


@final
class HasBaseValue:
    """The value of an instance of a subclass of `int`, `str`, …, by their equality."""

    __slots__ = ("_check", "_convert")

    def __init__(self, value: Any) -> None:
        self._convert = next(c for base, c in _PLAIN if issubclass(type(value), base))
        self._check = value_check(self._convert(value))

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        plain = f"{constants.add(self._convert)}({value})"
        return self._check.render(plain, constants)

    def old(self) -> str:
        """See `Check`."""
        return self._check.old()

    def new(self, value: Any) -> str:
        """See `Check`."""
        return self._check.new(self._convert(value))


_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (complex, complex.__complex__),
    (str, str.__str__),
    (bytes, bytes.__bytes__),
)


def value_check(value: Any) -> Check:
    """The cheapest check that `value` is what it was."""
    if any(value is singleton for singleton in SINGLETONS):
        return Is(value)
    if type(value) is float:
        return Equals(value) if _compares_by_bits(value) else SameBits(value)
    if type(value) is complex or isinstance(value, np.generic):
        return SameBits(value)
    if type(value) in (int, str, bytes, range):
        return Equals(value)
    if type(value) is tuple and _NAMES_AND_INTEGERS.issuperset(map(type, value)):
        return HasParts(value)
    return Exactly(value)


def _compares_by_bits(value: float) -> bool:
    return value != 0.0 and not math.isnan(value)


@final
@dataclass(frozen=True, slots=True)
class HasContents:
    """A NumPy array with the same dtype, shape and bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    contents: bytes

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        dtype, shape = constants.add(self.dtype), constants.add(self.shape)
        return (
            f"{value}.dtype == {dtype} and {value}.shape == {shape} "
            f"and {value}.tobytes() == {constants.add(self.contents)}"
        )

    def old(self) -> str:
        """See `Check`."""
        return f"an array of {self.dtype} {self.shape} with other contents"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return f"an array of {value.dtype} {value.shape}"


@final
class HasElements:
    """A sequence of numbers, or of strings, of one type: compared all at once."""

    __slots__ = ("_elements", "_kind")

    def __init__(self, value: Any) -> None:
        self._kind: type = type(value[0])
        self._elements = _comparable(value, self._kind)

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        comparable, kind = constants.add(_comparable), constants.add(self._kind)
        return (
            f"set(map(type, {value})) == {{{kind}}} and "
            f"{comparable}({value}, {kind}) == {constants.add(self._elements)}"
        )

    def old(self) -> str:
        """See `Check`."""
        return f"a sequence of {self._kind.__name__} with other elements"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return f"a sequence of {len(value)} elements"


def _comparable(value: Any, kind: type) -> tuple[Any, ...] | bytes:
    """The elements; those of floats as bits."""
    return array("d", value).tobytes() if kind is float else tuple(value)


def is_uniform(value: Any) -> bool:
    """Whether a sequence is long, and has elements of one such type."""
    if len(value) < 8:
        return False
    kind = type(value[0])
    return kind in (int, float, str, bool) and set(map(type, value)) == {kind}


@final
@dataclass(frozen=True, slots=True)
class Holds:
    """Whether a container has a key, or a namespace a name."""

    key: Any
    present: bool

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        key = constants.add(self.key)
        return f"{key} in {value}" if self.present else f"{key} not in {value}"

    def old(self) -> str:
        """See `Check`."""
        return f"{'with' if self.present else 'without'} {brief(self.key)}"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return Holds(self.key, not self.present).old()


@final
@dataclass(frozen=True, slots=True)
class Lacks:
    """An object has no attribute of a name; for a class, nor has any of its bases."""

    key: str
    in_class: bool

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        test = constants.add(is_in_class if self.in_class else hasattr)
        return f"not {test}({value}, {constants.add(self.key)})"

    def old(self) -> str:
        """See `Check`."""
        return f"without {self.key!r}"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return f"with {self.key!r}"


def is_in_class(cls: type, name: str) -> bool:
    """Whether a class or one of its bases holds `name`."""
    # A loop: a guard is run at each call, and a generator costs three times as much.
    for base in cls.__mro__:  # noqa: SIM110
        if name in base.__dict__:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Relation(ABC):
    """A condition on which objects, of several paths, are one and the same."""

    others: tuple[Path, ...]

    @staticmethod
    @abstractmethod
    def relate(value: str, *others: str) -> str:
        """Python expression, given those of the objects."""

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        others = [other.expression(constants) for other in self.others]
        return self.relate(value, *others)

    @abstractmethod
    def old(self) -> str:
        """See `Check`."""

    @abstractmethod
    def new(self, value: Any) -> str:
        """See `Check`."""


@final
class SameAs(Relation):
    """The object that another path leads to."""

    __slots__ = ()

    @staticmethod
    def relate(value: str, *others: str) -> str:
        """See `Relation`."""
        return f"{value} is {others[0]}"

    def old(self) -> str:
        """See `Check`."""
        return f"the same object as `{self.others[0]}`"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return "another object"


@final
class NotSameAs(Relation):
    """Another object than those that other paths lead to, which differ as well."""

    __slots__ = ()

    @staticmethod
    def relate(value: str, *others: str) -> str:
        """See `Relation`."""
        if len(others) == 1:
            return f"{value} is not {others[0]}"
        objects = ", ".join((value, *others))
        return f"len(set(map(id, ({objects})))) == {len(others) + 1}"

    def old(self) -> str:
        """See `Check`."""
        named = ", ".join(f"`{other}`" for other in self.others[:3])
        return f"another object than {named}{', …' * (len(self.others) > 3)}"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return "the same as one of them" if len(self.others) > 1 else "the same object"


@final
@dataclass(frozen=True, slots=True)
class HasKeys:
    """The same keyword arguments were given; their order doesn't matter."""

    names: frozenset[str]

    def render(self, value: str, constants: Constants) -> str:
        """See `Check`."""
        if not self.names:
            return f"not {value}"
        return f"{value}.keys() == {constants.add(self.names)}"

    def old(self) -> str:
        """See `Check`."""
        return ", ".join(sorted(self.names)) or "none"

    def new(self, value: Any) -> str:
        """See `Check`."""
        return ", ".join(sorted(value)) or "none"
