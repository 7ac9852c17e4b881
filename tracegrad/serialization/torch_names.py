"""The names by which PyTorch's files speak of dtypes, storages and functions."""

from __future__ import annotations

from typing import Final, final

from tracegrad import dtypes
from tracegrad.dtypes import DType

STORAGE_OF: Final = {
    dtypes.bool_: "BoolStorage",
    dtypes.uint8: "ByteStorage",
    dtypes.int8: "CharStorage",
    dtypes.int16: "ShortStorage",
    dtypes.int32: "IntStorage",
    dtypes.int64: "LongStorage",
    dtypes.float16: "HalfStorage",
    dtypes.bfloat16: "BFloat16Storage",
    dtypes.float32: "FloatStorage",
    dtypes.float64: "DoubleStorage",
    dtypes.complex64: "ComplexFloatStorage",
    dtypes.complex128: "ComplexDoubleStorage",
}
DTYPE_OF_STORAGE: Final = {name: dtype for dtype, name in STORAGE_OF.items()}
# Bytes whose dtype the tensor's own entry tells.
UNTYPED_STORAGE: Final = "UntypedStorage"


@final
class TorchGlobal:
    """A name in one of PyTorch's modules, written to files without importing it."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: object) -> None:
        """Only a reader of the file calls it; pickling asks that it can be called."""


REBUILD_TENSOR: Final = TorchGlobal("torch._utils", "_rebuild_tensor_v2")
REBUILD_PARAMETER: Final = TorchGlobal("torch._utils", "_rebuild_parameter")
REBUILD_META: Final = TorchGlobal("torch._utils", "_rebuild_meta_tensor_no_storage")
REBUILD_TYPE: Final = TorchGlobal("torch._tensor", "_rebuild_from_type_v2")
SIZE: Final = TorchGlobal("torch", "Size")
DEVICE: Final = TorchGlobal("torch", "device")
TENSOR: Final = TorchGlobal("torch", "Tensor")
PARAMETER: Final = TorchGlobal("torch.nn.parameter", "Parameter")
STORAGES: Final = {
    dtype: TorchGlobal("torch", name) for dtype, name in STORAGE_OF.items()
}
DTYPES: Final = {d: TorchGlobal("torch", d.name) for d in dtypes.ALL}


def torch_dtype_names() -> dict[str, DType]:
    """Return the dtypes by their full names in files."""
    return {f"torch.{dtype.name}": dtype for dtype in dtypes.ALL}
