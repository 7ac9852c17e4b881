"""Devices, and the array namespaces (backends) that compute on them."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, final

import numpy as np

from tracegrad.errors import ArgumentTypeError, DeviceError
from tracegrad.location import publish


@final
@dataclass(frozen=True, slots=True)
class Device:
    """Where a tensor's data lives.

    Attributes
    ----------
    type : str
        The backend's name: ``"cpu"``, ``"cuda"``, ``"meta"`` or a registered one.
    index : int or None
        Which of several devices.
    """

    type: str
    index: int | None = None

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"


CPU = Device("cpu")
META = Device("meta")
CUDA = Device("cuda", 0)


def device(name: str | Device, index: int | None = None) -> Device:
    """Return the device called `name`, such as ``"cpu"`` or ``"cuda:0"``.

    Raises
    ------
    DeviceError
        If no backend has that name.
    ArgumentTypeError
        If it is neither a name nor a device.
    """
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        raise ArgumentTypeError(
            "a device is given by a name such as 'cpu' or by a tracegrad.Device, "
            f"not by {type(name).__name__}"
        )
    kind, _, number = name.partition(":")
    known_kind = kind in _BACKENDS or kind in ("cuda", "meta")
    if not known_kind and not _load_installed(kind):
        known = ", ".join(sorted({*_BACKENDS, "cuda", "meta"}))
        raise DeviceError(f"no device is called {name!r}; there are {known}")
    if number and not number.isdigit():
        raise DeviceError(f"{name!r}: what follows the colon must be a number")
    found = Device(kind, int(number) if number else index)
    return CPU if found == Device("cpu", 0) else found


publish(device, "device")


def resolved(name: str | Device) -> Device:
    """Return a device with its number: "cuda" is the first one.

    Raises
    ------
    DeviceError
        If there is no such device, or it is not the first of its kind.
    """
    found = device(name)
    if found.type != "cuda":
        return found
    if found.index not in (None, 0):
        raise DeviceError(f"tracegrad computes on cuda:0 only, not on {found}")
    return CUDA


@final
class Backend:
    """An array namespace with a device name.

    Attributes
    ----------
    name : str
        The device type.
    namespace : module
        Functions with NumPy's names (the Python Array API standard).
    array_type : type
        The class of its arrays.
    foreign : bool
        Whether the arrays are those of a library with names of its own
        (`tracegrad.dispatch.foreign`).
    """

    __slots__ = ("array_type", "foreign", "kernels", "name", "namespace", "run")

    def __init__(
        self,
        name: str,
        namespace: Any,
        array_type: type[Any],
        run: Callable[..., Any],
        foreign: bool = False,
    ) -> None:
        self.foreign = foreign
        self.name = name
        self.namespace = namespace
        self.array_type = array_type
        self.run = run
        # Kernels compiled for this namespace, by operator and dtype class.
        self.kernels: dict[Any, Callable[..., Any]] = {}


# NumPy warns where IEEE arithmetic answers with inf or NaN. Kernels run in a
# context of their own in which it does not; the user's error state is not touched.
# A context cannot be entered twice, so each call enters a copy (about 40 ns).
_quiet = contextvars.copy_context()
_quiet.run(np.seterr, all="ignore")
_copy_quiet = _quiet.copy


def run_quietly(kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `kernel` with NumPy's floating-point warnings off."""
    return _copy_quiet().run(kernel, *args, **kwargs)


def _run_plainly(kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return kernel(*args, **kwargs)


NUMPY = Backend("cpu", np, np.ndarray, run_quietly)
_BACKENDS: dict[str, Backend] = {"cpu": NUMPY}


def register_backend(
    name: str, namespace: Any, array_type: type[Any], foreign: bool = False
) -> Backend:
    """Make `namespace` the backend of device `name` and return it."""
    _BACKENDS[name] = Backend(name, namespace, array_type, _run_plainly, foreign)
    return _BACKENDS[name]


def registered_backends() -> tuple[str, ...]:
    """Return the names of the backends that are there now."""
    return tuple(_BACKENDS)


# Entry points of this group register a backend when its device is first asked for.
BACKEND_GROUP = "tracegrad.backends"


def _load_installed(name: str) -> bool:
    """Load what an installed package announces as the backend `name`."""
    # Not at import: it takes as long as the rest of eager mode.
    metadata = import_module("importlib.metadata")
    for found in metadata.entry_points(group=BACKEND_GROUP, name=name):
        found.load()()
    return name in _BACKENDS


def is_loaded(device_type: str) -> bool:
    """Return whether something was computed on a type of device."""
    return device_type in _BACKENDS


def backend_of(device_type: str) -> Backend:
    """Return the backend of a device type.

    Raises
    ------
    DeviceError
        If it cannot be used here, with what to install.
    """
    found = _BACKENDS.get(device_type)
    if found is not None:
        return found
    if device_type == "cuda":
        return _load_cupy()
    raise DeviceError(f"the device {device_type!r} computes nothing")


def unregister_backend(name: str) -> None:
    """Forget the backend of a device: tests replace it."""
    _BACKENDS.pop(name, None)


def _load_cupy() -> Backend:
    if find_spec("cupy") is None:
        raise DeviceError(
            "device 'cuda': CuPy is not installed: pip install 'tracegrad[cuda]' "
            "(or [cuda12], for drivers before R580)"
        )
    cupy = import_module("cupy")
    if not cupy.cuda.is_available():
        raise DeviceError(
            "device 'cuda': CuPy is installed but finds no usable GPU or driver"
        )
    return register_backend("cuda", cupy, cupy.ndarray)


def on_host(array: Any) -> Any:
    """Return an array's elements as a NumPy array: itself, or a copy."""
    return array if isinstance(array, np.ndarray) else array.get()


def on_device(array: Any, device: Device) -> Any:
    """Return the elements of a NumPy array on a device: itself, or a copy."""
    if device.type == "cpu":
        return array
    namespace = backend_of(device.type).namespace
    if device.type == "cuda":
        return namespace.asarray(array, order="C")
    return namespace.asarray(array)


def is_array(value: Any) -> bool:
    """Return whether `value` is an array of some backend."""
    return isinstance(value, tuple(b.array_type for b in _BACKENDS.values()))


def device_of_array(array: Any) -> Device:
    """Return the device that holds `array`."""
    if isinstance(array, np.ndarray):
        return CPU
    for backend in _BACKENDS.values():
        if isinstance(array, backend.array_type):
            number = getattr(getattr(array, "device", None), "id", None)
            return Device(backend.name, number)
    raise DeviceError(f"no backend holds arrays of type {type(array).__name__}")
