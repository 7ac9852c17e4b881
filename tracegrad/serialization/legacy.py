"""The format before PyTorch 1.6: pickles one after the other, then the memory."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any, Final, final

import numpy as np

from tracegrad.device import META
from tracegrad.errors import LoadError
from tracegrad.serialization.locations import Locate
from tracegrad.serialization.rebuild import StorageData, StorageType

_MAGIC: Final = 0x1950A86A20F9469CFC6C
_PROTOCOL: Final = 1001
_COUNT: Final = struct.Struct("<q")

Run = Callable[[bytes, int, Callable[[Any], Any]], tuple[Any, int]]


def load_legacy(data: bytes, locate: Locate, run: Run) -> Any:
    """Load a file of the old format.

    Parameters
    ----------
    data : bytes
        The whole file.
    locate : callable
    run : callable
        Runs one pickle.

    Returns
    -------
    object

    Raises
    ------
    LoadError
        If the file is no such file, or damaged.
    """
    if not data.startswith(b"\x80"):
        raise LoadError(
            "the file is of no format that load() reads: neither PyTorch's zip format, "
            "nor the one before it; it may be cut off or no file of tensors at all"
        )
    position = 0
    header = []
    for _ in range(3):
        part, position = run(data, position, _no_memory)
        header.append(part)
    _check_header(header)
    blocks = _Blocks(len(data), locate)
    found, position = run(data, position, blocks.storage_of)
    keys, position = run(data, position, _no_memory)
    blocks.fill(keys, data, position)
    return found


def _no_memory(entry: Any) -> Any:
    raise LoadError("the pickle asks for memory where it has none")


def _check_header(header: list[Any]) -> None:
    magic, protocol, system = header
    if magic != _MAGIC or protocol != _PROTOCOL or not isinstance(system, dict):
        raise LoadError("the file is a pickle, but not one that PyTorch wrote")
    little = system.get("little_endian", True)
    if little is not (sys.byteorder == "little"):
        raise LoadError("the file is of the other byte order")


@final
class _Blocks:
    """The memory of a file, promised by its pickle and filled behind it."""

    def __init__(self, size: int, locate: Locate) -> None:
        self._left = size
        self._locate = locate
        self._found: dict[str, StorageData] = {}

    def storage_of(self, entry: Any) -> StorageData:
        """Return the memory that a persistent id means, to be filled later."""
        match entry:
            case (
                "storage",
                StorageType() as kind,
                str(key),
                str(location),
                int(numel),
                None,
            ):
                pass
            case _:
                raise LoadError("the pickle asks for memory in a form not known")
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._promised(kind, location, numel)
        if found.dtype is not kind.dtype or found.numel != numel:
            raise LoadError(f"the file tells of the memory {key!r} in two ways")
        return found

    def _promised(self, kind: StorageType, location: str, numel: int) -> StorageData:
        if kind.dtype is None:
            raise LoadError("the file has memory without a dtype")
        self._left -= numel * kind.dtype.itemsize
        if numel < 0 or self._left < 0:
            raise LoadError(
                "the file claims more memory than it has; it may be cut off"
            )
        data = np.empty(numel * kind.dtype.itemsize, np.uint8)
        return StorageData(data, kind.dtype, self._locate(location), numel)

    def fill(self, keys: Any, data: bytes, position: int) -> None:
        """Copy the memory from behind the pickles.

        Raises
        ------
        LoadError
            If something of it is missing.
        """
        if not isinstance(keys, list) or sorted(map(str, keys)) != sorted(self._found):
            raise LoadError("the file does not list the memory that its tensors need")
        for key in keys:
            storage = self._found[key]
            start = position + _COUNT.size
            end = start + storage.data.size
            if end > len(data):
                raise LoadError("the file is cut off")
            if _COUNT.unpack_from(data, position)[0] != storage.numel:
                raise LoadError(f"the file tells of the memory {key!r} in two ways")
            if storage.device != META:
                storage.data[:] = np.frombuffer(data, np.uint8, end - start, start)
            position = end
