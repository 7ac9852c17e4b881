"""Padding layers."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.nn import functional
from tracegrad.nn.modules.module import Module


class _Pad(Module):
    """What the padding layers share.

    Attributes
    ----------
    padding : tuple of int
        Two numbers for each spatial dimension, the last one's first.
    """

    rank: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        numbers = (padding,) * (2 * self.rank) if isinstance(padding, int) else padding
        self.padding = tuple(numbers)

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` framed."""
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Return the widths."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` framed by a number."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Return the widths and the number."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Return the widths."""
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """Frames the last dimension by a number.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    value : float
    """

    rank = 1


class ConstantPad2d(_ConstantPad):
    """Frames the last two dimensions by a number.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    value : float
    """

    rank = 2


class ConstantPad3d(_ConstantPad):
    """Frames the last three dimensions by a number.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    value : float
    """

    rank = 3


class ZeroPad1d(_ZeroPad):
    """Frames the last dimension by zeros.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 1


class ZeroPad2d(_ZeroPad):
    """Frames the last two dimensions by zeros.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 2


class ZeroPad3d(_ZeroPad):
    """Frames the last three dimensions by zeros.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 3


class ReflectionPad1d(_Pad):
    """Frames the last dimension by its mirror image.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 1
    mode = "reflect"


class ReflectionPad2d(_Pad):
    """Frames the last two dimensions by its mirror image.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 2
    mode = "reflect"


class ReflectionPad3d(_Pad):
    """Frames the last three dimensions by its mirror image.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 3
    mode = "reflect"


class ReplicationPad1d(_Pad):
    """Frames the last dimension by its outermost elements.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 1
    mode = "replicate"


class ReplicationPad2d(_Pad):
    """Frames the last two dimensions by its outermost elements.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 2
    mode = "replicate"


class ReplicationPad3d(_Pad):
    """Frames the last three dimensions by its outermost elements.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 3
    mode = "replicate"


class CircularPad1d(_Pad):
    """Frames the last dimension by its other end.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 1
    mode = "circular"


class CircularPad2d(_Pad):
    """Frames the last two dimensions by its other end.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 2
    mode = "circular"


class CircularPad3d(_Pad):
    """Frames the last three dimensions by its other end.

    Parameters
    ----------
    padding : int or tuple of int
        One width, or two for each dimension, the last one's first.
    """

    rank = 3
    mode = "circular"
