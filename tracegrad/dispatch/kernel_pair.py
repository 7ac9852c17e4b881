"""Eager kernel pairs: an operator's value and gradients as two functions of arrays.

A pair is a property of an operator, never a second meaning of it: it must give what the
operator gives without it, in fewer steps. The dispatcher uses it where nothing but a
value and its tape entry is asked for; captures, transforms, other devices, half types
and derivatives of derivatives see the operator as it is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

_SERVED = frozenset({np.dtype("float32"), np.dtype("float64")})


def serves_all(*_: Any, **__: Any) -> bool:
    """Serve whatever the dispatcher offers."""
    return True


@final
@dataclass(frozen=True, slots=True)
class KernelPair:
    """Two NumPy functions that stand for an operator in eager mode on the CPU.

    Attributes
    ----------
    forward : callable
        ``forward(*arrays, **attributes)`` gives ``(result, saved)``: an array or a
        tuple of them, and whatever `backward` needs. It gives None if, having looked
        at the data, it leaves the call to the operator.
    backward : callable
        ``backward(saved, cts, wanted)`` gives a gradient for each operand that is
        wanted, in its shape and dtype, None for the others. `cts` has an array for
        each result. It must not write into `saved` or `cts`, and its results share
        memory with neither; only a cotangent itself may be one.
    serves : callable
        ``serves(*arrays, **attributes)``: whether the pair can stand for a call, by
        shapes, strides, dtypes and attributes only.
    reads : tuple of str
        The operands, and ``"out"`` for the results, whose memory `saved` shares: a
        write to these before backward is refused.
    any_layout : bool
        Whether operands may be other than contiguous.
    """

    forward: Callable[..., Any]
    backward: Callable[[Any, list[Any], tuple[bool, ...]], Sequence[Any]]
    serves: Callable[..., bool] = serves_all
    reads: tuple[str, ...] = ()
    any_layout: bool = False

    def takes(self, arrays: Sequence[Any], attributes: dict[str, Any]) -> bool:
        """Return whether the pair serves for operands; None and numbers among them."""
        dtype = None
        for array in arrays:
            if array.__class__ is not np.ndarray:
                if array is None or array.__class__ in _NUMBERS:
                    continue
                return False
            if not array.size or not (self.any_layout or array.flags.c_contiguous):
                return False
            if array.dtype.kind in "iub":
                continue
            if not array.ndim:
                # NumPy's functions of it give numbers, which can't be written into.
                return False
            if array.dtype not in _SERVED or (dtype or array.dtype) != array.dtype:
                return False
            dtype = array.dtype
        return dtype is not None and self.serves(*arrays, **attributes)


_NUMBERS = frozenset({int, float, bool})
