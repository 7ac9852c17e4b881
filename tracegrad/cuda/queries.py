"""Which CUDA devices there are."""

from __future__ import annotations

from typing import Any, final

from tracegrad.device import Device, backend_of, resolved
from tracegrad.errors import DeviceError


def is_available() -> bool:
    """Return whether CuPy is installed, and finds a GPU that it can use.

    Examples
    --------
    >>> device = "cuda" if is_available() else "cpu"
    """
    try:
        backend_of("cuda")
    except DeviceError:
        return False
    return True


def runtime(who: str) -> Any:
    """Return CuPy, for a function that can't do without a device.

    Raises
    ------
    DeviceError
        If there is none; `who` is the function, for the message.
    """
    try:
        return backend_of("cuda").namespace
    except DeviceError as error:
        raise DeviceError(f"cuda.{who}(): {error}") from None


def device_count() -> int:
    """Return how many devices can be used: one, or none."""
    return int(is_available())


def init() -> None:
    """Do nothing: a device is prepared when it is first used."""


def is_initialized() -> bool:
    """Return whether a device can be used."""
    return is_available()


def index_of(device: Any, who: str) -> int:
    """Return the number of a device given by number, name or Device; None is current.

    Raises
    ------
    DeviceError
        If it is no CUDA device.
    """
    if device is None:
        return int(runtime(who).cuda.Device().id)
    if isinstance(device, int):
        return device
    kind, _, number = str(device).partition(":")
    if kind != "cuda":
        raise DeviceError(f"cuda.{who}() wants a cuda device, not {str(device)!r}")
    return int(number or 0)


def current_device() -> int:
    """Return the number of the device in use.

    Raises
    ------
    DeviceError
        If there is none.
    """
    return int(runtime("current_device").cuda.Device().id)


def set_device(device: Any) -> None:
    """Choose the device that ``"cuda"`` means; there is one to choose.

    Raises
    ------
    DeviceError
        If there is none, or if it is another one.
    """
    runtime("set_device")
    resolved(Device("cuda", index_of(device, "set_device")))


def _properties(device: Any, who: str) -> dict[str, Any]:
    cupy = runtime(who)
    found: dict[str, Any] = cupy.cuda.runtime.getDeviceProperties(index_of(device, who))
    return found


def get_device_name(device: Any = None) -> str:
    """Return the model's name.

    Raises
    ------
    DeviceError
        If there is none.
    """
    return str(_properties(device, "get_device_name")["name"].decode())


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability, major and minor.

    Raises
    ------
    DeviceError
        If there is none.
    """
    found = _properties(device, "get_device_capability")
    return int(found["major"]), int(found["minor"])


@final
class DeviceProperties:
    """What `get_device_properties` tells of a GPU."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.name = found["name"].decode()
        self.major = int(found["major"])
        self.minor = int(found["minor"])
        self.total_memory = int(found["totalGlobalMem"])
        self.multi_processor_count = int(found["multiProcessorCount"])
        self.warp_size = int(found["warpSize"])

    def __repr__(self) -> str:
        return (
            f"DeviceProperties(name={self.name!r}, major={self.major}, "
            f"minor={self.minor}, total_memory={self.total_memory // 2**20}MB, "
            f"multi_processor_count={self.multi_processor_count})"
        )


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return name, capability, memory and number of multiprocessors.

    Raises
    ------
    DeviceError
        If there is none.
    """
    return DeviceProperties(_properties(device, "get_device_properties"))


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Return False: devices do not read each other's memory here."""
    return False


def get_arch_list() -> list[str]:
    """Return no architectures: kernels are compiled for the GPU that is there."""
    return []


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether bfloat16 can be computed on the GPU: no, without one."""
    return is_available() and get_device_capability() >= (8, 0)


@final
class device:  # noqa: N801 - PyTorch's name
    """Use another device while a block runs; a negative number changes nothing."""

    def __init__(self, device: Any) -> None:
        self._index = -1 if device is None else index_of(device, "device")
        self._entered: Any = None

    def __enter__(self) -> Device:
        if self._index >= 0:
            self._entered = runtime("device").cuda.Device(self._index)
            self._entered.__enter__()
        return Device("cuda", max(self._index, 0))

    def __exit__(self, *error: object) -> None:
        if self._entered is not None:
            self._entered.__exit__(*error)
