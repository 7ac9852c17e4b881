"""How a call reaches an object from outside: from what the caller holds, step by step.

A path names an object twice: as a Python expression, which guards evaluate at each
later call, and as text in the user's words, for messages. Nothing of the user's gets
into an expression except ASCII identifiers; all else is a constant, handed beside it.
"""

import builtins
import keyword
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, final

type_of = type


class Environment(NamedTuple):
    """What a caller holds when it calls a captured function."""

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class Constants:
    """The objects an expression names, by the names it has for them."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {
            "__builtins__": {},
            **{name: getattr(builtins, name) for name in _EXPRESSION_BUILTINS},
        }
        self._by_id: dict[int, str] = {}

    def add(self, value: object) -> str:
        """Name of `value` in expressions."""
        name = self._by_id.get(id(value))
        if name is None:
            name = self._by_id[id(value)] = f"c{len(self._by_id)}"
            self.names[name] = value
        return name

    def alive(self, reference: "weakref.ref[Any]") -> str:
        """Expression of what a weak reference refers to; None once it is dead."""
        return f"{self.add(reference)}()"


_EXPRESSION_BUILTINS = (
    *("AttributeError", "Exception", "IndexError", "KeyError", "TypeError"),
    *("ValueError", "bool", "complex", "float", "getattr", "id", "int", "len", "list"),
    *("map", "set", "str", "super", "tuple", "type"),
)


class Path:
    """One way to an object; compares and hashes by its steps.

    Subclasses say what they start from (`bases`), the expression of their own step,
    and how a user would write it.
    """

    __slots__ = ("_hash", "_key")
    _key: tuple[Any, ...]
    # The type of whatever it leads to, where that follows from the last step.
    gives: ClassVar[type | None] = None

    def __init__(self, *key: object) -> None:
        self._key = key
        # Paths are looked up all the time, and a deep one would hash each of its steps.
        self._hash = hash((type_of(self), *key))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Path)
            and type_of(other) is type_of(self)
            and self._hash == other._hash
            and self._key == other._key
        )

    @property
    def bases(self) -> "tuple[Path, ...]":
        """The paths this one starts from."""
        return ()

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """Python expression of the last step, given the expressions of `bases`."""
        raise NotImplementedError

    def text(self) -> str:
        """The path as a part of a longer one, in the user's words."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{type_of(self).__name__} {self}>"

    def expression(self, constants: Constants) -> str:
        """Python expression of the whole path."""
        return self.render([b.expression(constants) for b in self.bases], constants)

    def evaluate(self, environment: Environment) -> Any:
        """The object that the path leads to now.

        Raises
        ------
        AttributeError, IndexError, KeyError, TypeError, ValueError
            If a step isn't there any more.
        """
        constants = Constants()
        return eval(self.expression(constants), constants.names, environment._asdict())


class _Root(Path):
    """A path that starts from what the caller holds."""

    __slots__ = ()
    source: ClassVar[str]

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        return self.source


@final
class Function(_Root):
    """The captured function itself; `name` is for messages only."""

    __slots__ = ("name",)
    source = "function"

    def __init__(self, name: str = "the function") -> None:
        self.name = name
        super().__init__()

    def text(self) -> str:
        """See `Path`."""
        return self.name


@final
class Arguments(_Root):
    """The tuple of positional arguments."""

    __slots__ = ()
    source = "args"

    def text(self) -> str:
        """See `Path`."""
        return "the positional arguments"


@final
class Keywords(_Root):
    """The mapping of keyword arguments."""

    __slots__ = ()
    source = "kwargs"

    def text(self) -> str:
        """See `Path`."""
        return "the keyword arguments"


@final
class Argument(_Root):
    """A positional argument; `name` (its parameter's) is for messages only."""

    __slots__ = ("index", "name")

    def __init__(self, index: int, name: str | None = None) -> None:
        self.index = index
        self.name = name or f"argument {index}"
        super().__init__(index)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"args[{int(self.index)}]"

    def text(self) -> str:
        """See `Path`."""
        return self.name


@final
class Keyword(_Root):
    """A keyword argument."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"kwargs[{constants.add(self.name)}]"

    def text(self) -> str:
        """See `Path`."""
        return self.name


@final
class Builtins(_Root):
    """The builtins' namespace."""

    __slots__ = ()

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return constants.add(vars(builtins))

    def text(self) -> str:
        """See `Path`."""
        return "builtins"


@final
class Imported(_Root):
    """A module by its name in `sys.modules`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"{constants.add(sys.modules)}[{constants.add(self.name)}]"

    def text(self) -> str:
        """See `Path`."""
        return self.name


@final
class Namespace(_Root):
    """The globals of a module of tracegrad's, which lives as long as the process."""

    __slots__ = ("namespace",)

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        super().__init__(id(namespace))

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return constants.add(self.namespace)

    def text(self) -> str:
        """See `Path`."""
        return str(self.namespace.get("__name__"))


@final
class Held(_Root):
    """An object that no path leads to: the very object met while recording, weakly."""

    __slots__ = ("name", "reference")

    def __init__(self, value: Any, name: str) -> None:
        self.reference = weakref.ref(value)
        self.name = name
        super().__init__(id(value))

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return constants.alive(self.reference)

    def text(self) -> str:
        """See `Path`."""
        return self.name


class _Step(Path):
    """A path one step beyond `base`."""

    __slots__ = ("base",)
    base: Path

    @property
    def bases(self) -> tuple[Path, ...]:
        return (self.base,)


def _attribute(base: str, name: str, constants: Constants) -> str:
    if name.isascii() and name.isidentifier() and not keyword.iskeyword(name):
        return f"{base}.{name}"
    return f"getattr({base}, {constants.add(name)})"


@final
class Attribute(_Step):
    """``base.name``."""

    __slots__ = ("name",)

    def __init__(self, base: Path, name: str) -> None:
        self.base = base
        self.name = name
        super().__init__(base, name)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return _attribute(bases[0], self.name, constants)

    def text(self) -> str:
        """See `Path`."""
        if self.name == "__self__":
            return "self"
        if self.name == "__func__":
            return self.base.text()
        return f"{self.base.text()}.{self.name}"


@final
class ClassAttribute(_Step):
    """The attribute `name` of the class `base`, unbound, as its instances find it.

    `plain` says that ``base.name`` is the same, which costs a tenth.
    """

    __slots__ = ("name", "plain")

    def __init__(self, base: Path, name: str, plain: bool = False) -> None:
        self.base = base
        self.name = name
        self.plain = plain
        super().__init__(base, name)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        if self.plain:
            return _attribute(bases[0], self.name, constants)
        return f"{constants.add(find_in_class)}({bases[0]}, {constants.add(self.name)})"

    def text(self) -> str:
        """See `Path`."""
        return f"{self.base.text()}.{self.name}"


def find_in_class(cls: type, name: str) -> object:
    """What `cls` or its first base that has `name` holds for it, no descriptor applied.

    Raises
    ------
    AttributeError
        If no class in the method resolution order has it.
    """
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    raise AttributeError(f"class {cls.__name__} has no {name!r}")


@final
class ParentAttribute(_Step):
    """The attribute `name` of the class after `owner` in the order of class `base`."""

    __slots__ = ("name", "owner")

    def __init__(self, base: Path, owner: Path, name: str) -> None:
        self.base = base
        self.owner = owner
        self.name = name
        super().__init__(base, owner, name)

    @property
    def bases(self) -> tuple[Path, ...]:
        """See `Path`."""
        return (self.base, self.owner)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        find = constants.add(find_in_parents)
        return f"{find}({bases[0]}, {bases[1]}, {constants.add(self.name)})"

    def text(self) -> str:
        """See `Path`."""
        return f"super().{self.name}"


def find_in_parents(cls: type, owner: type, name: str) -> object:
    """What ``super(owner, …)`` finds for `name` in `cls`, no descriptor applied.

    Raises
    ------
    AttributeError
        If no class after `owner` has it.
    """
    order = cls.__mro__
    for base in order[order.index(owner) + 1 :]:
        if name in base.__dict__:
            return base.__dict__[name]
    raise AttributeError(f"super of class {owner.__name__} has no {name!r}")


@final
class TypeOf(_Step):
    """``type(base)``."""

    __slots__ = ()

    def __init__(self, base: Path) -> None:
        self.base = base
        super().__init__(base)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"type({bases[0]})"

    def text(self) -> str:
        """See `Path`."""
        return f"type({self.base.text()})"


@final
class Item(_Step):
    """``base[key]``, where `key` is immutable, or the path of a key."""

    __slots__ = ("key",)

    def __init__(self, base: Path, key: Any) -> None:
        self.base = base
        self.key = key
        # 1, 1.0 and True are equal, and are different keys in a message and a guard.
        super().__init__(base, type_of(key), key)

    @property
    def bases(self) -> tuple[Path, ...]:
        """See `Path`."""
        return (self.base, self.key) if isinstance(self.key, Path) else (self.base,)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        if isinstance(self.key, Path):
            return f"{bases[0]}[{bases[1]}]"
        if type_of(self.key) is int:
            return f"{bases[0]}[{self.key}]"
        return f"{bases[0]}[{constants.add(self.key)}]"

    def text(self) -> str:
        """See `Path`."""
        key = self.key.text() if isinstance(self.key, Path) else repr(self.key)
        return f"{self.base.text()}[{key}]"


@final
class Elements(_Step):
    """``tuple(base)``: a dict's keys or a set's elements in their order."""

    __slots__ = ()
    gives = tuple

    def __init__(self, base: Path) -> None:
        self.base = base
        super().__init__(base)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"tuple({bases[0]})"

    def text(self) -> str:
        """See `Path`."""
        return f"tuple({self.base.text()})"


@final
class Length(_Step):
    """``len(base)``."""

    __slots__ = ()
    gives = int

    def __init__(self, base: Path) -> None:
        self.base = base
        super().__init__(base)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"len({bases[0]})"

    def text(self) -> str:
        """See `Path`."""
        return f"len({self.base.text()})"


@final
class Global(_Step):
    """The global `name` of the function `base`."""

    __slots__ = ("name",)

    def __init__(self, base: Path, name: str) -> None:
        self.base = base
        self.name = name
        super().__init__(base, name)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"{bases[0]}[{constants.add(self.name)}]"

    def text(self) -> str:
        """See `Path`."""
        return self.name

    def __str__(self) -> str:
        return f"global {self.name}"


@final
class Cell(_Step):
    """The closure cell of the function `base` that holds its free variable `name`."""

    __slots__ = ("index", "name")

    def __init__(self, base: Path, index: int, name: str) -> None:
        self.base = base
        self.index = index
        self.name = name
        super().__init__(base, index)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        return f"{bases[0]}.__closure__[{int(self.index)}].cell_contents"

    def text(self) -> str:
        """See `Path`."""
        return self.name


@final
class Default(_Step):
    """A default of the function `base`: by position, or by name if keyword-only."""

    __slots__ = ("key", "name")

    def __init__(self, base: Path, key: int | str, name: str) -> None:
        self.base = base
        self.key = key
        self.name = name
        super().__init__(base, key)

    def render(self, bases: Sequence[str], constants: Constants) -> str:
        """See `Path`."""
        if isinstance(self.key, str):
            return f"{bases[0]}.__kwdefaults__[{constants.add(self.key)}]"
        return f"{bases[0]}.__defaults__[{int(self.key)}]"

    def text(self) -> str:
        """See `Path`."""
        return self.name

    def __str__(self) -> str:
        return f"default of {self.name}"
