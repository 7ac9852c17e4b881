"""A pickle machine that builds plain containers and calls only what it is given.

Python's own unpickler is not used even with a restricted ``find_class``: it sets
attributes of whatever is on its stack, and takes memory by what a file claims.
"""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, final

from tracegrad.errors import LoadError

_NEWEST_PROTOCOL: Final = 5
# How often the contents of a pickle may be copied by what is called from it; plain
# files copy them once.
_COPIES: Final = 16
_KEY_TYPES: Final = (str, int, float, bool, bytes, type(None))
_OPERATIONS: Final[dict[int, Callable[[Machine], None]]] = {}


@final
class Global:
    """Something that a pickle may name: called by it, or only passed on.

    Parameters
    ----------
    name : str
    value : object, optional
        What it stands for; itself if not given.
    call : callable, optional
        What happens if it is called; nothing may be called without.
    build : callable, optional
        Sets the state of an object that `call` made.
    new : callable, optional
        Makes an object without its ``__init__``; `call` if not given.
    """

    __slots__ = ("build", "call", "name", "new", "value")

    def __init__(
        self,
        name: str,
        value: Any = None,
        call: Callable[..., Any] | None = None,
        build: Callable[[Any, Any], None] | None = None,
        new: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self.new = new or call
        self.value = self if value is None else value
        self.call = call
        self.build = build


@final
class Machine:
    """Runs one pickle.

    Parameters
    ----------
    data : bytes
    find : callable
        From a module and a name to a `Global`; raises LoadError if it may not be named.
    persistent : callable
        From a persistent id to an object.
    start : int
        Where the pickle begins.
    """

    def __init__(
        self,
        data: bytes,
        find: Callable[[str, str], Global],
        persistent: Callable[[Any], Any],
        start: int = 0,
    ) -> None:
        self.position = start
        self.find = find
        self.persistent = persistent
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        # By identity: who builds an object's state. Objects stay alive in `_built`.
        self.builders: dict[int, Callable[[Any, Any], None]] = {}
        self._built: list[Any] = []
        self._data = data
        self._budget = _COPIES * len(data) + 4096
        self._done = False

    def run(self) -> Any:
        """Return the object that the pickle makes.

        Raises
        ------
        LoadError
            If the pickle is damaged, or asks for what is not allowed.
        """
        try:
            while not self._done:
                operation = _OPERATIONS.get(self.take(1)[0])
                if operation is None:
                    code = self._data[self.position - 1]
                    raise LoadError(
                        f"the pickle has the operation {code:#04x} at byte "
                        f"{self.position - 1}, which files of tensors do not need"
                    )
                operation(self)
            if len(self.stack) != 1 or self.marks:
                raise LoadError("the pickle ends with more than one object")
        except LoadError:
            raise
        except (
            IndexError,
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise LoadError(
                f"the pickle is damaged near byte {self.position}: "
                f"{type(error).__name__}: {error}"
            ) from error
        return unwrapped(self.stack[0])

    # -- what operations use ------------------------------------------------------

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        end = self.position + count
        if count < 0 or end > len(self._data):
            raise LoadError("the pickle is cut off")
        part = self._data[self.position : end]
        self.position = end
        return part

    def number(self, form: str) -> int:
        """Return the next number, in a form of `struct`."""
        found: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return found

    def line(self) -> str:
        """Return the text to the end of the line."""
        end = self._data.find(b"\n", self.position)
        if end < 0:
            raise LoadError("the pickle is cut off")
        text = self._data[self.position : end].decode()
        self.position = end + 1
        return text

    def to_mark(self) -> list[Any]:
        """Return what is on the stack above the last mark, and take it off."""
        above = self.stack
        self.stack = self.marks.pop()
        return above

    def charge(self, size: int) -> None:
        """Count what a call copies against what the pickle may ask for.

        Raises
        ------
        LoadError
            If it asks for more than its own size allows.
        """
        self._budget -= size
        if self._budget < 0:
            raise LoadError("the pickle copies its contents again and again")

    def call(self, new: bool) -> None:
        """Call a global with arguments, both from the stack, and push the result."""
        args, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, Global) or function.call is None:
            what = function.name if isinstance(function, Global) else function
            raise LoadError(f"the pickle calls {what!r}, which is not allowed")
        if type(args) is not tuple:
            raise LoadError("the pickle calls with something else than a tuple")
        self.charge(sum(map(_length, args)))
        make = function.new if new and function.new is not None else function.call
        result = make(*args)
        if function.build is not None:
            self.builders[id(result)] = function.build
            self._built.append(result)
        self.stack.append(result)

    def stop(self) -> None:
        """End the run."""
        self._done = True


_SIZED: Final = (list, tuple, dict, set, frozenset, str, bytes, bytearray)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, _SIZED) else 1


def unwrapped(value: Any) -> Any:
    """Return what a global stands for; everything else as it is."""
    return value.value if type(value) is Global else value


def checked_key(key: Any) -> Any:
    """Return a key of a dict or an element of a set: numbers, texts, rows of them.

    Raises
    ------
    LoadError
        If it is something else; deep tuples take deep recursion to hash.
    """
    key = unwrapped(key)
    parts = key if type(key) is tuple else (key,)
    if not all(isinstance(part, _KEY_TYPES) or _is_value(part) for part in parts):
        raise LoadError(f"the pickle has a key of type {type(key).__name__}")
    return key


def _is_value(part: Any) -> bool:
    return type(part).__module__.startswith("tracegrad.") and not hasattr(
        part, "__len__"
    )


def _operation(
    code: bytes,
) -> Callable[[Callable[[Machine], None]], Callable[[Machine], None]]:
    def register(function: Callable[[Machine], None]) -> Callable[[Machine], None]:
        _OPERATIONS[code[0]] = function
        return function

    return register


# -- constants -------------------------------------------------------------------------


def _constant(code: bytes, make: Callable[[Machine], Any]) -> None:
    def push(machine: Machine) -> None:
        # In two steps: `make` may change which list the stack is.
        made = make(machine)
        machine.stack.append(made)

    _OPERATIONS[code[0]] = push


def _long(size: Callable[[Machine], int]) -> Callable[[Machine], int]:
    return lambda m: int.from_bytes(m.take(size(m)), "little", signed=True)


def _text(form: str) -> Callable[[Machine], str]:
    return lambda m: m.take(m.number(form)).decode("utf-8", "surrogatepass")


def _bytes(form: str) -> Callable[[Machine], bytes]:
    return lambda m: m.take(m.number(form))


_constant(pickle.NONE, lambda m: None)
_constant(pickle.NEWTRUE, lambda m: True)
_constant(pickle.NEWFALSE, lambda m: False)
_constant(pickle.BININT, lambda m: m.number("<i"))
_constant(pickle.BININT1, lambda m: m.number("<B"))
_constant(pickle.BININT2, lambda m: m.number("<H"))
_constant(pickle.LONG1, _long(lambda m: m.number("<B")))
_constant(pickle.BINFLOAT, lambda m: m.number(">d"))
_constant(pickle.BINUNICODE, _text("<I"))
_constant(pickle.SHORT_BINUNICODE, _text("<B"))
_constant(pickle.BINUNICODE8, _text("<Q"))
_constant(pickle.BINBYTES, _bytes("<I"))
_constant(pickle.SHORT_BINBYTES, _bytes("<B"))
_constant(pickle.BINBYTES8, _bytes("<Q"))
_constant(pickle.BYTEARRAY8, lambda m: bytearray(_bytes("<Q")(m)))
# Python 2's strings.
_constant(pickle.SHORT_BINSTRING, lambda m: _bytes("<B")(m).decode("latin-1"))
_constant(pickle.EMPTY_TUPLE, lambda m: ())
_constant(pickle.EMPTY_LIST, lambda m: [])
_constant(pickle.EMPTY_DICT, lambda m: {})
_constant(pickle.EMPTY_SET, lambda m: set())
_constant(pickle.BINGET, lambda m: m.memo[m.number("<B")])
_constant(pickle.LONG_BINGET, lambda m: m.memo[m.number("<I")])
_constant(pickle.GLOBAL, lambda m: m.find(m.line(), m.line()))
_constant(pickle.TUPLE, lambda m: tuple(map(unwrapped, m.to_mark())))
_constant(pickle.FROZENSET, lambda m: frozenset(map(checked_key, m.to_mark())))
_constant(pickle.BINPERSID, lambda m: m.persistent(m.stack.pop()))


# -- the stack and the memo ------------------------------------------------------------


@_operation(pickle.PROTO)
def _proto(machine: Machine) -> None:
    protocol = machine.number("<B")
    if protocol > _NEWEST_PROTOCOL:
        raise LoadError(f"the pickle is of protocol {protocol}, which is not known")


@_operation(pickle.FRAME)
def _frame(machine: Machine) -> None:
    machine.take(8)


@_operation(pickle.STOP)
def _stop(machine: Machine) -> None:
    machine.stop()


@_operation(pickle.MARK)
def _mark(machine: Machine) -> None:
    machine.marks.append(machine.stack)
    machine.stack = []


@_operation(pickle.BINPUT)
def _binput(machine: Machine) -> None:
    machine.memo[machine.number("<B")] = machine.stack[-1]


@_operation(pickle.LONG_BINPUT)
def _long_binput(machine: Machine) -> None:
    machine.memo[machine.number("<I")] = machine.stack[-1]


@_operation(pickle.MEMOIZE)
def _memoize(machine: Machine) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _tuple_of(count: int) -> Callable[[Machine], None]:
    def build(machine: Machine) -> None:
        if len(machine.stack) < count:
            raise LoadError("the pickle makes a tuple of what is not there")
        parts = tuple(map(unwrapped, machine.stack[-count:]))
        machine.stack[-count:] = [parts]

    return build


for _code, _count in ((pickle.TUPLE1, 1), (pickle.TUPLE2, 2), (pickle.TUPLE3, 3)):
    _OPERATIONS[_code[0]] = _tuple_of(_count)


# -- filling containers ----------------------------------------------------------------


def _append_all(machine: Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if type(target) is not list:
        raise LoadError(f"the pickle appends to a {type(target).__name__}")
    target.extend(map(unwrapped, items))


@_operation(pickle.APPEND)
def _append(machine: Machine) -> None:
    item = machine.stack.pop()
    _append_all(machine, [item])


@_operation(pickle.APPENDS)
def _appends(machine: Machine) -> None:
    _append_all(machine, machine.to_mark())


def _set_all(machine: Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, dict):
        raise LoadError(f"the pickle sets items of a {type(target).__name__}")
    if len(items) % 2:
        raise LoadError("the pickle sets a key without a value")
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[checked_key(key)] = unwrapped(value)


@_operation(pickle.SETITEM)
def _setitem(machine: Machine) -> None:
    items = machine.stack[-2:]
    del machine.stack[-2:]
    _set_all(machine, items)


@_operation(pickle.SETITEMS)
def _setitems(machine: Machine) -> None:
    _set_all(machine, machine.to_mark())


@_operation(pickle.ADDITEMS)
def _additems(machine: Machine) -> None:
    items = machine.to_mark()
    target = machine.stack[-1]
    if type(target) is not set:
        raise LoadError(f"the pickle adds elements to a {type(target).__name__}")
    target.update(map(checked_key, items))


# -- calls -----------------------------------------------------------------------------


@_operation(pickle.STACK_GLOBAL)
def _stack_global(machine: Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise LoadError("the pickle names something by no text")
    machine.stack.append(machine.find(module, name))


@_operation(pickle.REDUCE)
def _reduce(machine: Machine) -> None:
    machine.call(new=False)


@_operation(pickle.NEWOBJ)
def _newobj(machine: Machine) -> None:
    machine.call(new=True)


@_operation(pickle.BUILD)
def _build(machine: Machine) -> None:
    state = machine.stack.pop()
    target = machine.stack[-1]
    if type(target) is OrderedDict and type(state) is dict:
        # Such as a module's `_metadata`.
        target.__dict__.update({str(key): value for key, value in state.items()})
        return
    build = machine.builders.get(id(target))
    if build is None:
        raise LoadError(
            f"the pickle sets the state of a {type(target).__name__}, which is not "
            "allowed"
        )
    build(target, state)
