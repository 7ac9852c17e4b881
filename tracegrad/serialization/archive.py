"""PyTorch's zip archives: records side by side, not compressed, aligned to 64 bytes."""

from __future__ import annotations

import mmap
import struct
import zipfile
import zlib
from typing import Any, BinaryIO, Final, final

import numpy as np

from tracegrad.errors import LoadError

_ALIGNMENT: Final = 64
_ROOT: Final = "archive"
# A zip file's extra field: an id ("FB", as in PyTorch's files) and a length.
_EXTRA: Final = struct.Struct("<HH")
_EXTRA_ID: Final = 0x4246
_LOCAL_HEADER: Final = struct.Struct("<4s5H3L2H")
_ENCRYPTED: Final = 1


@final
class ArchiveWriter:
    """Writes records into a zip file.

    Parameters
    ----------
    file : binary file
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)

    def write(self, name: str, data: Any) -> None:
        """Add a record."""
        # A fixed date: the same state gives the same file.
        info = zipfile.ZipInfo(f"{_ROOT}/{name}", (1980, 1, 1, 0, 0, 0))
        info.extra = self._padding(info.filename)
        self._zip.writestr(info, data)

    def _padding(self, name: str) -> bytes:
        """Return an extra field behind which data are aligned, for mapping files."""
        start = self._file.tell() + _LOCAL_HEADER.size + len(name) + _EXTRA.size
        size = -start % _ALIGNMENT
        return _EXTRA.pack(_EXTRA_ID, size) + b"Z" * size

    def close(self) -> None:
        """Write the directory."""
        self._zip.close()


@final
class ArchiveReader:
    """Reads records of a zip file, and nothing outside of them.

    Parameters
    ----------
    file : binary file
    mapped : bool
        Whether records are mapped into memory, copied when written to.

    Raises
    ------
    LoadError
        If it is no such archive: damaged, compressed, encrypted, with records that
        overlap or have the same name.
    """

    def __init__(self, file: BinaryIO, mapped: bool = False) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        try:
            directory = zipfile.ZipFile(file).infolist()
        except Exception as error:
            # Damaged directories make zipfile raise whatever its fields lead to.
            raise LoadError(f"the file's zip directory is damaged: {error}") from error
        root = _root_of([info.filename for info in directory])
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in directory:
            self._add(info, root)
        self._starts = {name: self._start_of(i) for name, i in self._infos.items()}
        self._check_overlap()
        self._map = (
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if mapped else None
        )

    def _add(self, info: zipfile.ZipInfo, root: str) -> None:
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED:
            raise LoadError(
                f"the record {info.filename!r} is compressed or encrypted, which "
                "PyTorch's files never are"
            )
        if not info.filename.startswith(root) or info.is_dir():
            return
        name = info.filename.removeprefix(root)
        if name in self._infos:
            raise LoadError(f"the record {name!r} is there twice")
        self._infos[name] = info

    def _start_of(self, info: zipfile.ZipInfo) -> int:
        """Return where a record's data begin."""
        if info.header_offset < 0:
            raise LoadError(f"the record {info.filename!r} begins before the file")
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise LoadError(f"the record {info.filename!r} has no header")
        *_, name_size, extra_size = _LOCAL_HEADER.unpack(header)
        start = info.header_offset + _LOCAL_HEADER.size + name_size + extra_size
        if start + info.file_size > self.size or info.file_size != info.compress_size:
            raise LoadError(
                f"the record {info.filename!r} claims {info.file_size} bytes, which "
                "the file does not have; it may be cut off"
            )
        return int(start)

    def _check_overlap(self) -> None:
        end = 0
        for name in sorted(self._starts, key=lambda n: self._infos[n].header_offset):
            if self._infos[name].header_offset < end:
                raise LoadError(f"the record {name!r} overlaps another one")
            end = self._starts[name] + self._infos[name].file_size

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def size_of(self, name: str) -> int:
        """Return the size of a record, in bytes.

        Raises
        ------
        LoadError
            If there is no such record.
        """
        if name not in self._infos:
            raise LoadError(f"the file has no record {name!r}")
        return self._infos[name].file_size

    def read(self, name: str) -> np.ndarray[Any, Any]:
        """Return a record's bytes.

        Raises
        ------
        LoadError
            If there is no such record, or its checksum is another.
        """
        size = self.size_of(name)
        start = self._starts[name]
        if self._map is not None and start % _ALIGNMENT == 0 and size:
            return np.frombuffer(self._map, np.uint8, size, start)
        data: Any = np.empty(size, np.uint8)
        self._file.seek(start)
        view = memoryview(data)
        while view:
            count = self._file.readinto(view)  # type: ignore[attr-defined]
            if not count:
                raise LoadError(f"the record {name!r} is cut off")
            view = view[count:]
        if zlib.crc32(data) != self._infos[name].CRC:
            raise LoadError(f"the record {name!r} is damaged: its checksum is another")
        found: np.ndarray[Any, Any] = data
        return found


def _root_of(filenames: list[str]) -> str:
    """Return the folder, with its slash, in which all records are.

    Raises
    ------
    LoadError
        If there is not one record ``data.pkl`` in one folder.
    """
    found = [name for name in filenames if name.endswith("/data.pkl")]
    if len(found) != 1 or found[0].count("/") != 1:
        raise LoadError(
            "the zip file holds nothing that save() wrote: it has no record data.pkl"
        )
    return found[0].removesuffix("data.pkl")
