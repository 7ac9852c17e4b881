"""map_location: on which device the memory of a file comes to lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from tracegrad.device import CPU, Device, backend_of
from tracegrad.device import device as device_named
from tracegrad.errors import ArgumentTypeError, DeviceError

# From a device's name in the file to where its memory goes.
Locate = Callable[[str], Device]


@final
class LoadedStorage:
    """What a `map_location` that is a function gets: it answers where the memory goes.

    Attributes
    ----------
    device : Device
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    def cpu(self) -> LoadedStorage:
        """Return the same on the CPU."""
        return LoadedStorage(CPU)

    def cuda(self, device: int | None = None) -> LoadedStorage:
        """Return the same on a GPU."""
        return LoadedStorage(Device("cuda", device))


def locator(map_location: Any) -> Locate:
    """Return the function that tells where memory goes.

    Parameters
    ----------
    map_location : None, str, Device, dict or callable

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    """
    if map_location is None:
        return _own_place
    if isinstance(map_location, str | Device):
        place = device_named(map_location)
        return lambda location: place
    if isinstance(map_location, dict):
        named = {str(old): str(new) for old, new in map_location.items()}
        return lambda location: _own_place(named.get(location, location))
    if callable(map_location):
        return lambda location: _asked(map_location, location)
    raise ArgumentTypeError(
        "load(): map_location is a device, its name, a dict or a function, "
        f"not {type(map_location).__name__}"
    )


def _asked(function: Callable[..., Any], location: str) -> Device:
    answer = function(LoadedStorage(CPU), location)
    if answer is None:
        return _own_place(location)
    if isinstance(answer, LoadedStorage):
        return answer.device
    raise ArgumentTypeError(
        "load(): map_location must return the storage it was given, or None, "
        f"not {type(answer).__name__}"
    )


def _own_place(location: str) -> Device:
    kind = location.partition(":")[0]
    if kind in ("cpu", "meta"):
        return device_named(kind)
    try:
        backend_of(kind)
        return device_named(location)
    except DeviceError as error:
        raise DeviceError(
            f"load(): the file has tensors that were on {location!r}, which can't be "
            f"used here ({error}); give map_location='cpu'"
        ) from error
