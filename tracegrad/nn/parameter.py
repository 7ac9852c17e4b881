"""Parameter, where PyTorch has it, and parameters whose shape is not known yet."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Parameter, Tensor, wrap
from tracegrad.dtypes import float32
from tracegrad.errors import ArgumentValueError
from tracegrad.ops.creation import zeros
from tracegrad.sizes import Size

__all__ = [
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "is_lazy",
]


class _Uninitialized:
    """What a tensor without a shape answers."""

    __slots__ = ()

    _array: Any
    _known: type

    @property
    def shape(self) -> Size:
        """Refuse: there is none yet.

        Raises
        ------
        ArgumentValueError
            Always.
        """
        raise ArgumentValueError(
            "the shape of an uninitialized parameter is not known; call the module "
            "once on an input, or load a state"
        )

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Take a shape, in place; the values are still to be set.

        Parameters
        ----------
        shape : tuple of int
        device : Device or str, optional
        dtype : DType, optional
            As the parameter was made if not given.
        """
        own: Any = self
        dtype = own.dtype if dtype is None else dtype
        device = own.device if device is None else device
        own._array = zeros(*shape, dtype=dtype, device=device)._array
        own.__class__ = self._known


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is found at the first call of its module.

    Parameters
    ----------
    requires_grad : bool
    device : Device or str, optional
    dtype : DType, optional
    """

    __slots__ = ()

    _known = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> Any:
        """Make a parameter without a shape."""
        self = wrap(zeros(0, device=device, dtype=dtype)._array, cls)
        if requires_grad:
            self.requires_grad_()
        return self

    def __repr__(self) -> str:
        return "<UninitializedParameter>"


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape is found at the first call of its module."""

    __slots__ = ()

    _known = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        """Make a buffer without a shape."""
        return wrap(zeros(0, device=device, dtype=dtype or float32)._array, cls)

    def to(self, *args: Any, **kwargs: Any) -> UninitializedBuffer:
        """Take another dtype or device, in place: there is nothing to convert."""
        known: Any = wrap(self._array)
        self._array = known.to(*args, **kwargs)._array
        return self

    def __repr__(self) -> str:
        return "<UninitializedBuffer>"


def is_lazy(param: Any) -> bool:
    """Return whether a tensor's shape is still unknown."""
    return isinstance(param, _Uninitialized)
