"""Change of dtype and device, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.device import Device, backend_of, on_device, on_host, resolved
from tracegrad.dispatch.foreign import to_host
from tracegrad.dispatch.memory_format import MemoryFormat, preserve_format
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.rules import identity
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import (
    DType,
    bfloat16,
    bool_,
    complex64,
    complex128,
    dtype_named,
    float16,
    float32,
    float64,
    from_numpy_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from tracegrad.errors import ArgumentTypeError, NoDataError
from tracegrad.ops._families import primitive
from tracegrad.ops._functions import METHODS, method
from tracegrad.ops._pointwise import fresh, pointwise
from tracegrad.ops._promotion import Typed, Types, as_it_is
from tracegrad.spec import TensorSpec


def _to_attribute(name: str, operands: tuple[Typed, ...], dtype: DType | None) -> Types:
    """Keep the operand's dtype; the result has the attribute's."""
    assert dtype is not None
    return (operands[0][0],), dtype


@pointwise(
    numpy="{input}",
    c="{input}",
    promote=_to_attribute,
    reference=lambda input: input,
    examples=lambda rng: [((rng.normal(size=(3, 4)),), {"dtype": float64})],
    inplace=False,
    method=False,
)
def cast(input: Tensor, dtype: DType) -> Tensor:
    """Each element in another dtype; always a new tensor.

    A complex number loses its imaginary part in a real dtype. A float is cut
    towards zero in an integer dtype; NaN and numbers out of range give what x86
    processors give, the smallest int64 (int32 for the narrower integers), whose low
    bits are kept.
    """


cast.vjp(input=lambda ct: ct).jvp(input=lambda t, dtype: cast(t, dtype))


@pointwise(
    numpy="{input}",
    c={"bool": "{input}", "int": "{input}", "float": "{input}"},
    promote=as_it_is,
    reference=lambda input: input,
    inplace=False,
)
def clone(input: Tensor, contiguous: bool = False) -> Tensor:
    """A copy, through which gradients flow.

    The memory keeps the order of `input` unless it is asked to be `contiguous`.
    """


clone.derivative(input=identity())


def _clone_kernel(xp: Any, input: Any, contiguous: bool) -> Any:
    if contiguous:
        return xp.array(input, copy=True, order="C")
    return fresh(xp, input, from_numpy_dtype(input.dtype))


_elementwise_abstract = clone.abstract


def _clone_abstract(input: TensorSpec, contiguous: bool) -> TensorSpec:
    if contiguous:
        return TensorSpec(input.dtype, input.shape, (), input.device)
    found: TensorSpec = _elementwise_abstract(input)
    return found


clone.kernel = _clone_kernel
clone.abstract = _clone_abstract


@public_function()
def contiguous(input: Tensor) -> Tensor:
    """Return `input` itself if its elements lie in row-major order, else a copy."""
    return input if input.is_contiguous() else clone(input, True)


def as_dtype(x: Tensor, dtype: DType) -> Tensor:
    """Return `x` itself if it has the dtype, else a copy that has."""
    return x if x.dtype is dtype else cast(x, dtype)


def _to_device_kernel(xp: Any, input: Any, device: Device, source: Device) -> Any:
    if {device.type, source.type} <= {"cpu", "cuda"}:
        return on_device(on_host(input), device)
    # A Tensor, for the result is no array of the backend that runs this.
    return wrap(backend_of(device.type).namespace.array(to_host(input)))


def _to_device_text(device: Device, source: Device) -> str:
    return (
        "np.asnumpy({input})"
        if device.type == "cpu"
        else "np.asarray({input}, order='C')"
    )


@primitive(
    "transfer",
    abstract=lambda input, device, source: TensorSpec(
        input.dtype, input.shape, (), device
    ),
    kernel=_to_device_kernel,
    numpy=_to_device_text,
    public=False,
    method=False,
)
def to_device(input: Tensor, device: Device, source: Device) -> Tensor:
    """The same numbers on another device, in row-major order."""


to_device.vjp(input=lambda ct, device, source: to_device(ct, source, device)).jvp(
    input=lambda t, device, source: to_device(t, device, source)
)


def _moved(x: Tensor, target: Device) -> Tensor:
    if target == x.device:
        return x
    if target.type == "meta":
        return wrap(TensorSpec(x.dtype, x._array.shape, (), target))
    if x.is_meta:
        raise NoDataError(
            f"a tensor on the meta device has no data to copy to {target}; make an "
            "empty one there (Module.to_empty, empty_like)"
        )
    backend_of(target.type)
    return to_device(x, target, x.device)  # type: ignore[no-any-return]


def beside(tensor: Tensor, other: Tensor) -> Tensor:
    """Return a tensor of the CPU on the CUDA device of another one, else as it is."""
    if tensor._array.__class__ is np.ndarray and other.is_cuda:
        return _moved(tensor, other.device)
    return tensor


@method("to")
def to(
    self: Tensor,
    *args: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """Return the tensor with another dtype or device: itself if nothing changes.

    Parameters
    ----------
    *args
        A dtype, a device, a device and a dtype, or a tensor to be like.
    dtype : DType, optional
    device : Device or str, optional
    non_blocking : bool
        Without effect on the CPU.
    copy : bool
        Copy also where nothing changes.
    memory_format : MemoryFormat, optional
        The order of dimensions in memory; kept if not given.

    Raises
    ------
    ArgumentTypeError
        If an argument is neither a dtype, nor a device, nor a Tensor.
    """
    for given in args:
        if isinstance(given, Tensor):
            dtype, device = given.dtype, given.device
        elif isinstance(given, DType):
            dtype = given
        elif isinstance(given, Device | str):
            device = given
        elif not isinstance(given, bool):
            raise ArgumentTypeError(
                f"to() takes a dtype, a device or a Tensor, not {type(given).__name__}"
            )
    result = self if dtype is None else as_dtype(self, dtype)
    result = result if device is None else _moved(result, resolved(device))
    result = clone(result) if copy and result is self else result
    return _laid_out(result, memory_format)


def _laid_out(x: Tensor, memory_format: MemoryFormat | None) -> Tensor:
    if memory_format is None or memory_format == preserve_format:
        return x
    return x.contiguous(memory_format=memory_format)  # type: ignore[attr-defined, no-any-return]


_DTYPE_METHODS = {
    "bool": bool_,
    "byte": uint8,
    "char": int8,
    "short": int16,
    "int": int32,
    "long": int64,
    "half": float16,
    "bfloat16": bfloat16,
    "float": float32,
    "double": float64,
    "cfloat": complex64,
    "cdouble": complex128,
}


def _dtype_method(name: str, dtype: DType) -> Any:
    def call(self: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
        return _laid_out(as_dtype(self, dtype), memory_format)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return the tensor as {dtype.name}: itself if it has that dtype."
    return call


METHODS.update({name: _dtype_method(name, d) for name, d in _DTYPE_METHODS.items()})


@method("type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor in the dtype and on the device of `other`."""
    return to(self, other)  # type: ignore[no-any-return]


@method("type")
def type_(self: Tensor, dtype: DType | str | None = None) -> Any:
    """Return the tensor in a dtype, or without one the name of its own type.

    Parameters
    ----------
    dtype : DType or str, optional
        Such as ``tracegrad.float64`` or ``"torch.DoubleTensor"``.

    Raises
    ------
    DTypeError
        If there is no such dtype.
    """
    if dtype is None:
        return f"torch.{TYPE_NAMES.get(self.dtype.name, self.dtype.name)}Tensor"
    if isinstance(dtype, str):
        wanted = dtype.rpartition(".")[2].removesuffix("Tensor").lower()
        dtype = dtype_named({"byte": "uint8", "char": "int8"}.get(wanted, wanted))
    # FloatTensor and the others stand for their dtypes.
    return as_dtype(self, getattr(dtype, "dtype", dtype))


TYPE_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


@method("cpu")
def cpu(self: Tensor) -> Tensor:
    """Return the tensor on the CPU: itself if it is there."""
    return to(self, device="cpu")  # type: ignore[no-any-return]


@method("cuda")
def cuda(self: Tensor, device: Any = None) -> Tensor:
    """Return the tensor on a CUDA device: itself if it is there."""
    if device is None or isinstance(device, int):
        device = Device("cuda", device)
    return to(self, device=device)  # type: ignore[no-any-return]
