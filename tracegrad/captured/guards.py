"""Compile guards to one Python function, and say which of them failed.

The function evaluates each path once, compares, and returns the leaves that a program
takes, or None at the first difference. A step that isn't there any more (an attribute
deleted, a list shortened) is a difference too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from tracegrad.capture.checks import (
    Equals,
    Guard,
    HasKeys,
    HasParts,
    HasType,
    Holds,
    Is,
    IsCode,
    IsStill,
    Relation,
)
from tracegrad.capture.effects import Location
from tracegrad.capture.memory import memory_pattern
from tracegrad.capture.paths import Constants, Environment, Path
from tracegrad.dispatch import storage

# Checks whose expression has the object in one place only.
_ASKS_ONCE = (Is, IsStill, IsCode, HasType, Holds, HasKeys)
_GONE = "AttributeError, IndexError, KeyError, TypeError, ValueError"
_GONE_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)

Leaves = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class LeafGuard:
    """A leaf that a program takes, and what must hold of it.

    Attributes
    ----------
    path : Path
        Where it is.
    template : str
        A Python expression with ``{x}`` for the leaf and ``{0}``, ``{1}``, … for the
        constants; empty if nothing needs to hold.
    constants : tuple
        What the expression compares with.
    old : str
        What the leaf was, in a user's words.
    describe : callable, optional
        The same words for another leaf.
    location : Location, optional
        The user's line that read it.
    number : bool
        A Python number: two leaves may be one object.
    is_tensor : bool
        Then ``{a}`` stands for its array, and the first constant is its class.
    """

    path: Path
    template: str = ""
    constants: tuple[Any, ...] = ()
    old: str = ""
    describe: Callable[[Any], str] | None = None
    location: Location | None = None
    number: bool = False
    is_tensor: bool = False


class Miss(NamedTuple):
    """The first difference between a call and the recorded one."""

    path: Path | None
    old: str
    new: str
    location: Location | None

    def __str__(self) -> str:
        where = f", read at {self.location}" if self.location else ""
        if self.path is None:
            return f"{self.old}, and now {self.new}{where}"
        return f"`{self.path}` was {self.old} and is {self.new}{where}"


@final
class CompiledGuards:
    """Guards as one function. Made by `compile`.

    Attributes
    ----------
    source : str
        The function's text.
    check : callable
        ``check(function, args, kwargs)``: the leaves in order, or None.
    """

    def __init__(
        self,
        guards: Sequence[Guard],
        leaves: Sequence[LeafGuard],
        distinct: bool,
        apart: bool,
    ) -> None:
        self._guards = tuple(guards)
        self._leaves = tuple(leaves)
        self._distinct = distinct
        writer = _Writer()
        self.source = writer.write(self._guards, self._leaves, distinct, apart)
        namespace: dict[str, Any] = dict(writer.constants.names)
        exec(compile(self.source, "<guards>", "exec"), namespace)
        self.check: Callable[
            [Any, tuple[Any, ...], Mapping[str, Any]], Leaves | None
        ] = namespace["check"]

    @property
    def count(self) -> int:
        """How many conditions there are."""
        return len(self._guards) + len(self._leaves)

    @staticmethod
    def compile(
        guards: Iterable[Guard],
        leaves: Iterable[LeafGuard] = (),
        distinct: bool = True,
        apart: bool = False,
    ) -> "CompiledGuards":
        """Compile guards, and checks of leaves, in this order.

        Parameters
        ----------
        guards : iterable of Guard
            From a recording.
        leaves : iterable of LeafGuard
            What the program takes.
        distinct : bool
            Whether the leaves must be different objects.
        apart : bool
            Whether their memory must be apart as well.
        """
        return CompiledGuards(tuple(guards), tuple(leaves), distinct, apart)

    def misses(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Iterator[Miss]:
        """Iterate over the guards that fail, with what was and what is."""
        environment = Environment(function, args, kwargs)
        for guard in self._guards:
            miss = _miss_of_guard(guard, environment)
            if miss is not None:
                yield miss
        for leaf in self._leaves:
            miss = _miss_of_leaf(leaf, environment)
            if miss is not None:
                yield miss
        if self._distinct:
            try:
                miss = _miss_of_distinct(self._leaves, environment)
            except _GONE_ERRORS:
                # Said already: a leaf is not there.
                miss = None
            if miss is not None:
                yield miss

    def first_miss(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Miss | None:
        """The first guard that fails, with what was and what is; None if none does."""
        return next(self.misses(function, args, kwargs), None)

    def explain_miss(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> str:
        """The first difference as a sentence; empty if there is none."""
        miss = self.first_miss(function, args, kwargs)
        return "" if miss is None else str(miss)


class _HoistedConstants(Constants):
    """Follows each weak reference once, at the head of the function."""

    def __init__(self) -> None:
        super().__init__()
        self._locals: dict[str, str] = {}

    def alive(self, reference: Any) -> str:
        """The local variable that holds what `reference` refers to."""
        followed = super().alive(reference)
        return self._locals.setdefault(followed, f"w{len(self._locals)}")

    def lines(self) -> list[str]:
        """The statements that follow the references."""
        return [f"{name} = {followed}" for followed, name in self._locals.items()]


class _Writer:
    """Writes the function: a line for each step that is shared, one for each check."""

    def __init__(self) -> None:
        self.constants = _HoistedConstants()
        self._lines: list[str] = []
        self._variables: dict[Path, str] = {}
        self._uses: dict[Path, int] = {}
        # The local variables that hold the arrays of tensors.
        self._arrays: dict[Path, str] = {}

    def write(
        self,
        guards: Sequence[Guard],
        leaves: Sequence[LeafGuard],
        distinct: bool,
        apart: bool,
    ) -> str:
        for path in _subjects(guards, leaves):
            self._count(path)
        for guard in guards:
            if not _is_certain(guard):
                self._check(self._guard(guard))
        for leaf in leaves:
            self._leaf(leaf)
        if apart:
            self._apart(leaves)
            distinct = False
        values = [self._variable(leaf.path) for leaf in leaves]
        objects = [self._variable(leaf.path) for leaf in leaves if not leaf.number]
        if distinct and len(objects) > 1:
            several = ", ".join(objects)
            self._check(f"len(set(map(id, ({several})))) == {len(objects)}")
        lines = [*self.constants.lines(), *self._lines]
        body = "".join(f"        {line}\n" for line in lines)
        return (
            f"def check(function, args, kwargs):\n    try:\n{body}"
            f"        return ({''.join(value + ', ' for value in values)})\n"
            f"    except ({_GONE}):\n        return None\n"
        )

    def _count(self, path: Path) -> None:
        self._uses[path] = self._uses.get(path, 0) + 1
        if self._uses[path] == 1:
            for base in path.bases:
                self._count(base)

    def _check(self, condition: str) -> None:
        self._lines.append(f"if not ({condition}): return None")

    def _guard(self, guard: Guard) -> str:
        check = guard.check
        if self._uses[guard.path] == 1 and isinstance(check, _ASKS_ONCE):
            return check.render(self._step(guard.path), self.constants)
        if isinstance(check, Equals) and type(check.value) is guard.path.gives:
            return check.render_value(self._base(guard.path), self.constants)
        value = self._variable(guard.path)
        if isinstance(check, HasParts) and guard.path.gives is tuple:
            return check.render_value(value, self.constants)
        if isinstance(check, Relation):
            return check.relate(value, *map(self._variable, check.others))
        return check.render(value, self.constants)

    def _leaf(self, leaf: LeafGuard) -> None:
        value = self._variable(leaf.path)
        if not leaf.template:
            return
        names = [self.constants.add(constant) for constant in leaf.constants]
        array = ""
        if leaf.is_tensor:
            kind, *_ = names
            self._check(f"{value}.__class__ is {kind}")
            array = self._arrays[leaf.path] = f"a{len(self._arrays)}"
            self._lines.append(f"{array} = {value}._array")
        self._check(leaf.template.format(*names, x=value, a=array))

    def _apart(self, leaves: Sequence[LeafGuard]) -> None:
        """Check that no two leaves are one object, and no two tensors share memory.

        An array without a base owns its memory; of the others it is found out.
        """
        tensors = [leaf for leaf in leaves if leaf.is_tensor]
        others = [leaf for leaf in leaves if not (leaf.is_tensor or leaf.number)]
        arrays = [self._arrays[leaf.path] for leaf in tensors]
        if len(arrays) + len(others) < 2:
            return
        owner_of, pattern = map(self.constants.add, (storage.owner_of, memory_pattern))
        self._lines.append("foreign = 0")
        for array in arrays:
            self._lines += [
                f"o{array} = {array}",
                f"if {array}.base is not None:",
                f"    o{array} = {owner_of}({array})",
                f"    foreign += o{array}.base is not None",
            ]
        objects = [
            *(f"o{a}" for a in arrays),
            *(self._variable(x.path) for x in others),
        ]
        self._check(f"len(set(map(id, ({', '.join(objects)})))) == {len(objects)}")
        self._check(f"foreign < 2 or not {pattern}(({', '.join(arrays)},))")

    def _variable(self, path: Path) -> str:
        """A local variable that holds the object at `path`."""
        name = self._variables.get(path)
        if name is None:
            expression = self._step(path)
            name = self._variables[path] = f"v{len(self._variables)}"
            self._lines.append(f"{name} = {expression}")
        return name

    def _step(self, path: Path) -> str:
        bases = [self._base(base) for base in path.bases]
        return path.render(bases, self.constants)

    def _base(self, path: Path) -> str:
        if path in self._variables or self._uses.get(path, 0) > 1:
            return self._variable(path)
        return self._step(path)


def _is_certain(guard: Guard) -> bool:
    """Return whether a guard asks for the type that its path has for sure."""
    known, check = guard.path.gives, guard.check
    return known is not None and isinstance(check, HasType) and check.reference is known


def _subjects(guards: Iterable[Guard], leaves: Iterable[LeafGuard]) -> list[Path]:
    paths = []
    for guard in guards:
        paths.append(guard.path)
        if isinstance(guard.check, Relation):
            paths.extend(guard.check.others)
    return [*paths, *(leaf.path for leaf in leaves)]


def _holds(expression: str, constants: Constants, environment: Environment) -> bool:
    return bool(eval(expression, constants.names, environment._asdict()))


def _miss_of_guard(guard: Guard, environment: Environment) -> Miss | None:
    constants = Constants()
    condition = guard.check.render(guard.path.expression(constants), constants)
    try:
        if _holds(condition, constants, environment):
            return None
        new = guard.check.new(guard.path.evaluate(environment))
    except _GONE_ERRORS:
        new = "not there"
    return Miss(guard.path, guard.check.old(), new, guard.location)


def _miss_of_leaf(leaf: LeafGuard, environment: Environment) -> Miss | None:
    constants = Constants()
    old = leaf.old or "another leaf"
    try:
        value = leaf.path.evaluate(environment)
        names = [constants.add(constant) for constant in leaf.constants]
        expression = leaf.path.expression(constants)
        array = f"{expression}._array"
        condition = leaf.template.format(*names, x=expression, a=array)
        if leaf.is_tensor:
            condition = f"{expression}.__class__ is {names[0]} and {condition}"
        if not condition or _holds(condition, constants, environment):
            return None
    except _GONE_ERRORS:
        return Miss(leaf.path, old, "not there", leaf.location)
    kind = type(value).__qualname__
    new = leaf.describe(value) if leaf.describe else f"of type {kind}"
    return Miss(leaf.path, old, new, leaf.location)


def _miss_of_distinct(
    leaves: Sequence[LeafGuard], environment: Environment
) -> Miss | None:
    first: dict[int, LeafGuard] = {}
    for leaf in leaves:
        if leaf.number:
            continue
        other = first.setdefault(id(leaf.path.evaluate(environment)), leaf)
        if other is not leaf:
            old = f"another object than `{other.path}`"
            return Miss(leaf.path, old, "the same object", leaf.location)
    return None
