"""Whatever a call read from outside: change it in each way, and the guards miss."""
# ruff: noqa: B905, PLC0415, RUF005, RUF012, SIM101, SIM300

import contextlib
import copy
import datetime
import enum
import functools
import math
import operator
import sys
import types
from collections import OrderedDict, UserList, deque, namedtuple
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.capture.leaf import Leaf, Recording
from tracegrad.capture.paths import Argument, Attribute, Item

MODULE = sys.modules[__name__]
_GONE = object()

SCALE = 2.0
NAN = math.nan
ZERO = -0.0
FLAG = True
TEXT = "text"
TABLE = {"lr": 0.1, "nested": {"k": 2}, 1: "one"}
LAYERS: list[Any] = []
NUMBERS = [1, 2, 3]
NAMES = {"a", "b"}
ARRAY = np.arange(3.0)
QUEUE = deque([1, 2])
PAIR = (1, (2, "x"))
NOTHING = None
SENTINEL = object()
OTHER = SENTINEL
SLICE = slice(0, 2)
FROZEN = frozenset({1, 2})


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


class Level(enum.IntEnum):
    LOW = 1


MODE = Mode.TRAIN
Named = namedtuple("Named", "first second")
NAMED = Named(1, [2])


class Config:
    eps = 1e-5
    steps = [1]

    def __init__(self) -> None:
        self.width = 4
        self.inner = Inner()

    def area(self) -> int:
        return self.width * 2

    @property
    def double(self) -> int:
        return self.width * 2

    @classmethod
    def kind(cls) -> float:
        return cls.eps

    @staticmethod
    def fixed() -> int:
        return 7


class Inner:
    def __init__(self) -> None:
        self.depth = 1

    def __call__(self, x: int) -> int:
        return self.depth + x

    def __len__(self) -> int:
        return self.depth

    def __getitem__(self, key: int) -> int:
        return self.depth + key

    def __bool__(self) -> bool:
        return self.depth > 0

    def __iter__(self) -> Any:
        yield self.depth

    def __contains__(self, key: object) -> bool:
        return key == self.depth


class Child(Config):
    def area(self) -> int:
        return super().area() + 1


class Dynamic:
    def __init__(self) -> None:
        self.values = {"x": 1}

    def __getattr__(self, name: str) -> Any:
        if name == "values":
            raise AttributeError(name)
        return self.values[name]


class Intercepting:
    factor = 2

    def __init__(self) -> None:
        self.width = 3

    def __getattribute__(self, name: str) -> Any:
        if name == "width":
            return SCALE
        return object.__getattribute__(self, name)


INTERCEPTING = Intercepting()


class Text(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Size(float):
    pass


class Words(list[str]):
    """A list with nothing of its own."""


class Shouting(dict[str, str]):
    def __getitem__(self, key: str) -> str:
        return super().__getitem__(key).upper()


TAGGED = Text("a")
SIZE = Size(2.0)
WORDS = Words(["a", "b"])
SHOUTING = Shouting(a="x")
DAY = datetime.date(2020, 1, 2)
HALF = Fraction(1, 2)
USER_LIST = UserList([1, 2])


class Holder:
    """Looks names up in dicts of its own, as modules do."""

    __guard_dicts__ = ("_first", "_second")

    def __init__(self) -> None:
        self._first = {"a": 1}
        self._second = {"b": 2}

    def __getattr__(self, name: str) -> Any:
        for own in ("_first", "_second"):
            if name in self.__dict__[own]:
                return self.__dict__[own][name]
        raise AttributeError(name)


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


@dataclass
class Point:
    x: int = 1


CONFIG = Config()
CHILD = Child()
DYNAMIC = Dynamic()
HOLDER = Holder()
SLOTTED = Slotted(1)
POINT = Point()


def helper(x: float, bias: float = 1.0, *, gain: float = 2.0) -> float:
    return x * gain + bias


def other_helper(x: float) -> float:
    return x


PARTIAL = functools.partial(helper, bias=3.0)


def make(k: Any) -> Callable[[], Any]:
    def closure() -> Any:
        return k

    return closure


CLOSURE = make(1)


def set_global(name: str, value: Any) -> Callable[[], Callable[[], None]]:
    def change() -> Callable[[], None]:
        old = globals()[name]
        globals()[name] = value
        return lambda: globals().__setitem__(name, old)

    return change


def set_attribute(owner: Any, name: str, value: Any) -> Callable[[], Any]:
    def change() -> Callable[[], None]:
        missing = object()
        old = vars(owner).get(name, missing) if hasattr(owner, "__dict__") else missing
        slots = getattr(type(owner), "__slots__", ())
        if old is missing and (name in slots or name.startswith("__")):
            old = getattr(owner, name)
        if isinstance(owner, type) or isinstance(owner, types.ModuleType):
            setattr(owner, name, value)
        else:
            object.__setattr__(owner, name, value)
        if old is missing:
            return lambda: delattr(owner, name)
        return lambda: setattr(owner, name, old)

    return change


def set_item(owner: Any, key: Any, value: Any) -> Callable[[], Any]:
    def change() -> Callable[[], None]:
        missing = object()
        old = owner.get(key, missing) if isinstance(owner, dict) else owner[key]
        owner[key] = value
        if old is missing:
            return lambda: owner.__delitem__(key)
        return lambda: owner.__setitem__(key, old)

    return change


def del_item(owner: Any, key: Any) -> Callable[[], Any]:
    def change() -> Callable[[], None]:
        old = dict(owner) if isinstance(owner, dict) else list(owner)
        del owner[key]

        def back() -> None:
            owner.clear()
            owner.update(old) if isinstance(owner, dict) else owner.extend(old)

        return back

    return change


def reorder(owner: dict[Any, Any]) -> Callable[[], Any]:
    def change() -> Callable[[], None]:
        old = dict(owner)
        first = next(iter(owner))
        owner[first] = owner.pop(first)

        def back() -> None:
            owner.clear()
            owner.update(old)

        return back

    return change


def call(do: Callable[[], Any], undo: Callable[[], Any]) -> Callable[[], Any]:
    def change() -> Callable[[], Any]:
        do()
        return undo

    return change


def new_code() -> Callable[[], Any]:
    def change() -> Callable[[], None]:
        old = helper.__code__
        helper.__code__ = (lambda x, bias=1.0, *, gain=2.0: 0.0).__code__
        return lambda: setattr(helper, "__code__", old)

    return change


def cell(value: Any) -> Callable[[], Any]:
    def change() -> Callable[[], None]:
        assert CLOSURE.__closure__ is not None
        inner = CLOSURE.__closure__[0]
        old = inner.cell_contents
        inner.cell_contents = value
        return lambda: setattr(inner, "cell_contents", old)

    return change


def sum_attributes() -> int:
    return CONFIG.width + CONFIG.inner.depth


def iterate_numbers() -> list[int]:
    return [n for n in NUMBERS]


def unpack_numbers() -> int:
    a, b, c = NUMBERS
    return a + b + c


def match_point() -> int:
    match POINT:
        case Point(x=1):
            return 1
        case _:
            return 0


def class_in_function() -> float:
    class Local(Config):
        size = SCALE

    return Local.size + Local().eps


def import_inside() -> Any:
    import math as m

    return m.pi


def from_import_inside() -> Any:
    from math import e

    return e


def loop_over_items() -> Any:
    return [(k, v) for k, v in TABLE.items()]


@contextlib.contextmanager
def scaled() -> Any:
    yield SCALE


def trusted_wrapper(function: Any) -> Any:
    """What a decorator of a trusted package makes."""
    namespace: dict[str, Any] = {"__name__": "itertools"}
    text = (
        "def wrap(f):\n    def wrapper(*a):\n        return f(*a)\n    return wrapper"
    )
    exec(compile(text, "<frozen wrappers>", "exec"), namespace)
    return functools.wraps(function)(namespace["wrap"](function))


@trusted_wrapper
def wrapped() -> float:
    return SCALE


def use_context() -> float:
    with scaled() as value:
        return value * 2


def local_class_lacks() -> bool:
    class Local(Inner):
        pass

    return hasattr(Local, "no")


EMPTY = Slotted.__new__(Slotted)
MANY = list(range(100))
FLOATS = [0.0, math.nan, *map(float, range(20))]
STEPS = tuple(range(10))


READS: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
    ("global", lambda: SCALE, set_global("SCALE", 3.0)),
    ("global of another type", lambda: SCALE, set_global("SCALE", 2)),
    ("true and one", lambda: FLAG, set_global("FLAG", 1)),
    ("nan and number", lambda: NAN, set_global("NAN", 1.0)),
    ("negative zero", lambda: ZERO, set_global("ZERO", 0.0)),
    ("string", lambda: TEXT, set_global("TEXT", "other")),
    ("none", lambda: NOTHING, set_global("NOTHING", 0)),
    ("tuple", lambda: PAIR, set_global("PAIR", (1, (2, "y")))),
    ("tuple of equals", lambda: PAIR, set_global("PAIR", (1.0, (2, "x")))),
    ("slice", lambda: SLICE, set_global("SLICE", slice(0, 2.0))),
    ("frozenset", lambda: FROZEN, set_global("FROZEN", frozenset({True, 2}))),
    ("enum", lambda: MODE is Mode.TRAIN, set_global("MODE", Mode.EVAL)),
    ("int enum", lambda: Level.LOW, set_global("Level", Mode)),
    (
        "builtin hidden",
        lambda: len("ab"),
        call(
            lambda: globals().__setitem__("len", lambda x: 0),
            lambda: globals().__delitem__("len"),
        ),
    ),
    ("module attribute", lambda: math.pi, set_attribute(math, "pi", 3.0)),
    ("module function", lambda: math.sqrt(4.0), set_attribute(math, "sqrt", abs)),
    ("closure cell", lambda: CLOSURE(), cell(2)),
    ("closure cell type", lambda: CLOSURE(), cell(True)),
    ("function", lambda: helper(1.0), set_global("helper", other_helper)),
    ("code", lambda: helper(1.0), new_code()),
    ("default", lambda: helper(1.0), set_attribute(helper, "__defaults__", (5.0,))),
    (
        "keyword default",
        lambda: helper(1.0),
        set_item(helper.__kwdefaults__, "gain", 9.0),
    ),
    ("partial", lambda: PARTIAL(1.0), set_item(PARTIAL.keywords, "bias", 4.0)),
    ("attribute", lambda: CONFIG.width, set_attribute(CONFIG, "width", 5)),
    ("attribute type", lambda: CONFIG.width, set_attribute(CONFIG, "width", 4.0)),
    ("attribute chain", sum_attributes, set_attribute(CONFIG.inner, "depth", 3)),
    ("object replaced", sum_attributes, set_attribute(CONFIG, "inner", POINT)),
    ("class attribute", lambda: CONFIG.eps, set_attribute(Config, "eps", 1.0)),
    ("class attribute hidden", lambda: CONFIG.eps, set_attribute(CONFIG, "eps", 1.0)),
    ("inherited hidden", lambda: CHILD.eps, set_attribute(Child, "eps", 1.0)),
    ("class attribute of class", lambda: Config.eps, set_attribute(Config, "eps", 1.0)),
    ("method", lambda: CONFIG.area(), set_attribute(Config, "area", lambda s: 0)),
    ("method hidden", lambda: CONFIG.area(), set_attribute(CONFIG, "area", lambda: 0)),
    ("super method", lambda: CHILD.area(), set_attribute(Config, "area", lambda s: 0)),
    ("read in method", lambda: CONFIG.area(), set_attribute(CONFIG, "width", 5)),
    (
        "property",
        lambda: CONFIG.double,
        set_attribute(Config, "double", property(lambda s: 0)),
    ),
    ("read in property", lambda: CONFIG.double, set_attribute(CONFIG, "width", 5)),
    ("classmethod", lambda: CONFIG.kind(), set_attribute(Config, "eps", 2.0)),
    (
        "staticmethod",
        lambda: CONFIG.fixed(),
        set_attribute(Config, "fixed", staticmethod(lambda: 8)),
    ),
    ("slot", lambda: SLOTTED.value, set_attribute(SLOTTED, "value", 2)),
    (
        "getattr",
        lambda: getattr(CONFIG, "wid" + "th"),
        set_attribute(CONFIG, "width", 5),
    ),
    (
        "getattr default",
        lambda: getattr(CONFIG, "nope", 0),
        set_attribute(CONFIG, "nope", 1),
    ),
    ("hasattr", lambda: hasattr(CONFIG, "nope"), set_attribute(CONFIG, "nope", 1)),
    ("vars", lambda: vars(CONFIG)["width"], set_attribute(CONFIG, "width", 5)),
    ("__dict__", lambda: CONFIG.__dict__["width"], set_attribute(CONFIG, "width", 5)),
    ("__getattr__", lambda: DYNAMIC.x, set_item(DYNAMIC.values, "x", 2)),
    ("__getattr__ hidden", lambda: DYNAMIC.x, set_attribute(DYNAMIC, "x", 2)),
    ("__getattribute__", lambda: INTERCEPTING.width, set_global("SCALE", 7.0)),
    (
        "passed through __getattribute__",
        lambda: INTERCEPTING.factor,
        set_attribute(INTERCEPTING, "factor", 7),
    ),
    ("str subclass", lambda: TAGGED, set_global("TAGGED", Text("b"))),
    ("float subclass", lambda: SIZE * 2, set_global("SIZE", Size(3.0))),
    ("list subclass item", lambda: WORDS[0], set_item(WORDS, 0, "c")),
    ("list subclass loop", lambda: [w for w in WORDS], set_item(WORDS, 0, "c")),
    ("list subclass in", lambda: "a" in WORDS, set_item(WORDS, 0, "c")),
    ("date", lambda: DAY.isoformat(), set_global("DAY", datetime.date(2021, 1, 2))),
    ("fraction", lambda: HALF * 2, set_global("HALF", Fraction(1, 3))),
    ("user list", lambda: USER_LIST[0], set_item(USER_LIST.data, 0, 9)),
    ("copied object", lambda: copy.copy(POINT).x, set_attribute(POINT, "x", 5)),
    ("asdict", lambda: asdict(POINT), set_attribute(POINT, "x", 5)),
    (
        "attrgetter",
        lambda: operator.attrgetter("inner.depth")(CONFIG),
        set_attribute(CONFIG.inner, "depth", 5),
    ),
    ("repr", lambda: repr(POINT), set_attribute(POINT, "x", 5)),
    ("formatted object", lambda: f"{POINT}", set_attribute(POINT, "x", 5)),
    (
        "slot copied",
        lambda: copy.copy(SLOTTED).value,
        set_attribute(SLOTTED, "value", 2),
    ),
    ("read in a context manager", use_context, set_global("SCALE", 9.0)),
    ("read in a wrapped function", lambda: wrapped(), set_global("SCALE", 9.0)),
    (
        "getattr called back",
        lambda: functools.reduce(getattr, ["inner", "depth"], CONFIG),
        set_attribute(CONFIG.inner, "depth", 8),
    ),
    (
        "attrgetter called back",
        lambda: [*map(operator.attrgetter("depth"), [CONFIG.inner])],
        set_attribute(CONFIG.inner, "depth", 8),
    ),
    (
        "attrgetter as key",
        lambda: max([CONFIG.inner], key=operator.attrgetter("depth")).depth,
        set_attribute(CONFIG.inner, "depth", 8),
    ),
    ("str called back", lambda: [*map(str, [POINT])], set_attribute(POINT, "x", 8)),
    ("sum called back", lambda: [*map(sum, [NUMBERS])], set_item(NUMBERS, 1, 8)),
    (
        "len called back",
        lambda: [*map(len, [NUMBERS])],
        call(lambda: NUMBERS.append(1), lambda: NUMBERS.pop()),
    ),
    ("class lacks", lambda: hasattr(Config, "no"), set_attribute(Config, "no", 1)),
    (
        "instance's class lacks",
        lambda: getattr(CONFIG, "no", 0),
        set_attribute(Config, "no", 1),
    ),
    (
        "new object's class lacks",
        lambda: hasattr(Inner(), "no"),
        set_attribute(Inner, "no", 1),
    ),
    ("base of a local class lacks", local_class_lacks, set_attribute(Inner, "no", 1)),
    (
        "slot lacks",
        lambda: getattr(EMPTY, "value", 0),
        call(lambda: setattr(EMPTY, "value", 1), lambda: delattr(EMPTY, "value")),
    ),
    ("module lacks", lambda: hasattr(math, "no"), set_attribute(math, "no", 1)),
    (
        "class gains what __getattr__ gave",
        lambda: HOLDER.b,
        set_attribute(Holder, "b", 9),
    ),
    ("long list", lambda: sum(MANY), set_item(MANY, 50, 9)),
    ("long list type", lambda: sum(MANY), set_item(MANY, 1, True)),
    (
        "long list longer",
        lambda: sum(MANY),
        call(lambda: MANY.append(0), lambda: MANY.pop()),
    ),
    ("long list of floats", lambda: sum(FLOATS), set_item(FLOATS, 0, -0.0)),
    ("long list of floats type", lambda: sum(FLOATS), set_item(FLOATS, 3, 1)),
    ("long tuple", lambda: STEPS, set_global("STEPS", tuple(range(1, 11)))),
    ("guard dict", lambda: HOLDER.b, set_item(HOLDER._second, "b", 3)),
    ("guard dict earlier", lambda: HOLDER.b, set_item(HOLDER._first, "b", 3)),
    ("guard dict hidden", lambda: HOLDER.b, set_attribute(HOLDER, "b", 3)),
    ("guard dict gone", lambda: HOLDER.b, del_item(HOLDER._second, "b")),
    ("class swapped", lambda: POINT.x, set_attribute(POINT, "__class__", Config)),
    ("callable", lambda: CONFIG.inner(1), set_attribute(CONFIG.inner, "depth", 5)),
    ("__len__", lambda: len(CONFIG.inner), set_attribute(CONFIG.inner, "depth", 5)),
    ("__getitem__", lambda: CONFIG.inner[2], set_attribute(CONFIG.inner, "depth", 5)),
    (
        "__bool__",
        lambda: 1 if CONFIG.inner else 2,
        set_attribute(CONFIG.inner, "depth", 0),
    ),
    (
        "__iter__",
        lambda: [i for i in CONFIG.inner],
        set_attribute(CONFIG.inner, "depth", 5),
    ),
    (
        "__contains__",
        lambda: 1 in CONFIG.inner,
        set_attribute(CONFIG.inner, "depth", 5),
    ),
    ("dict item", lambda: TABLE["lr"], set_item(TABLE, "lr", 0.2)),
    ("dict item gone", lambda: TABLE["lr"], del_item(TABLE, "lr")),
    ("dict nested", lambda: TABLE["nested"]["k"], set_item(TABLE["nested"], "k", 3)),
    ("dict get", lambda: TABLE.get("lr"), set_item(TABLE, "lr", 0.2)),
    ("dict get none", lambda: TABLE.get("no"), set_item(TABLE, "no", 1)),
    ("dict in", lambda: "no" in TABLE, set_item(TABLE, "no", 1)),
    ("dict len", lambda: len(TABLE), set_item(TABLE, "no", 1)),
    ("dict keys", lambda: list(TABLE), set_item(TABLE, "no", 1)),
    ("dict order", lambda: list(TABLE), reorder(TABLE)),
    ("dict loop", loop_over_items, set_item(TABLE, "lr", 0.2)),
    ("dict unpacked", lambda: {**TABLE}["lr"], set_item(TABLE, "lr", 0.2)),
    (
        "dict truth",
        lambda: 1 if TABLE else 0,
        call(
            lambda: globals().__setitem__("TABLE", {}),
            lambda t=TABLE: globals().__setitem__("TABLE", t),
        ),
    ),
    ("list item", lambda: NUMBERS[0], set_item(NUMBERS, 0, 9)),
    ("list negative item", lambda: NUMBERS[-1], set_item(NUMBERS, 2, 9)),
    ("list item type", lambda: NUMBERS[0], set_item(NUMBERS, 0, True)),
    ("list slice", lambda: NUMBERS[:2], set_item(NUMBERS, 0, 9)),
    ("list loop", iterate_numbers, set_item(NUMBERS, 2, 9)),
    (
        "list longer",
        iterate_numbers,
        call(lambda: NUMBERS.append(4), lambda: NUMBERS.pop()),
    ),
    (
        "list len",
        lambda: len(NUMBERS),
        call(lambda: NUMBERS.append(4), lambda: NUMBERS.pop()),
    ),
    ("list in", lambda: 2 in NUMBERS, set_item(NUMBERS, 1, 9)),
    ("list sum", lambda: sum(NUMBERS), set_item(NUMBERS, 1, 9)),
    ("list equal", lambda: NUMBERS == [1, 2, 3], set_item(NUMBERS, 1, 9)),
    ("list added", lambda: NUMBERS + [1], set_item(NUMBERS, 1, 9)),
    ("list starred", lambda: [*NUMBERS], set_item(NUMBERS, 1, 9)),
    ("list unpacked", unpack_numbers, set_item(NUMBERS, 1, 9)),
    ("list index", lambda: NUMBERS.index(2), set_item(NUMBERS, 1, 9)),
    ("list formatted", lambda: f"{NUMBERS}", set_item(NUMBERS, 1, 9)),
    (
        "list zipped",
        lambda: [b for _, b in zip("abc", NUMBERS)],
        set_item(NUMBERS, 1, 9),
    ),
    (
        "list enumerated",
        lambda: [b for _, b in enumerate(NUMBERS)],
        set_item(NUMBERS, 1, 9),
    ),
    ("list in list", lambda: sum(map(sum, [NUMBERS])), set_item(NUMBERS, 1, 9)),
    (
        "list or",
        lambda: NUMBERS or 1,
        call(
            lambda: globals().__setitem__("NUMBERS", []),
            lambda n=NUMBERS: globals().__setitem__("NUMBERS", n),
        ),
    ),
    (
        "set in",
        lambda: "a" in NAMES,
        call(lambda: NAMES.remove("a"), lambda: NAMES.add("a")),
    ),
    (
        "set sorted",
        lambda: sorted(NAMES),
        call(lambda: NAMES.add("c"), lambda: NAMES.remove("c")),
    ),
    ("deque", lambda: sum(QUEUE), call(lambda: QUEUE.append(5), lambda: QUEUE.pop())),
    ("array sum", lambda: ARRAY.sum(), set_item(ARRAY, 0, 9.0)),
    ("array item", lambda: ARRAY[0], set_item(ARRAY, 0, 9.0)),
    ("array in numpy", lambda: np.exp(ARRAY), set_item(ARRAY, 0, 9.0)),
    ("array operator", lambda: ARRAY * 2, set_item(ARRAY, 0, -0.0)),
    ("array dtype", lambda: ARRAY * 2, set_global("ARRAY", np.arange(3))),
    ("named tuple", lambda: NAMED.first, set_global("NAMED", Named(2, [2]))),
    ("list in tuple", lambda: NAMED.second[0], set_item(NAMED.second, 0, 5)),
    ("same object", lambda: SENTINEL is OTHER, set_global("OTHER", object())),
    ("dataclass equal", lambda: POINT == Point(1), set_attribute(POINT, "x", 2)),
    ("match", match_point, set_attribute(POINT, "x", 2)),
    ("local class", class_in_function, set_global("SCALE", 3.0)),
    ("local class base", class_in_function, set_attribute(Config, "eps", 3.0)),
    ("import", import_inside, set_attribute(math, "pi", 3.0)),
    ("from import", from_import_inside, set_attribute(math, "e", 3.0)),
    ("isinstance", lambda: isinstance(CONFIG, Config), set_global("CONFIG", POINT)),
    (
        "sorted by key",
        lambda: sorted([CONFIG.inner], key=lambda i: i.depth)[0].depth,
        set_attribute(CONFIG.inner, "depth", 8),
    ),
]


@pytest.mark.parametrize(
    ("function", "change"), [r[1:] for r in READS], ids=[r[0] for r in READS]
)
def test_a_change_misses_and_its_undoing_hits(
    function: Callable[[], Any], change: Callable[[], Callable[[], Any]]
) -> None:
    recording = Recording(function)
    assert recording.error is None
    assert recording.reason == ""
    assert recording.hits(function)
    undo = change()
    try:
        assert not recording.hits(function)
        assert recording.miss(function) != ""
    finally:
        undo()
    assert recording.miss(function) == ""
    assert recording.hits(function)


UNREAD: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
    ("another key", lambda: TABLE["lr"], set_item(TABLE, "new", 1)),
    ("another item", lambda: NUMBERS[0], set_item(NUMBERS, 1, 9)),
    ("another attribute", lambda: CONFIG.width, set_attribute(CONFIG, "new", 1)),
    ("another global", lambda: SCALE, set_global("TEXT", "x")),
    ("an equal string", lambda: TEXT, set_global("TEXT", "".join(["te", "xt"]))),
    ("the same nan", lambda: NAN, set_global("NAN", float("nan"))),
    (
        "content of a list asked for its length",
        lambda: len(NUMBERS),
        set_item(NUMBERS, 0, 9),
    ),
    ("an equal array", lambda: ARRAY.sum(), set_global("ARRAY", np.arange(3.0))),
    ("an equal list", lambda: sum(NUMBERS), set_global("NUMBERS", [1, 2, 3])),
    (
        "an object of equal attributes",
        lambda: CONFIG.width,
        set_global("CONFIG", Config()),
    ),
]


@pytest.mark.parametrize(
    ("function", "change"), [r[1:] for r in UNREAD], ids=[r[0] for r in UNREAD]
)
def test_a_change_of_what_was_not_read_hits(
    function: Callable[[], Any], change: Callable[[], Callable[[], Any]]
) -> None:
    recording = Recording(function)
    assert recording.reason == ""
    undo = change()
    try:
        assert recording.miss(function) == ""
        assert recording.hits(function)
    finally:
        undo()


# Arguments


def take(x: Any, *rest: Any, flag: Any = None, **named: Any) -> Any:
    return x, flag


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((2,), {}),
        ((1.0,), {}),
        ((True,), {}),
        ((1, 2), {}),
        ((1,), {"flag": None}),
        ((1,), {"other": 1}),
        (("1",), {}),
        ((Leaf(),), {}),
    ],
)
def test_other_arguments_miss(args: Any, kwargs: Any) -> None:
    recording = Recording(take, 1)
    assert recording.hits(take, 1)
    assert not recording.hits(take, *args, **kwargs)


def test_keyword_order_matters_only_to_a_dict_of_keywords() -> None:
    def named(a: int, b: int) -> int:
        return a - b

    def gathered(**rest: int) -> list[str]:
        return list(rest)

    assert Recording(named, a=1, b=2).hits(named, b=2, a=1)
    recording = Recording(gathered, a=1, b=2)
    assert recording.hits(gathered, a=1, b=2)
    assert not recording.hits(gathered, b=2, a=1)


def test_leaves_come_back_in_order_of_first_read() -> None:
    def function(table: dict[str, Any], leaf: Leaf) -> Any:
        return table["w"] * leaf + table["b"]

    a, b, c = Leaf(1), Leaf(2), Leaf(3)
    recording = Recording(function, {"w": a, "b": b}, c)
    assert [str(read.path) for read in recording.reads.leaves] == [
        "leaf",
        "table['w']",
        "table['b']",
    ]
    others = Leaf(4), Leaf(5), Leaf(6)
    table = {"w": others[1], "b": others[2]}
    assert recording.guards.check(function, (table, others[0]), {}) == others


def add(a: Any, b: Any) -> Any:
    return a + b


def test_two_leaves_that_are_one_are_guarded_both_ways() -> None:
    one, two = Leaf(), Leaf()
    same = Recording(add, one, one)
    assert same.hits(add, two, two)
    assert not same.hits(add, one, two)
    assert "same object" in same.miss(add, one, two)
    different = Recording(add, one, two)
    assert different.hits(add, two, one)
    assert not different.hits(add, one, one)
    assert "same object" in different.miss(add, one, one)


def test_identity_of_objects_is_guarded_both_ways() -> None:
    def function(a: Any, b: Any) -> bool:
        return a is b

    one, two = Inner(), Inner()
    assert not Recording(function, one, one).hits(function, one, two)
    assert Recording(function, one, one).hits(function, two, two)
    assert not Recording(function, one, two).hits(function, one, one)
    assert Recording(function, one, two).hits(function, two, one)


def by_id(things: list[Any]) -> int:
    return len({id(thing) for thing in things})


def by_lookup(things: list[Any]) -> int:
    seen: set[Any] = set()
    for thing in things:
        if thing not in seen:
            seen.add(thing)
    return len(seen)


@pytest.mark.parametrize("function", [by_id, by_lookup])
def test_objects_told_apart_by_identity_must_stay_apart(function: Any) -> None:
    a, b, c = Point(), SENTINEL, Config()
    things = [object(), object(), object()]
    recording = Recording(function, things)
    assert recording.reason == ""
    assert recording.result == 3
    assert recording.hits(function, things[::-1])
    assert not recording.hits(function, [things[0], things[1], things[0]])
    assert "the same as one of them" in recording.miss(function, [b, b, object()])
    assert not recording.hits(function, [a, b, c])


def test_dict_keyed_by_leaves() -> None:
    def function(state: dict[Any, Any], key: Leaf) -> Any:
        return state[key]["step"]

    key, other = Leaf(), Leaf()
    recording = Recording(function, {key: {"step": 1}}, key)
    assert recording.reason == ""
    assert recording.hits(function, {other: {"step": 1}}, other)
    assert not recording.hits(function, {other: {"step": 2}}, other)
    assert not recording.hits(function, {key: {"step": 1}}, other)


def test_loop_over_dict_keyed_by_leaves() -> None:
    def function(state: dict[Any, Any]) -> Any:
        return [key * value for key, value in state.items()]

    a, b = Leaf(1), Leaf(2)
    recording = Recording(function, {a: 1.0, b: 2.0})
    assert recording.reason == ""
    assert recording.guards.check(function, ({b: 1.0, a: 2.0},), {}) == (b, a)
    assert not recording.hits(function, {b: 2.0, a: 1.0})


# Dynamic numbers


def test_dynamic_number_is_an_input() -> None:
    def function(config: Any, x: Leaf) -> Any:
        return x * config.width

    path = Attribute(Argument(0), "width")
    recording = Recording(function, Config(), Leaf(2), dynamic=frozenset({path}))
    assert ("number", "config.width") in recording.leaves.told
    other = Config()
    other.width = 9
    leaf = Leaf(1)
    assert recording.guards.check(function, (other, leaf), {}) == (leaf, 9)
    other.width = 9.0  # type: ignore[assignment]
    assert not recording.hits(function, other, leaf)


def test_dynamic_number_in_a_list_reaches_the_loop() -> None:
    def function(numbers: list[float]) -> Any:
        return [type(n).__name__ for n in numbers]

    path = Item(Argument(0), 1)
    recording = Recording(function, [1.0, 2.0], dynamic=frozenset({path}))
    assert recording.result == ["float", "StandIn"]
    assert recording.hits(function, [1.0, 5.0])
    assert not recording.hits(function, [2.0, 5.0])


def test_long_list_is_one_guard() -> None:
    few = len(Recording(lambda: sum(MANY)).reads.guards)
    assert few < 15


def test_dynamic_number_in_a_long_list() -> None:
    def function(numbers: list[float]) -> Any:
        return [type(n).__name__ for n in numbers]

    path = Item(Argument(0), 1)
    numbers = [float(i) for i in range(20)]
    recording = Recording(function, numbers, dynamic=frozenset({path}))
    assert recording.result.count("StandIn") == 1
    assert recording.hits(function, [0.0, 7.0, *numbers[2:]])


def test_dynamic_argument() -> None:
    recording = Recording(take, 3, dynamic=frozenset({Argument(0)}))
    assert type(recording.result[0]).__name__ == "StandIn"
    assert recording.guards.check(take, (8,), {}) == (8,)


# Closures


def test_two_closures_of_one_code_object_share_guards_if_their_cells_agree() -> None:
    one, two, same = make(1), make(2), make(1)
    recording = Recording(one)
    assert recording.hits(one)
    assert recording.hits(same)
    assert not recording.hits(two)
    assert recording.miss(two).startswith("`k` was 1 and is 2")


def test_methods_of_two_instances_share_guards() -> None:
    a, b, c = Config(), Config(), Config()
    c.width = 5
    recording = Recording(a.area)
    assert recording.hits(b.area)
    assert not recording.hits(c.area)


def test_callable_instance_is_a_root() -> None:
    inner, other = Inner(), Inner()
    recording = Recording(inner, 1)
    assert recording.reason == ""
    assert recording.hits(other, 1)
    other.depth = 4
    assert recording.miss(other, 1).startswith("`Inner.depth` was 1 and is 4")


def test_ordered_dict_and_subclasses_are_read() -> None:
    def function(d: Any) -> Any:
        return list(d.values())

    recording = Recording(function, OrderedDict(a=1))
    assert recording.reason == ""
    assert recording.hits(function, OrderedDict(a=1))
    assert not recording.hits(function, OrderedDict(a=2))
    assert not recording.hits(function, {"a": 1})


def test_caught_name_error_is_not_recorded() -> None:
    def function() -> int:
        try:
            return undefined_name  # type: ignore[name-defined]
        except NameError:
            return 0

    recording = Recording(function)
    assert recording.result == 0
    assert "catches “name 'undefined_name' is not defined”" in recording.reason


def test_object_that_cannot_be_followed_is_not_recorded() -> None:
    recording = Recording(lambda: vars(Config)["eps"])
    assert recording.result == Config.eps
    assert "of type mappingproxy" in recording.reason
    shouted = Recording(lambda: SHOUTING["a"])
    assert shouted.result == "X"
    assert "`global SHOUTING`, of type Shouting" in shouted.reason
    view = TABLE.values()
    assert "of type dict_values" in Recording(lambda: [v for v in view]).reason
