"""safetensors: round trips, the form of the file, and damaged files."""

import json
import struct

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import ArgumentTypeError, ArgumentValueError, LoadError
from tracegrad.serialization import safetensors


def content(header, data=b"", pad=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += pad
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize("dtype", safetensors.CODES, ids=lambda d: d.name)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 2)])
def test_round_trip(dtype, shape):
    numbers = np.asarray(np.arange(int(np.prod(shape))).reshape(shape) % 2)
    x = tg.from_numpy(numbers).to(dtype)
    loaded = safetensors.load(safetensors.save({"x": x, "y": x + x}))
    assert list(loaded) == ["x", "y"]
    assert loaded["x"].dtype is dtype
    assert loaded["x"].shape == x.shape
    assert loaded["x"].tolist() == x.tolist()


def test_the_form_of_a_file():
    written = safetensors.save(
        {"b": tg.tensor([1], dtype=tg.int8), "a": tg.tensor([1.0])}, {"format": "pt"}
    )
    size = struct.unpack_from("<Q", written)[0]
    assert size % 8 == 0
    header = json.loads(written[8 : 8 + size])
    assert header == {
        "__metadata__": {"format": "pt"},
        "a": entry(shape=(1,), offsets=(0, 4)),
        "b": entry("I8", (1,), (4, 5)),
    }
    assert written[8 + size :] == struct.pack("<f", 1.0) + b"\x01"
    assert safetensors.load_metadata(written) == {"format": "pt"}


def test_files(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.save_file({"x": tg.ones(2, 3).T}, path)
    assert safetensors.load_file(path)["x"].tolist() == [[1, 1]] * 3


def test_loaded_tensors_can_be_written_to():
    loaded = safetensors.load(safetensors.save({"x": tg.ones(2)}))
    loaded["x"] += 1
    assert loaded["x"].tolist() == [2, 2]


def test_what_is_not_written():
    x = tg.ones(4)
    with pytest.raises(ArgumentValueError, match="share memory"):
        safetensors.save({"x": x, "y": x[:2]})
    with pytest.raises(ArgumentValueError, match="complex128"):
        safetensors.save({"x": tg.ones(2, dtype=tg.complex128)})
    for tensors in ({"x": 1}, {3: x}, {"__metadata__": x}):
        with pytest.raises(ArgumentTypeError):
            safetensors.save(tensors)
    with pytest.raises(ArgumentTypeError, match="metadata"):
        safetensors.save({"x": x}, {"a": 1})


GOOD = content({"x": entry()}, bytes(8))
BAD = {
    "empty": b"",
    "no header": bytes(8),
    "header too long": struct.pack("<Q", 2**63) + b"{}",
    "header longer than allowed": struct.pack("<Q", 100_000_001) + b"{}",
    "no JSON": content(b"{x}"),
    "a list": content(b"[]"),
    "space first": content(b" {}"),
    "deep JSON": content(b'{"a":' * 100_000),
    "twice": content(
        b'{"x":%b,"x":%b}' % ((json.dumps(entry()).encode(),) * 2), bytes(8)
    ),
    "entry no dict": content({"x": 3}),
    "entry lacks a part": content({"x": {"dtype": "F32", "shape": [2]}}),
    "entry has more": content({"x": {**entry(), "more": 1}}, bytes(8)),
    "unknown dtype": content({"x": entry("F8_E4M3", (8,))}, bytes(8)),
    "dtype no text": content({"x": entry(3)}, bytes(8)),
    "negative size": content({"x": entry(shape=(-2,))}, bytes(8)),
    "size no int": content({"x": entry(shape=(2.0,))}, bytes(8)),
    "size a bool": content({"x": entry(shape=(True, 2))}, bytes(8)),
    "huge size": content({"x": entry(shape=(2**62,))}, bytes(8)),
    "huge sizes and none": content(
        {"x": entry(shape=(2**62, 2**62, 0), offsets=(0, 0))}
    ),
    "many dimensions": content({"x": entry(shape=(1,) * 65, offsets=(0, 4))}, bytes(4)),
    "offsets swapped": content({"x": entry(offsets=(8, 0))}, bytes(8)),
    "offsets negative": content({"x": entry(offsets=(-8, 0))}, bytes(8)),
    "offsets no ints": content({"x": entry(offsets=(0.0, 8.0))}, bytes(8)),
    "one offset": content({"x": entry(offsets=(0,))}, bytes(8)),
    "size and place differ": content({"x": entry(offsets=(0, 4))}, bytes(4)),
    "beyond the file": content({"x": entry()}, bytes(4)),
    "more than is used": content({"x": entry()}, bytes(9)),
    "a hole": content({"x": entry(offsets=(8, 16))}, bytes(16)),
    "overlap": content({"x": entry(), "y": entry(offsets=(4, 12))}, bytes(12)),
    "same place": content({"x": entry(), "y": entry()}, bytes(8)),
    "metadata no texts": content({"__metadata__": {"a": 1}}),
    "metadata no dict": content({"__metadata__": []}),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_files(name):
    assert safetensors.load(GOOD)["x"].tolist() == [0, 0]
    with pytest.raises(LoadError):
        safetensors.load(BAD[name])


def test_cut_off_and_changed_anywhere():
    good = safetensors.save({"x": tg.ones(2), "y": tg.ones(1, dtype=tg.int64)})
    for length in range(len(good)):
        with pytest.raises(LoadError):
            safetensors.load(good[:length])
    for place in range(len(good)):
        for mask in (1, 0x80, 0xFF):
            changed = bytearray(good)
            changed[place] ^= mask
            try:
                safetensors.load(bytes(changed))
            except LoadError:
                continue


def test_padding_behind_the_header():
    assert safetensors.load(content({"x": entry()}, bytes(8), b"   "))["x"].shape == (
        2,
    )
