"""``save``: any object to a file that PyTorch reads too."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

from tracegrad.errors import ArgumentTypeError, NotSupportedError
from tracegrad.serialization.archive import ArchiveWriter
from tracegrad.serialization.writer import pickled


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object to a file, in PyTorch's format.

    Parameters
    ----------
    obj : object
        Tensors and containers of them; other objects that can be pickled too, which
        `load` reads only if it is told to trust the file.
    f : str, path or binary file
        Where to; a file must be able to write and to tell its position.
    pickle_module : module
        Only Python's own.
    pickle_protocol : int
        Of pickle; PyTorch reads 2.

    Raises
    ------
    ArgumentValueError
        If two tensors see the same memory as different dtypes.
    NotSupportedError
        If the format before PyTorch 1.6, or another pickle module is asked for.

    Notes
    -----
    Tensors that share memory share it again when loaded; memory is written whole, even
    if only a part of it is seen: ``clone()`` a small view of a large tensor first.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> save({"x": 1}, file)
    >>> bytes(file.getbuffer()[:2])
    b'PK'
    """
    if not _use_new_zipfile_serialization:
        raise NotSupportedError("save() writes PyTorch's zip format only")
    if pickle_module is not pickle:
        raise NotSupportedError("save() pickles with Python's module only")
    if not hasattr(f, "write") and not isinstance(f, str | os.PathLike):
        raise ArgumentTypeError(
            f"save(): f is a path or a file that can be written, not {type(f).__name__}"
        )
    # All that can fail does so before a file is touched.
    program, storages = pickled(obj, pickle_protocol)
    if hasattr(f, "write"):
        _write(f, program, storages, _disable_byteorder_record)
        return
    with open(f, "wb") as file:
        _write(file, program, storages, _disable_byteorder_record)


def _write(
    file: BinaryIO, program: bytes, storages: list[Any], without_byteorder: bool
) -> None:
    archive = ArchiveWriter(file)
    archive.write("data.pkl", program)
    archive.write(".format_version", b"1")
    archive.write(".storage_alignment", b"64")
    if not without_byteorder:
        archive.write("byteorder", sys.byteorder.encode())
    for storage in storages:
        archive.write(f"data/{storage.key}", memoryview(storage.data))
    archive.write("version", b"3\n")
    archive.close()
