"""The safetensors format: a header in JSON, then the tensors' bytes.

Source: the format's description, https://github.com/huggingface/safetensors.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tracegrad import dtypes
from tracegrad.device import CPU, Device
from tracegrad.device import device as device_named
from tracegrad.dispatch.storage import owner_of
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import DType
from tracegrad.errors import ArgumentTypeError, ArgumentValueError, LoadError

_LENGTH: Final = struct.Struct("<Q")
_LONGEST_HEADER: Final = 100_000_000
_METADATA: Final = "__metadata__"
_ALIGNMENT: Final = 8
_MOST_DIMENSIONS: Final = 64

CODES: Final = {
    dtypes.bool_: "BOOL",
    dtypes.uint8: "U8",
    dtypes.int8: "I8",
    dtypes.int16: "I16",
    dtypes.int32: "I32",
    dtypes.int64: "I64",
    dtypes.float16: "F16",
    dtypes.bfloat16: "BF16",
    dtypes.float32: "F32",
    dtypes.float64: "F64",
    dtypes.complex64: "C64",
}
_DTYPE_OF: Final = {code: dtype for dtype, code in CODES.items()}

# -- writing ---------------------------------------------------------------------------


def save(
    tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> bytes:
    """Return tensors as the bytes of a safetensors file.

    Parameters
    ----------
    tensors : dict of str to Tensor
    metadata : dict of str to str, optional

    Returns
    -------
    bytes

    Raises
    ------
    ArgumentTypeError
        If something is no tensor, or a name or a piece of metadata no text.
    ArgumentValueError
        If a dtype has no code in the format, or tensors share memory, which they would
        not when loaded.

    Examples
    --------
    >>> import tracegrad as tg
    >>> load(save({"x": tg.ones(2)}))["x"].tolist()
    [1.0, 1.0]
    """
    _check_metadata(metadata)
    _check_tensors(tensors)
    # The largest elements first, so that all of them are aligned.
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header: dict[str, Any] = {} if metadata is None else {_METADATA: metadata}
    parts = []
    end = 0
    for name in names:
        tensor: Any = tensors[name]
        array = np.ascontiguousarray(tensor.detach().cpu()._array)
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": CODES[tensor.dtype],
            "shape": [int(size) for size in tensor.shape],
            "data_offsets": [start, end],
        }
        parts.append(array.reshape(-1).view(np.uint8).tobytes())
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return b"".join([_LENGTH.pack(len(text)), text, *parts])


def save_file(
    tensors: Mapping[str, Tensor],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
) -> None:
    """Write tensors to a safetensors file; see `save`."""
    content = save(tensors, metadata)
    with open(filename, "wb") as file:
        file.write(content)


def _check_metadata(metadata: Any) -> None:
    entries = [*metadata, *metadata.values()] if metadata else []
    if not all(isinstance(entry, str) for entry in entries):
        raise ArgumentTypeError("safetensors: metadata are texts by texts")


def _check_tensors(tensors: Mapping[Any, Any]) -> None:
    owners: dict[int, str] = {}
    for name, tensor in tensors.items():
        if not isinstance(name, str) or name == _METADATA:
            raise ArgumentTypeError(f"safetensors: {name!r} can't be a tensor's name")
        if not isinstance(tensor, Tensor) or tensor.is_meta:
            raise ArgumentTypeError(f"safetensors: {name!r} is no tensor with data")
        if tensor.dtype not in CODES:
            raise ArgumentValueError(
                f"safetensors: {name!r} is of {tensor.dtype.name}, which the format "
                "does not have"
            )
        other = owners.setdefault(id(owner_of(tensor._array)), name)
        if other != name and tensor.numel():
            raise ArgumentValueError(
                f"safetensors: {other!r} and {name!r} share memory, which they would "
                "not when loaded; clone() one of them, or leave it out"
            )


# -- reading ---------------------------------------------------------------------------


def load(data: bytes) -> dict[str, Tensor]:
    """Return the tensors in the bytes of a safetensors file.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    dict of str to Tensor

    Raises
    ------
    LoadError
        If the bytes are damaged: sizes or places that do not agree, holes, overlaps.
    """
    header, start = _header_of(data)
    header.pop(_METADATA, None)
    places = {name: _place_of(name, entry) for name, entry in header.items()}
    _check_places([place for _, _, place in places.values()], len(data) - start)
    return {
        name: _tensor_of(data, dtype, shape, start + place[0])
        for name, (dtype, shape, place) in places.items()
    }


def load_file(
    filename: str | os.PathLike[str], device: str | int | Device = "cpu"
) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; see `load`.

    Parameters
    ----------
    filename : str or path
    device : str, int or Device
        Where the tensors come to lie.
    """
    with open(filename, "rb") as file:
        tensors = load(file.read())
    place = device_named(f"cuda:{device}" if isinstance(device, int) else device)
    if place == CPU:
        return tensors
    return {name: tensor.to(place) for name, tensor in tensors.items()}  # type: ignore[attr-defined]


def load_metadata(data: bytes) -> dict[str, str]:
    """Return the metadata in the bytes of a safetensors file."""
    header, _ = _header_of(data)
    found: dict[str, str] = header.get(_METADATA, {})
    return found


def _header_of(data: bytes) -> tuple[dict[str, Any], int]:
    if len(data) < _LENGTH.size:
        raise LoadError("safetensors: the file is cut off before its header")
    size = _LENGTH.unpack_from(data)[0]
    start = _LENGTH.size + size
    if size > _LONGEST_HEADER or start > len(data):
        raise LoadError(
            f"safetensors: the header claims {size} bytes, of {len(data)} in the file"
        )
    text = bytes(data[_LENGTH.size : start])
    if not text.startswith(b"{"):
        raise LoadError("safetensors: the header does not begin with '{'")
    try:
        header = json.loads(text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise LoadError(f"safetensors: the header is no JSON: {error}") from error
    metadata = header.get(_METADATA, {})
    if not isinstance(metadata, dict) or not all(
        isinstance(value, str) for value in metadata.values()
    ):
        raise LoadError("safetensors: the metadata are no texts")
    return header, start


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise LoadError("safetensors: a name is in the header twice")
    return found


def _place_of(name: str, entry: Any) -> tuple[DType, tuple[int, ...], tuple[int, int]]:
    """Return dtype, shape and place of a tensor after a check."""
    match entry:
        case {"dtype": str(code), "shape": list(shape), "data_offsets": [start, end]}:
            pass
        case _:
            raise LoadError(f"safetensors: the entry of {name!r} is not of its form")
    if len(entry) != 3 or not all(type(n) is int and n >= 0 for n in shape):
        raise LoadError(f"safetensors: the shape of {name!r} is none")
    if len(shape) > _MOST_DIMENSIONS:
        raise LoadError(f"safetensors: {name!r} has {len(shape)} dimensions")
    dtype = _DTYPE_OF.get(code)
    if dtype is None:
        raise LoadError(f"safetensors: {name!r} is of {code}, which is not here")
    size = dtype.itemsize
    for n in shape:
        size *= n
    if type(start) is not int or type(end) is not int or start < 0:
        raise LoadError(f"safetensors: the place of {name!r} is none")
    if end - start != size:
        raise LoadError(
            f"safetensors: {name!r} needs {size} bytes, and its place has {end - start}"
        )
    return dtype, tuple(shape), (start, end)


def _check_places(places: list[tuple[int, int]], size: int) -> None:
    """Refuse places that overlap or leave holes."""
    end = 0
    for place in sorted(places):
        if place[0] != end:
            raise LoadError(
                f"safetensors: bytes {min(end, place[0])} to {max(end, place[0])} "
                "belong to no tensor, or to two"
            )
        end = place[1]
    if end != size:
        raise LoadError(
            f"safetensors: the tensors need {end} bytes, and the file has {size}; it "
            "may be cut off"
        )


def _tensor_of(data: bytes, dtype: DType, shape: tuple[int, ...], start: int) -> Tensor:
    try:
        array = np.empty(shape, dtype.numpy)
    except ValueError as error:
        raise LoadError(f"safetensors: no tensor has shape {shape}: {error}") from error
    flat = array.reshape(-1).view(np.uint8)
    flat[:] = np.frombuffer(data, np.uint8, flat.size, start)
    return wrap(array)
