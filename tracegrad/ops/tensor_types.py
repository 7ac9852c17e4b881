"""``FloatTensor``, ``LongTensor`` and the others: old constructors by dtype."""

from __future__ import annotations

from typing import Any, final

from tracegrad.dispatch.operator import FUNCTIONS, FunctionDef, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, dtype_named, set_default_dtype
from tracegrad.errors import ArgumentTypeError
from tracegrad.ops.casts import TYPE_NAMES
from tracegrad.ops.conversion import tensor
from tracegrad.ops.creation import shape_of


@final
class TensorType:
    """A constructor that makes tensors of one dtype, and knows them.

    ``FloatTensor([1, 2])`` holds the data, ``FloatTensor(2, 3)`` is not set.
    ``isinstance(x, FloatTensor)`` asks for the dtype.
    """

    def __init__(self, name: str, dtype: DType) -> None:
        self.__name__ = name
        self.dtype = dtype

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of data, or one of a shape that is not set."""
        if len(args) == 1 and _is_data(args[0]):
            return tensor(args[0], dtype=self.dtype)  # type: ignore[no-any-return]
        size = shape_of(args) if args else (0,)
        empty = FUNCTIONS["empty"].function
        return empty(size, dtype=self.dtype)  # type: ignore[no-any-return]

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is self.dtype

    def __repr__(self) -> str:
        return f"<class 'tracegrad.{self.__name__}'>"


def _is_data(argument: Any) -> bool:
    return not isinstance(argument, int)


TYPES = {
    f"{short}Tensor": TensorType(f"{short}Tensor", dtype_named(name))
    for name, short in TYPE_NAMES.items()
}
for _name, _type in TYPES.items():
    FUNCTIONS[_name] = FunctionDef(_name, _type, False)


@public_function(method=False)
def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by the old name of a tensor type.

    Parameters
    ----------
    t : str or type
        Such as ``torch.DoubleTensor`` or ``"torch.DoubleTensor"``.

    Raises
    ------
    ArgumentTypeError
        If it names no floating type.
    """
    found = TYPES.get(t.rpartition(".")[2]) if isinstance(t, str) else t
    if t is Tensor:
        found = TYPES["FloatTensor"]
    if not isinstance(found, TensorType):
        raise ArgumentTypeError(
            f"set_default_tensor_type() takes a type such as FloatTensor, not {t!r}"
        )
    set_default_dtype(found.dtype)


@public_function(method=False)
def typename(obj: Any, /) -> str:
    """Return the name of an object's type, for tensors with their dtype."""
    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[attr-defined, no-any-return]
    kind = obj if isinstance(obj, type) else type(obj)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"
