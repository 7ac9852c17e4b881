"""A tensor's data for Python and NumPy: on the host, as an array or a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracegrad.device import on_host
from tracegrad.dispatch.foreign import ForeignArray
from tracegrad.dispatch.state import installed, spoil
from tracegrad.errors import ArgumentTypeError, ConversionError, NoDataError
from tracegrad.location import warn

if TYPE_CHECKING:
    from tracegrad.dispatch.tensor import Tensor


def check_convertible(tensor: Tensor, wanted: str) -> None:
    """Raise unless there is one element, which a Python number is made of."""
    if tensor.numel() != 1:
        raise ConversionError(
            f"a Python number ({wanted}) is made of one element, this tensor has "
            f"{tensor.numel()} (shape {list(tensor.shape)})"
        )


def warn_of_lost_gradient(tensor: Tensor) -> None:
    """Warn if a number is made of a tensor that requires grad."""
    if tensor.requires_grad:
        warn(
            "a tensor that requires grad becomes a Python number and loses its "
            "gradient; use tensor.detach() or tensor.item() to say so",
        )


def copied_to_host(tensor: Tensor, wanted: str) -> Any:
    """Return the data as a NumPy array, a copy if it is on another device."""
    if tensor.is_meta:
        return host_array(tensor, wanted)
    if installed.learning:
        spoil()
    array = tensor._array
    return array.host() if isinstance(array, ForeignArray) else on_host(array)


def host_array(tensor: Tensor, wanted: str) -> Any:
    """Return the data as a NumPy array.

    Raises
    ------
    NoDataError
        On the meta device, where there is no data.
    ArgumentTypeError
        If the data is on another device.
    """
    if installed.learning:
        spoil()
    array = tensor._array
    if isinstance(array, np.ndarray):
        return array
    if tensor.is_meta:
        raise NoDataError(f"{wanted}: a tensor on the meta device has no data")
    if isinstance(array, ForeignArray) and wanted != "numpy()":
        return array.host()
    raise ArgumentTypeError(
        f"{wanted}: the data is on {tensor.device}, which NumPy can't read; copy it "
        "with tensor.cpu() first"
    )
