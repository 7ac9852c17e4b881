"""What is known of code that isn't the user's: which calls only compute, which do more.

What a table doesn't know counts as an effect: the call then stays eager, with the line.
"""

import types
from enum import Enum
from typing import Any

from tracegrad.capture.paths import Path


class Purity(Enum):
    """What a trusted call does with its arguments."""

    SHALLOW = "keeps or classifies them"
    READS = "reads what containers among them hold"
    LOOKS = "reads the attributes of objects among them, too"
    WRITES = "as READS, and changes the first"
    EFFECT = "may change something, or read what changes"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_BUILTINS = _words("""
    abs all any ascii bin bool bytearray bytes callable chr complex dict divmod
    enumerate filter float format frozenset hash hex int iter len list map max min next
    oct ord pow range repr reversed round set slice sorted str sum tuple zip object
    property staticmethod classmethod super type isinstance issubclass memoryview dir
    """)
SHALLOW_BUILTINS = _words(
    "callable isinstance issubclass object property staticmethod classmethod type super"
)

# Modules of the standard library, and packages, whose functions only compute.
PURE_MODULES = _words("""
    tracegrad numpy scipy math cmath operator _operator itertools functools _functools
    typing types dataclasses collections _collections _collections_abc abc _abc enum
    copy numbers string re fractions decimal _decimal statistics struct _struct inspect
    contextlib textwrap keyword bisect _bisect heapq _heapq datetime _datetime reprlib
    array colorsys difflib graphlib json binascii base64 hashlib _hashlib zlib
    unicodedata
    einops opt_einsum
    ml_dtypes typing_extensions
    """)
_SHALLOW_MODULES = frozenset({"typing", "types", "abc", "_abc", "enum"})
# They keep a function, which isn't called before what they make is.
_KEEPERS = frozenset({"partial", "wraps", "update_wrapper"})
# These work on elements of what they are given, and call back for the rest.
_ELEMENTWISE_MODULES = frozenset(
    {"tracegrad", "numpy", "scipy", "math", "cmath"}
    | {"itertools", "functools", "collections", "heapq"}
)

# The exceptions, by module: what changes its first argument, and what does more.
_WRITERS = {
    "numpy": _words("copyto put place putmask fill_diagonal put_along_axis"),
    "operator": _words("""
        setitem delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow
        irshift isub itruediv ixor
        """),
    "heapq": _words("heappush heappop heapify heapreplace heappushpop"),
    "bisect": _words("insort insort_left insort_right"),
}
_IMPURE = {
    "numpy": _words("""
        save savez savez_compressed savetxt load loadtxt genfromtxt fromfile memmap
        seterr seterrcall set_printoptions
        """),
    "datetime": _words("now utcnow today"),
    "json": frozenset({"dump", "load"}),
}
_IMPURE_SUBMODULES = ("numpy.random", "numpy.lib._npyio_impl", "numpy.lib.npyio")

# Methods that change nothing, of mutable types whose other methods do.
READING_METHODS = _words("""
    __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __getitem__ __iter__ __len__
    __add__ __mul__ __rmul__ __or__ __and__ __sub__ __xor__ __reversed__ __repr__
    __str__ __hash__ __format__ __sizeof__ __getattribute__ __bool__ __int__ __float__
    copy count index get keys values items union intersection difference issubset
    issuperset isdisjoint symmetric_difference most_common elements total
    __dir__ __reduce__ __reduce_ex__ __init_subclass__ __subclasshook__
    """)
KEEPING_METHODS = _words("""
    append appendleft add insert pop popleft popitem setdefault discard clear get copy
    keys values items __setitem__ __delitem__ __init__ __new__ __setattr__ __delattr__
    """)
_ARRAY_WRITERS = _words(
    "fill sort partition resize itemset put setfield setflags byteswap __setitem__ "
    "__iadd__ __imul__ __isub__ tofile dump"
)


def module_purity(module: str | None, name: str) -> Purity:
    """What a function of a trusted module does."""
    if not module or module.startswith(_IMPURE_SUBMODULES):
        return Purity.EFFECT
    root = module.partition(".")[0]
    if root == "builtins":
        return builtin_purity(name)
    plain = root.lstrip("_")
    if root not in PURE_MODULES or name in _IMPURE.get(plain, ()):
        return Purity.EFFECT
    if name in _WRITERS.get(plain, ()):
        return Purity.WRITES
    if root in _SHALLOW_MODULES or (plain == "functools" and name in _KEEPERS):
        return Purity.SHALLOW
    return Purity.READS if plain in _ELEMENTWISE_MODULES else Purity.LOOKS


def builtin_purity(name: str) -> Purity:
    """What a builtin function or type does."""
    if name in SHALLOW_BUILTINS:
        return Purity.SHALLOW
    if name in _LOOKING_BUILTINS:
        return Purity.LOOKS
    return Purity.READS if name in PURE_BUILTINS else Purity.EFFECT


_LOOKING_BUILTINS = _words("str repr ascii format hash")


def method_purity(owner: Any, name: str, path: Path | None) -> Purity:
    """What a method of `owner` does; it has a path if it's from outside."""
    kind = type(owner)
    if isinstance(owner, (list, dict, set)) or kind.__name__ in _MUTABLE_KINDS:
        if path is not None:
            return Purity.READS if name in READING_METHODS else Purity.EFFECT
        return Purity.SHALLOW if name in KEEPING_METHODS else Purity.READS
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        writes = path is not None and name in _ARRAY_WRITERS
        return Purity.EFFECT if writes else Purity.READS
    if kind.__module__ == "builtins":
        return _iterator_purity(owner, path)
    if name.startswith("__") and path is None:
        return Purity.SHALLOW
    if path is not None and name not in READING_METHODS and not is_immutable(owner):
        return Purity.EFFECT
    return module_purity(kind.__module__, name)


_MUTABLE_KINDS = frozenset({"deque", "bytearray", "array"})
_IMMUTABLE_MODULES = frozenset({"re", "datetime", "fractions", "decimal", "operator"})


def _iterator_purity(owner: Any, path: Path | None) -> Purity:
    if path is not None and hasattr(type(owner), "__next__"):
        return Purity.EFFECT
    return Purity.READS


def is_immutable(value: Any) -> bool:
    """Whether no method of `value` changes it."""
    module = type(value).__module__.partition(".")[0]
    return isinstance(value, (type, types.ModuleType)) or module in _IMMUTABLE_MODULES


def display_name(function: Any) -> str:
    """The function's name as a user would write it."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    module = getattr(function, "__module__", None)
    if module in (None, "builtins") or isinstance(function, types.MethodType):
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            module = type(owner).__module__
            module = None if module == "builtins" else module.lstrip("_")
        else:
            module = None
    return f"{module}.{name}" if module else str(name)
