"""The text of numbers and arrays, from which their bits come back."""

from __future__ import annotations

import base64
import re
import struct
from typing import Any

import numpy as np

from tracegrad.dtypes import DType
from tracegrad.sizes import contiguous_strides
from tracegrad.spec import TensorSpec

# Constants with more elements are written as the base64 text of their bytes.
LONGEST_LIST = 16

# The names of custom operators may have a namespace: `mylib::scale`.
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*"
_PLAIN_NAN = 0x7FF8000000000000


def word(name: str) -> str:
    """Return `name` as it stands in a text: itself, or quoted."""
    return name if re.fullmatch(IDENTIFIER, name) else str.__repr__(name)


def float_text(value: float) -> str:
    """Return the shortest text of a Python float that gives its bits back."""
    if value == value:
        return float.__repr__(value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return "nan" if bits == _PLAIN_NAN else f"nan({bits:#018x})"


def float_of_bits(bits: int) -> float:
    """Return the Python float with the 64 bits `bits`."""
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(value)


def complex_text(value: complex) -> str:
    """Return the text of a Python complex number."""
    return f"complex({float_text(value.real)}, {float_text(value.imag)})"


# -- arrays --------------------------------------------------------------------


def array_text(array: Any, dtype: DType) -> str:
    """Return the elements of `array`, in row-major order, as text."""
    held = np.ascontiguousarray(_on_cpu(array))
    if held.size > LONGEST_LIST:
        little = held.astype(held.dtype.newbyteorder("<"), copy=False)
        return f"base64('{base64.b64encode(little.tobytes()).decode('ascii')}')"
    return "[" + ", ".join(_element_text(e, dtype) for e in held.reshape(-1)) + "]"


def _on_cpu(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.get()


def _element_text(element: Any, dtype: DType) -> str:
    if dtype.kind == "complex":
        return f"complex({_real_text(element.real)}, {_real_text(element.imag)})"
    if dtype.kind == "float":
        return _real_text(element)
    return repr(element.item())


def _real_text(element: Any) -> str:
    if element != element:
        plain = type(element)(float("nan"))
        same = element.tobytes() == plain.tobytes()
        return "nan" if same else f"nan({_bits(element):#0{2 + 2 * element.nbytes}x})"
    text = str(element)
    # The shortest text of a narrow float can lie on the border between two of them
    # once it is read as a float64; that of the float64 itself never does.
    back = type(element)(float(text))
    return text if back.tobytes() == element.tobytes() else repr(float(element))


def _bits(element: Any) -> int:
    return int.from_bytes(element.astype(element.dtype).tobytes(), "little")


def element_of_bits(bits: int, dtype: np.dtype[Any]) -> Any:
    """Return the element of `dtype` with the given bits."""
    return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)[0]


def array_of_base64(text: str, spec: TensorSpec) -> np.ndarray[Any, Any]:
    """Return the elements, in one dimension, that `array_text` wrote.

    Raises
    ------
    ValueError
        If `text` is not base64, or its bytes are no whole number of elements.
    """
    data = base64.b64decode(text, validate=True)
    found = np.frombuffer(data, spec.dtype.numpy.newbyteorder("<"))
    return found.astype(spec.dtype.numpy)


def laid_out(elements: np.ndarray[Any, Any], spec: TensorSpec) -> Any:
    """Return `elements`, given in row-major order, with the strides of `spec`."""
    shape = tuple(int(size) for size in spec.shape)
    if spec.strides == contiguous_strides(shape):
        return elements.reshape(shape)
    steps = [int(step) for step in spec.strides]
    reach = [(size - 1) * step for size, step in zip(shape, steps, strict=True)]
    if min(shape, default=1) == 0:
        reach = [0]
    first = -sum(r for r in reach if r < 0)
    memory = np.zeros(1 + sum(abs(r) for r in reach), elements.dtype)
    size = elements.dtype.itemsize
    view = np.lib.stride_tricks.as_strided(
        memory[first:], shape, [step * size for step in steps]
    )
    view[...] = elements.reshape(shape)
    return view
