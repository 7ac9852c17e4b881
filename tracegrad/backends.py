"""Backends of third parties: devices that compute with another array library.

A library that follows the Python array API standard becomes a device of a name.
Operators run on its arrays where a function of the standard means what the operator
means; others are computed by NumPy, on copies (``TRACEGRAD_LOG=dispatch`` says which
and why). An installed package announces its backend by an entry point of the group
``tracegrad.backends``: a function that calls `register`.
"""

from __future__ import annotations

from typing import Any

from tracegrad.device import Device, backend_of, register_backend, registered_backends
from tracegrad.dispatch.foreign import ForeignArray, ForeignNamespace
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.errors import ArgumentError, ArgumentTypeError

_OWN = ("cpu", "cuda", "meta")
_NEEDED = ("asarray", "astype", "reshape", "add")


def register(name: str, namespace: Any) -> Device:
    """Make an array library the device `name`.

    Parameters
    ----------
    name : str
        An identifier; registering a name again replaces the backend.
    namespace : module
        Follows the Python array API standard, such as ``array_api_strict`` or
        ``jax.numpy``.

    Returns
    -------
    Device

    Raises
    ------
    ArgumentError
        If the name is no identifier or tracegrad's own, or the namespace lacks what
        every operator needs.

    Examples
    --------
    >>> import numpy
    >>> import tracegrad as tg
    >>> tg.backends.register("other_numpy", namespace=numpy)
    device(type='other_numpy')
    >>> x = tg.tensor([1.0, 4.0], device="other_numpy", requires_grad=True)
    >>> x.sqrt().sum().backward()
    >>> x.grad.cpu()
    tensor([0.5000, 0.2500])
    """
    if not name.isidentifier() or name in _OWN:
        raise ArgumentError(
            f"a backend's name is an identifier other than {list(_OWN)}, not {name!r}"
        )
    missing = [needed for needed in _NEEDED if not hasattr(namespace, needed)]
    if missing:
        raise ArgumentError(
            f"{namespace!r} does not follow the Python array API standard: it has no "
            f"{missing}"
        )
    adapted = ForeignNamespace(name, namespace)
    register_backend(name, adapted, adapted.array_type, foreign=True)
    return Device(name)


def available() -> tuple[str, ...]:
    """Return the names of the backends that are there now."""
    return registered_backends()


def to_array(tensor: Tensor) -> Any:
    """Return the array of the library that computes on the tensor's device.

    Raises
    ------
    ArgumentTypeError
        If the tensor is not on a device of a registered library.
    """
    array = tensor._array
    if not isinstance(array, ForeignArray):
        raise ArgumentTypeError(
            f"to_array() is for tensors of registered backends; this one is on "
            f"{tensor.device}: use numpy()"
        )
    return array.value


def from_array(array: Any, device: Device | str) -> Tensor:
    """Return a tensor of a library's array, which must not be written afterwards.

    Parameters
    ----------
    array : array of the library that is registered for `device`
    device : Device or str
    """
    kind = device.type if isinstance(device, Device) else device
    return wrap(backend_of(kind).namespace.array_type(array))
