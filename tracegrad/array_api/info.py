"""What the namespace can do: ``__array_namespace_info__``."""

from __future__ import annotations

from typing import Any, final

import tracegrad as tg
from tracegrad.array_api.data_types import isdtype
from tracegrad.device import CPU, Device
from tracegrad.device import device as device_named
from tracegrad.dtypes import DType, get_default_dtype

_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip


@final
class NamespaceInfo:
    """Capabilities, devices and dtypes of the namespace."""

    def capabilities(self) -> dict[str, Any]:
        """Return what depends on the library."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def default_device(self) -> Device:
        """Return where arrays are made."""
        return CPU

    def devices(self) -> list[Device]:
        """Return the devices that hold data."""
        return [device_named(name) for name in tg.backends.available()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Return the dtypes that Python numbers take."""
        floating = get_default_dtype()
        return {
            "real floating": floating,
            "complex floating": floating.to_complex(),
            "integral": tg.int64,
            "indexing": tg.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """Return the dtypes by name, of a kind if one is given."""
        found = {name: getattr(tg, name) for name in _DTYPES}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807 - the standard's name
    return NamespaceInfo()
