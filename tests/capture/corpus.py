"""Functions that use each node of Python's syntax: run plain and instrumented.

Each takes a `World` and may read and change it; what it returns, raises and changes must
be the same both ways. Lines are compared too, so some are written over several.
"""
# ruff: noqa

import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import operator
from collections import namedtuple

SCALE = 2.0
COUNTER = 0
TABLE = {"a": 1, "b": [1, 2, 3], (1, 2): "pair"}
NUMBERS = [1, 2, 3]


class World:
    """What a function may read and change."""

    shared = 5

    def __init__(self):
        self.log = []
        self.table = {"k": 1}
        self.number = 3
        self.inner = Inner(4)
        self.inners = [Inner(1), Inner(2)]

    @property
    def double(self):
        return self.number * 2

    def method(self, x, *, y=1):
        return self.number + x + y

    def state(self):
        return (
            list(self.log),
            dict(self.table),
            self.number,
            self.inner.value,
            [i.value for i in self.inners],
            sorted(n for n in vars(self)),
        )


class Inner:
    def __init__(self, value):
        self.value = value

    def __call__(self, x):
        return self.value + x

    def __eq__(self, other):
        return isinstance(other, Inner) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __getitem__(self, key):
        return self.value * key

    def __len__(self):
        return self.value

    def __contains__(self, x):
        return x == self.value

    def __iter__(self):
        return iter(range(self.value))


class Base:
    kind = "base"

    def __init__(self, value):
        self.value = value

    def name(self):
        return f"base {self.value}"

    @classmethod
    def make(cls, value):
        return cls(value)

    @staticmethod
    def twice(x):
        return 2 * x

    @property
    def prop(self):
        return self.value + 1


class Derived(Base):
    __private = 7

    def __init__(self, value):
        super().__init__(value)
        self.__hidden = value * 10

    def name(self):
        return "derived " + super().name()

    def hidden(self):
        def inner(__x):
            return __x + self.__hidden + self.__private

        return inner(1)

    @property
    def prop(self):
        return super().prop * 2

    def its_class(self):
        return __class__.__name__


class Fallback:
    def __getattr__(self, name):
        if name.startswith("x"):
            return len(name)
        raise AttributeError(f"no {name} here")


class Descriptor:
    def __get__(self, owner, cls):
        return ("got", owner is None)


class WithDescriptor:
    item = Descriptor()


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Recorder:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, ("set", value))

    def __setitem__(self, key, value):
        object.__setattr__(self, f"item_{key}", value)

    def __delitem__(self, key):
        object.__delattr__(self, f"item_{key}")


class Manager:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, traceback):
        self.log.append(kind.__name__ if kind else "exit")
        return self.swallow


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int


Pair = namedtuple("Pair", "first second")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return ("wrapped", function(*args, **kwargs))

    return wrapper


@decorate
def decorated(x):
    return x + 1


@contextlib.contextmanager
def managed(log):
    log.append("in")
    try:
        yield "value"
    finally:
        log.append("out")


def generator(n):
    for i in range(n):
        got = yield i
        if got:
            yield ("got", got)
    return "done"


def helper(a, b=2, *rest, c=3, **named):
    return a, b, rest, c, named


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


# Literals, names, operators


def case_constants(w):
    return 1, 2.5, "s", b"b", None, True, ..., 3j


def case_global(w):
    return SCALE * 2


def case_builtin(w):
    return max(1, 2), len([1]), abs(-1)


def case_name_error(w):
    return undefined_name


def case_unbound(w):
    if w.number > 100:
        local = 1
    return local


def case_binary(w):
    a, b = 7, 3
    return (
        a + b,
        a - b,
        a * b,
        a / b,
        a // b,
        a % b,
        a**b,
        a << b,
        a >> b,
        a & b,
        a | b,
        a ^ b,
    )


def case_matmul(w):
    return [1] @ [2]


def case_unary(w):
    a = w.number
    return -a, +a, ~a, not a


def case_compare(w):
    a, b = 1, 2
    return a < b, a <= b, a > b, a >= b, a == b, a != b


def case_chained(w):
    def f(x):
        w.log.append(x)
        return x

    return f(1) < f(2) < f(0) < f(5), 1 < w.number in [3] is not None


def case_is_in(w):
    a = []
    return (
        a is a,
        a is not [],
        1 in [1],
        2 not in [1],
        "a" in TABLE,
        w.inner in w.inners,
    )


def case_bool_ops(w):
    return w.log and 1, w.log or 2, 0 or w.table, w.number and w.inner.value and []


def case_ternary(w):
    return "big" if w.number > 2 else "small"


def case_walrus(w):
    if (n := w.number) > 2 and (m := n + 1):
        return n, m


def case_walrus_comprehension(w):
    found = [last := x for x in range(4)]
    return found, last


def case_fstring(w):
    x = 3.14159
    width = 8
    return f"{x:.2f} {x:{width}.3f} {w.number!r:>4} {x=} {{}}"


def case_division_error(w):
    return 1 / 0


def case_type_error(w):
    return w.number + "a"


# Containers, indexing


def case_displays(w):
    a = [1, *NUMBERS]
    return a, (0, *a), {1, *a}, {"z": 1, **TABLE}


def case_subscript(w):
    a = [0, 1, 2, 3, 4]
    return a[0], a[-1], a[1:3], a[::2], a[:], a[w.number]


def case_tuple_subscript(w):
    class G:
        def __getitem__(self, key):
            return key

    return G()[1, 2:3, ...], G()[::2], G()[(1, 2)]


def case_star_subscript(w):
    class G:
        def __getitem__(self, key):
            return key

    rest = (1, 2)
    return G()[0, *rest]


def case_key_error(w):
    return w.table["missing"]


def case_index_error(w):
    return NUMBERS[10]


def case_slice_assign(w):
    a = [1, 2, 3, 4]
    a[1:3] = [9]
    a[0] = 8
    del a[-1]
    return a


def case_user_getitem(w):
    return w.inner[3], len(w.inner), 4 in w.inner, list(w.inner)


# Attributes


def case_attribute(w):
    return w.number, w.inner.value, w.shared, w.double, w.method(1, y=2)


def case_attribute_error(w):
    return w.missing


def case_multiline_attribute(w):
    return w.inner.missing


def case_multiline_call(w):
    return w.method(
        1,
        nothing=2,
    )


def case_fallback_attribute(w):
    return Fallback().xyz


def case_fallback_error(w):
    return Fallback().abc


def case_descriptor(w):
    return WithDescriptor().item, WithDescriptor.item


def case_slots(w):
    s = Slots(1)
    return s.a, hasattr(s, "b"), getattr(s, "b", "none")


def case_slots_error(w):
    s = Slots(1)
    return s.b


def case_super(w):
    d = Derived(3)
    return d.name(), d.hidden(), d.prop, d.its_class(), d.make(4).name(), d.twice(5)


def case_super_two_arguments(w):
    return super(Derived, Derived(3)).name(), super(Derived, Derived).make.__name__


def case_private_names(w):
    return sorted(vars(Derived(2)))


def case_class_attributes(w):
    return Base.kind, Derived.kind, Derived(1).kind, Base.twice(2)


def case_dunder_attributes(w):
    return case_super.__name__, Base.__name__, w.__class__.__name__, helper.__defaults__


def case_builtin_attributes(w):
    return "a,b".split(","), (1).bit_length(), [3, 1].index(1), {}.get("x", 5)


# Stores


def case_set_attribute(w):
    w.number = 10
    w.fresh = 1
    del w.fresh
    w.inner.value += 5
    return w.number


def case_set_item(w):
    w.table["new"] = [1]
    w.table["k"] += 5
    w.table["new"] += [2]
    del w.table["k"]
    return w.table


def case_append(w):
    w.log.append(1)
    w.log += [2]
    alias = w.log
    alias += [3]
    return len(w.log)


def case_born_list(w):
    a = []
    a.append(1)
    a += [2]
    b = a
    b += [3]
    a[0] += 10
    return a


def case_augmented_once(w):
    def where():
        w.log.append("evaluated")
        return w.inners

    where()[0].value += 1
    where()[1].value *= 2
    return [i.value for i in w.inners]


def case_augmented_unbound(w):
    number += 1
    return number


def case_augmented_operators(w):
    a = 10
    a -= 1
    a *= 2
    a /= 4
    a //= 1
    a **= 2
    b = 6
    b %= 4
    b <<= 3
    b >>= 1
    b |= 1
    b &= 7
    b ^= 2
    return a, b


def case_augmented_property(w):
    w.double += 1


def case_global_store(w):
    global COUNTER
    COUNTER += 1
    COUNTER = COUNTER - 1
    return COUNTER


def case_setattr_hook(w):
    r = Recorder()
    r.a = 1
    r["k"] = 2
    r["j"] = 3
    del r["j"]
    return r.a, r.item_k, hasattr(r, "item_j")


def case_unpacking(w):
    a, b, c = NUMBERS
    (d, e), f = (1, 2), 3
    g, *h = range(4)
    [i, [j]] = [1, [2]]
    k = l, m = (5, 6)
    return a, b, c, d, e, f, g, h, i, j, k, l, m


def case_unpacking_error(w):
    a, b = NUMBERS
    return a


def case_swap(w):
    a, b = 1, 2
    a, b = b, a
    w.log[:] = [a, b]
    return a, b


def case_annotated(w):
    x: int = 1
    y: "undefined"
    w.number: int = 4
    return x


def case_delete(w):
    a = 1
    del a
    return a


# Calls


def case_calls(w):
    return helper(1), helper(1, 2, 3, c=4, d=5), helper(*[1, 2, 3], **{"c": 1, "z": 2})


def case_call_error(w):
    return helper()


def case_not_callable(w):
    return w.number()


def case_keyword_twice(w):
    return helper(1, **{"c": 1}, c=2)


def case_recursion(w):
    return factorial(5)


def case_lambda(w):
    f, g = lambda x: x + 1, lambda x, y=2, *a, **k: (x, y, a, k)
    return f(1), g(1, 2, 3, z=4)


def case_two_lambdas(w):
    return LAMBDAS[0](1), LAMBDAS[1](1)


LAMBDAS = (lambda x: x + 1), (lambda x: x + 2)


def case_decorated(w):
    return decorated(1), decorated.__name__, decorated.__wrapped__(2)


def case_local_decorator(w):
    def tag(name):
        def apply(function):
            function.tag = name
            return function

        return apply

    @tag("t")
    def f(x=w.number):
        return x

    return f(), f.tag, f.__name__, f.__qualname__


def case_partial(w):
    f = functools.partial(helper, 1, c=9)
    return f(2), f(b=3)


def case_callable_instance(w):
    return w.inner(1), [i(1) for i in w.inners]


def case_higher_order(w):
    return (
        list(map(lambda i: i.value, w.inners)),
        sorted(w.inners, key=operator.attrgetter("value"), reverse=True)[0].value,
        list(filter(None, [0, 1])),
        functools.reduce(lambda a, b: a + b, NUMBERS),
        max(w.inners, key=lambda i: -i.value).value,
    )


def case_user_callbacks(w):
    def key(i):
        return i.value

    return sum(map(key, w.inners)), min(w.inners, key=key).value


def case_locals(w):
    a, b = 1, 2
    names = sorted(locals())
    return names, locals()["a"], [sorted(locals()) for i in range(1)]


def case_globals(w):
    return globals()["SCALE"], "SCALE" in globals()


def case_eval(w):
    a = 4
    exec("b = a + 1")
    return eval("a + 1"), eval("x * 2", {"x": 3}), eval("SCALE")


def case_vars(w):
    a = 1
    return sorted(vars()), sorted(vars(w)), vars(w)["number"]


def case_frame(w):
    import sys

    return sys._getframe().f_code.co_name, sys._getframe(0).f_lineno > 0


def case_print(w):
    print(end="")
    return None


def case_getattr(w):
    return getattr(w, "num" + "ber"), getattr(w, "nope", 1), hasattr(w, "inner")


def case_setattr(w):
    setattr(w, "number", 9)
    delattr(w, "table")
    w.table = {}
    return w.number


def case_isinstance(w):
    return isinstance(w, World), isinstance(1, (int, str)), issubclass(Derived, Base)


def case_type(w):
    made = type("Made", (Base,), {"extra": 1})
    return type(w) is World, type(w).__name__, made(1).extra, made(2).name()


def case_math(w):
    return math.sqrt(16), math.pi, math.inf > 1, operator.add(1, 2)


def case_itertools(w):
    return list(itertools.chain(NUMBERS, [4])), list(itertools.product([1], NUMBERS))


def case_strings(w):
    return (
        "-".join(["a", "b"]),
        "x".upper(),
        "%d %s" % (1, "a"),
        "{} {b}".format(1, b=2),
    )


# Control flow


def case_if(w):
    if w.number > 5:
        return "a"
    elif w.number > 2:
        return "b"
    else:
        return "c"


def case_while(w):
    i, seen = 0, []
    while i < 10:
        i += 1
        if i == 2:
            continue
        if i == 5:
            break
        seen.append(i)
    else:
        seen.append("else")
    while w.log:
        pass
    else:
        seen.append("no break")
    return seen


def case_for(w):
    total = []
    for i, (a, b) in enumerate([(1, 2), (3, 4)]):
        total.append((i, a, b))
    else:
        total.append("else")
    for w.number in NUMBERS:
        pass
    for k, v in TABLE.items():
        total.append((k, v))
    for c in "ab":
        if c == "b":
            break
    return total, c, i


def case_for_error(w):
    for x in w.number:
        pass


def case_comprehensions(w):
    return (
        [x * y for x in range(3) if x for y in NUMBERS if y != 2],
        {x: [y for y in range(x)] for x in range(3)},
        {x % 2 for x in range(5)},
        list(x for x in w.inners[0]),
        [i.value for i in w.inners],
        [a + b for a, b in [(1, 2)]],
    )


def case_comprehension_scope(w):
    x = "outer"
    ys = [x for x in range(3)]
    fs = [lambda: x for x in range(3)]
    return x, ys, [f() for f in fs]


def case_generator(w):
    g = generator(3)
    first = next(g)
    sent = g.send("hello")
    return first, sent, list(g)


def case_yield_from(w):
    def outer():
        result = yield from generator(2)
        yield result

    return list(outer())


def case_generator_close(w):
    def f():
        try:
            yield 1
        finally:
            w.log.append("closed")

    g = f()
    next(g)
    g.close()
    return list(f())


def case_try(w):
    out = []
    try:
        out.append("try")
        raise ValueError("v")
    except (KeyError, TypeError):
        out.append("wrong")
    except ValueError as error:
        out.append(str(error))
    else:
        out.append("else")
    finally:
        out.append("finally")
    try:
        out.append("quiet")
    except Exception:
        pass
    else:
        out.append("else")
    return out


def case_except_name_gone(w):
    try:
        1 / 0
    except ZeroDivisionError as e:
        pass
    return e


def case_reraise(w):
    try:
        raise KeyError("k")
    except KeyError as e:
        w.log.append("saw")
        raise RuntimeError("second") from e


def case_bare_raise(w):
    try:
        w.table["none"]
    except KeyError:
        raise


def case_try_star(w):
    out = []
    try:
        raise ExceptionGroup("g", [ValueError("a"), KeyError("b")])
    except* ValueError as g:
        out.append(len(g.exceptions))
    except* KeyError:
        out.append("key")
    return out


def case_finally_return(w):
    try:
        return "try"
    finally:
        w.log.append("finally")


def case_assert(w):
    assert w.number == 3
    assert w.number == 4, f"number is {w.number}"


def case_raise_in_helper(w):
    def fail(x):
        raise ValueError(f"too long {x}")

    w.log.append("before")
    return fail(3)


def case_with(w):
    with Manager(w.log) as m, managed(w.log) as v:
        w.log.append("body")
    with contextlib.suppress(KeyError):
        w.table["no"]
    return m.swallow, v


def case_with_swallow(w):
    with Manager(w.log, True):
        raise KeyError("swallowed")
    return "after"


def case_with_error(w):
    with Manager(w.log):
        raise KeyError("passed on")


def case_with_target(w):
    with managed(w.log) as w.number, managed(w.log) as w.table["k"]:
        pass
    return w.number


def case_match(w):
    def kind(x):
        match x:
            case 1 | 2:
                return "small"
            case Color.RED:
                return "red"
            case str() as s if len(s) > 2:
                return f"long {s}"
            case [a, *rest]:
                return ("list", a, rest)
            case {"k": v, **others}:
                return ("dict", v, others)
            case Point(x=0, y=y):
                return ("on axis", y)
            case Point(a, b):
                return ("point", a, b)
            case None:
                return "none"
            case -1 | 2.5:
                return "number"
            case _:
                return "other"

    return [
        kind(x)
        for x in (
            1,
            Color.RED,
            "abc",
            "a",
            NUMBERS,
            [],
            {"k": 1, "j": 2},
            Point(0, 3),
            Point(1, 2),
            None,
            -1,
            2.5,
            object,
        )
    ]


def case_match_outside(w):
    match w.table:
        case {"k": k}:
            pass
    match w:
        case World(number=n):
            pass
    return k, n


def case_pass(w):
    pass


# Scopes


def case_closure(w):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    add(1)
    return add(2), total


def case_outer_cell(w):
    return closed_over()


def make_closed_over():
    k = [1]
    n = 3

    def closed_over():
        return k[0] + n

    return closed_over


closed_over = make_closed_over()


def case_class_body(w):
    limit = 3

    class Local(Base, metaclass=type):
        """A class."""

        size = limit
        SCALE = SCALE + 1
        names = [c for c in "ab"]

        def get(self):
            return self.size, self.SCALE, __class__.__name__

        @property
        def both(self):
            return self.get(), super().name()

    local = Local(1)
    return (
        local.both,
        Local.__qualname__,
        Local.get.__qualname__,
        Local.names,
        Local.__doc__,
    )


def case_local_dataclass(w):
    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: list = dataclasses.field(default_factory=list)

    return P(1), P(1) == P(1), P(1) < P(2), repr(P(1)), dataclasses.replace(P(1), x=3)


def case_local_enum(w):
    class E(enum.IntFlag):
        A = 1
        B = 2

    return E.A | E.B, E(1), [e.name for e in E]


def case_data(w):
    p, q = Point(1), Frozen(2)
    pair = Pair(1, second=2)
    return (
        p,
        p == Point(1, 2),
        q.x,
        pair,
        pair.first,
        pair._replace(first=5),
        Color(1).name,
    )


def case_frozen_error(w):
    Frozen(1).x = 2


def case_import(w):
    import os.path
    import json as j
    from math import sqrt as root, pi

    return os.path.join("a", "b"), j.dumps([1]), root(4), pi


def case_import_error(w):
    import no_such_module_at_all


def case_nested_functions(w):
    def a():
        def b():
            def c():
                return w.number, SCALE, c.__qualname__

            return c()

        return b()

    return a()


def case_default_argument(w, extra=[]):
    extra.append(len(extra))
    result = list(extra)
    extra.clear()
    return result


def case_keyword_only(w, *, flag=True):
    return flag


def case_docstring(w):
    """Returns its own docstring."""
    return case_docstring.__doc__


def case_global_declared_inside(w):
    def f():
        global SCALE
        old = SCALE
        SCALE = 3.0
        SCALE = old
        return old

    return f()


def case_semicolons(w):
    a = 1
    b = 2
    return a + b


def case_stop_iteration(w):
    return next(iter([]))


def case_hash_and_sets(w):
    return Inner(1) in {Inner(1), Inner(2)}, {Inner(1): "x"}[Inner(1)], len({1, 2})


def case_async_defined(w):
    async def f(x):
        async with x as y, x:
            async for z in y:
                await z
        return [i async for i in x]

    coroutine = f(1)
    coroutine.close()
    return f.__name__


def case_ellipsis_and_complex_slices(w):
    a = list(range(10))
    a[w.number :: 2] = [0] * len(a[w.number :: 2])
    a[1:2] += [77]
    return a


def case_string_format_error(w):
    return "%d" % "a"


def case_conditional_import_name(w):
    if w.number:
        from collections import OrderedDict as D
    return D(a=1)


def case_delete_unknown(w):
    del w.nothing


def case_star_keyword_error(w):
    return helper(**{1: 2})


def case_iterating_dict_changed(w):
    for k in w.table:
        w.table["other"] = 1


def case_long_expression(w):
    return [
        w.number,
        w.inner.value,
        (lambda: w.missing_in_lambda)(),
    ]


def case_error_in_comprehension(w):
    return [1 / x for x in (1, 0)]


def case_error_in_generator(w):
    def g():
        yield 1
        raise LookupError("late")

    return list(g())


def case_error_in_property(w):
    class P:
        @property
        def p(self):
            return self.q

    return P().p


def case_error_in_init(w):
    class P:
        def __init__(self, x):
            raise TypeError("bad init")

    return P(1)


def case_init_arguments(w):
    return Base()


CASES = {n: f for n, f in list(globals().items()) if n.startswith("case_")}
