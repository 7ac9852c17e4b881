"""What a file may name: tensors, plain containers, and what the user declares safe."""

from __future__ import annotations

import functools
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, final

from tracegrad.device import Device, device
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import LoadError
from tracegrad.serialization import rebuild
from tracegrad.serialization.machine import Global, checked_key
from tracegrad.serialization.torch_names import (
    DTYPE_OF_STORAGE,
    UNTYPED_STORAGE,
    torch_dtype_names,
)
from tracegrad.sizes import Size

# Python 2's names, which protocol 2 uses.
_MODERN = {"__builtin__": "builtins", "copy_reg": "copyreg"}


def _encoded(text: Any, encoding: Any = "utf-8") -> bytes:
    if type(text) is not str or encoding not in ("latin1", "utf-8"):
        raise LoadError("the pickle encodes what is no text")
    return text.encode(encoding)


def _made_set(items: Any = ()) -> set[Any]:
    return set(map(checked_key, items))


def _made_ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    entries = pairs.items() if isinstance(pairs, dict) else pairs
    return OrderedDict((checked_key(key), value) for key, value in entries)


def _made_counter(counts: Any = ()) -> Counter[Any]:
    if isinstance(counts, dict):
        return Counter({checked_key(key): n for key, n in counts.items()})
    return Counter(map(checked_key, counts))


def _made_bytearray(text: Any = b"", encoding: Any = None) -> bytearray:
    if type(text) not in (str, bytes):
        # A number would be a size.
        raise LoadError(
            "the pickle makes a bytearray of what is neither text nor bytes"
        )
    return bytearray(text if isinstance(text, bytes) else _encoded(text, encoding))


def _made_complex(real: float, imag: float) -> complex:
    return complex(float(real), float(imag))


def _made_device(kind: Any, index: Any = None) -> Device:
    return device(str(kind), index)


def _made_size(sizes: Any = ()) -> Size:
    return Size(map(int, sizes))


def _globals() -> dict[str, Global]:
    functions: dict[str, Callable[..., Any]] = {
        "_codecs.encode": _encoded,
        "builtins.complex": _made_complex,
        "builtins.set": _made_set,
        "builtins.bytearray": _made_bytearray,
        "collections.Counter": _made_counter,
        "collections.OrderedDict": _made_ordered,
        "torch.Size": _made_size,
        "torch.device": _made_device,
        "torch._utils._rebuild_tensor": rebuild.rebuild_tensor,
        "torch._utils._rebuild_tensor_v2": rebuild.rebuild_tensor,
        "torch._utils._rebuild_tensor_v3": rebuild.rebuild_typed_tensor,
        "torch._utils._rebuild_meta_tensor_no_storage": rebuild.rebuild_meta,
        "torch._utils._rebuild_parameter": rebuild.rebuild_parameter,
        "torch._utils._rebuild_parameter_with_state": (
            rebuild.rebuild_parameter_with_state
        ),
        "torch._tensor._rebuild_from_type_v2": rebuild.rebuild_with_attributes,
    }
    found = {name: Global(name, None, call) for name, call in functions.items()}
    values = {
        "torch.Tensor": Tensor,
        "torch.nn.parameter.Parameter": Parameter,
        **torch_dtype_names(),
    }
    found |= {name: Global(name, value) for name, value in values.items()}
    for module in ("torch", "torch.storage"):
        for kind, dtype in DTYPE_OF_STORAGE.items():
            storage = rebuild.StorageType(kind, dtype)
            found[f"{module}.{kind}"] = Global(kind, storage)
        untyped = rebuild.StorageType(UNTYPED_STORAGE, None)
        found[f"{module}.{UNTYPED_STORAGE}"] = Global(UNTYPED_STORAGE, untyped)
    return found


_GLOBALS = _globals()

# -- what the user declares safe -------------------------------------------------------

_lock = threading.Lock()
_safe: dict[str, Any] = {}


def _full_name(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, tuple):
        value, name = entry
        return str(name), value
    return f"{entry.__module__}.{entry.__qualname__}", entry


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Declare classes and functions safe to be called by files.

    Parameters
    ----------
    safe_globals : iterable of class, function, or (class or function, full name)

    Notes
    -----
    What is declared safe is called with whatever a file says.
    """
    with _lock:
        _safe.update(map(_full_name, safe_globals))


def get_safe_globals() -> list[Any]:
    """Return what `add_safe_globals` declared safe."""
    return list(_safe.values())


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` declared safe."""
    with _lock:
        _safe.clear()


@final
class safe_globals:  # noqa: N801 - a context manager used like a function
    """Declare classes and functions safe within a block.

    Parameters
    ----------
    safe_globals : iterable of class, function, or (class or function, full name)
    """

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self._declared = list(safe_globals)

    def __enter__(self) -> None:
        with _lock:
            self._before = dict(_safe)
        add_safe_globals(self._declared)

    def __exit__(self, *exception: object) -> None:
        with _lock:
            _safe.clear()
            _safe.update(self._before)


def _built(target: Any, state: Any) -> None:
    """Set the state of an object of a class that was declared safe."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
    elif isinstance(state, dict):
        target.__dict__.update(state)
    else:
        raise LoadError(f"the state of a {type(target).__name__} is no dict")


def find_global(module: str, name: str) -> Global:
    """Return what a file names.

    Raises
    ------
    LoadError
        If it is not allowed.
    """
    full = f"{_MODERN.get(module, module)}.{name}"
    found = _GLOBALS.get(full)
    if found is not None:
        return found
    if full in _safe:
        return _declared(full, _safe[full])
    raise LoadError(
        f"the file asks for {full}, and files may only hold tensors and plain "
        "containers: nothing was called. If you trust the file, declare the class "
        "with tracegrad.serialization.add_safe_globals, or give weights_only=False, "
        "which runs what the file says"
    )


def _declared(name: str, value: Any) -> Global:
    new = functools.partial(value.__new__, value) if isinstance(value, type) else None
    return Global(name, value, value, _built, new)
