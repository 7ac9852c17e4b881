"""``load``: what `save` or PyTorch wrote, without running anything of the file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, final

import numpy as np

from tracegrad.device import META
from tracegrad.errors import ArgumentError, ArgumentTypeError, LoadError
from tracegrad.serialization.allowed import find_global
from tracegrad.serialization.archive import ArchiveReader
from tracegrad.serialization.legacy import load_legacy
from tracegrad.serialization.locations import Locate, locator
from tracegrad.serialization.machine import Machine
from tracegrad.serialization.rebuild import StorageData, StorageType
from tracegrad.serialization.trusting import run_trusted

_ZIP_START = b"PK\x03\x04"
_TORCHSCRIPT = "constants.pkl"

# From a pickle, its start, and what persistent ids are, to its object and its end.
Run = Callable[[bytes, int, Callable[[Any], Any]], tuple[Any, int]]


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save`, or PyTorch, saved.

    Parameters
    ----------
    f : str, path or binary file
        A file must be able to read and to seek.
    map_location : str, Device, dict or callable, optional
        Where tensors come to lie; where they were if not given.
    pickle_module : module, optional
        Accepted if ``weights_only=False``; Python's own is used.
    weights_only : bool, optional
        True, the default, loads tensors and plain containers and refuses all else by
        name; False runs what the file says, as ``pickle.load`` does: only for files
        that you trust.
    mmap : bool, optional
        Whether the file is mapped into memory: read where it is touched, and copied
        where it is written to.
    **pickle_load_args
        Accepted as PyTorch's, without effect.

    Returns
    -------
    object

    Raises
    ------
    LoadError
        If the file is damaged or hostile, or holds what is not loaded from files.
    DeviceError
        If it has tensors of a device that is not there.

    Notes
    -----
    Memory is taken in proportion to the file: sizes that a file claims are held against
    its own. Reading takes PyTorch's zip format, and the one before it.
    """
    del pickle_load_args
    if not hasattr(f, "read") and not isinstance(f, str | os.PathLike):
        raise ArgumentTypeError(
            f"load(): f is a path or a file that can be read, not {type(f).__name__}"
        )
    trusted = weights_only is False
    if pickle_module is not None and not trusted:
        raise ArgumentError("load(): pickle_module goes with weights_only=False only")
    if mmap and hasattr(f, "read"):
        raise ArgumentError("load(): mmap=True wants a path, not an open file")
    locate = locator(map_location)
    run: Run = run_trusted if trusted else run_restricted
    if hasattr(f, "read"):
        return _loaded(f, locate, run, False)
    with open(f, "rb") as file:
        return _loaded(file, locate, run, bool(mmap))


def run_restricted(
    program: bytes, start: int, persistent: Callable[[Any], Any]
) -> tuple[Any, int]:
    """Run a pickle that may only make tensors and plain containers."""
    machine = Machine(program, find_global, persistent, start)
    return machine.run(), machine.position


def _loaded(file: BinaryIO, locate: Locate, run: Run, mapped: bool) -> Any:
    start = file.tell()
    if file.read(len(_ZIP_START)) != _ZIP_START:
        file.seek(start)
        return load_legacy(file.read(), locate, run)
    file.seek(start)
    archive = ArchiveReader(file, mapped)
    if _TORCHSCRIPT in archive:
        raise LoadError("the file is a TorchScript program, not a saved state")
    swapped = _is_swapped(archive)
    records = _Records(archive, locate, swapped)
    program = archive.read("data.pkl").tobytes()
    return run(program, 0, records.storage_of)[0]


def _is_swapped(archive: ArchiveReader) -> bool:
    """Return whether the file is of the other byte order."""
    if "byteorder" not in archive:
        return sys.byteorder != "little"
    order = archive.read("byteorder").tobytes()
    if order not in (b"little", b"big"):
        raise LoadError(f"the file has the byte order {order!r}, which is none")
    return order.decode() != sys.byteorder


@final
class _Records:
    """The memory in an archive, each block read once."""

    def __init__(self, archive: ArchiveReader, locate: Locate, swapped: bool) -> None:
        self._archive = archive
        self._locate = locate
        self._swapped = swapped
        self._found: dict[str, StorageData] = {}

    def storage_of(self, entry: Any) -> StorageData:
        """Return the memory that a persistent id means."""
        kind, key, location, numel = checked_entry(entry)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._read(kind, key, location, numel)
        if found.dtype is not kind.dtype or found.numel != numel:
            raise LoadError(f"the file tells of the memory {key!r} in two ways")
        return found

    def _read(
        self, kind: StorageType, key: str, location: str, numel: int
    ) -> StorageData:
        device = self._locate(location)
        name = f"data/{key}"
        itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
        if device == META:
            return StorageData(np.empty(0, np.uint8), kind.dtype, device, numel)
        if self._archive.size_of(name) != numel * itemsize:
            raise LoadError(
                f"the memory {key!r} should have {numel * itemsize} bytes, but the "
                f"file has {self._archive.size_of(name)}"
            )
        data = self._archive.read(name)
        if self._swapped:
            data = in_this_order(data, kind, key)
        return StorageData(data, kind.dtype, device, numel)


def checked_entry(entry: Any) -> tuple[StorageType, str, str, int]:
    """Return type, key, device and size of some memory, from a persistent id.

    Raises
    ------
    LoadError
        If it is of another form.
    """
    match entry:
        case ("storage", StorageType() as kind, str(key), str(location), int(numel)):
            if numel >= 0:
                return kind, key, location, numel
    raise LoadError("the pickle asks for memory in a form that is not known")


def in_this_order(
    data: np.ndarray[Any, Any], kind: StorageType, key: str
) -> np.ndarray[Any, Any]:
    """Return memory with the bytes of each number swapped."""
    if kind.dtype is None:
        raise LoadError(f"the memory {key!r} is of the other byte order, without dtype")
    part = kind.dtype.itemsize // (2 if kind.dtype.is_complex else 1)
    swapped: np.ndarray[Any, Any] = data.reshape(-1, part)[:, ::-1].reshape(-1).copy()
    return swapped
