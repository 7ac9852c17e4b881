"""`finfo` and `iinfo`: the limits of number formats, as PyTorch gives them."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from tracegrad.dtypes import DType, bfloat16, get_default_dtype
from tracegrad.errors import ArgumentTypeError


@final
class finfo:  # noqa: N801 - PyTorch's name
    """Limits of a floating dtype; of a complex one, those of its parts.

    Parameters
    ----------
    type : DType, optional
        The default dtype if not given.

    Attributes
    ----------
    bits : int
    eps : float
        Distance from 1 to the next number.
    max, min : float
    tiny, smallest_normal : float
    resolution : float
    dtype : str

    Raises
    ------
    ArgumentTypeError
        If it is no floating or complex dtype.

    Examples
    --------
    >>> finfo(get_default_dtype()).bits
    32
    """

    def __init__(self, type: Any = None) -> None:
        dtype: Any = get_default_dtype() if type is None else type
        if not isinstance(dtype, DType) or dtype.kind not in ("float", "complex"):
            raise ArgumentTypeError(
                f"finfo() takes a floating dtype, not {dtype!r}; iinfo() takes integers"
            )
        part = dtype.to_real()
        self.dtype = part.name
        self.bits = part.itemsize * 8
        if part is bfloat16:
            # The upper half of a float32: 8 bits of exponent, 7 of fraction.
            largest, smallest, eps, digits = 2.0**127 * (2 - 2**-7), 2**-126, 2**-7, 2
        else:
            found = np.finfo(part.numpy)
            largest, smallest = float(found.max), float(found.smallest_normal)
            eps, digits = float(found.eps), found.precision
        self.max, self.min, self.eps = largest, -largest, eps
        self.tiny = self.smallest_normal = smallest
        self.resolution = 10.0**-digits

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, "
            f"max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


@final
class iinfo:  # noqa: N801 - PyTorch's name
    """Limits of an integer dtype.

    Parameters
    ----------
    type : DType

    Attributes
    ----------
    bits, max, min : int
    dtype : str

    Raises
    ------
    ArgumentTypeError
        If it is no integer dtype.
    """

    def __init__(self, type: Any) -> None:
        if not isinstance(type, DType) or type.kind != "int":
            raise ArgumentTypeError(f"iinfo() takes an integer dtype, not {type!r}")
        found = np.iinfo(type.numpy)
        self.dtype = type.name
        self.bits = int(found.bits)
        self.max = int(found.max)
        self.min = int(found.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
