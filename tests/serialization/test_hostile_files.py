"""Damaged and hostile files: one clear error, nothing runs, little memory is taken."""

import io
import pathlib
import pickle
import pickletools
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracegrad as tg
from tracegrad.errors import DeviceError, LoadError
from tracegrad.serialization.archive import ArchiveWriter
from tracegrad.serialization.loading import run_restricted

FILES = pathlib.Path(__file__).parent / "files"
CONTENTS = {
    name: (FILES / f"{name}_torch_2_13_0.pt").read_bytes() for name in ("zip", "legacy")
}
MEBIBYTE = 2**20


def load(content):
    return tg.load(io.BytesIO(content))


def refused_or_loaded(content):
    """Load, and accept only the errors that damage may lead to."""
    try:
        load(content)
    except (LoadError, DeviceError):
        return False
    return True


def archive(program, **records):
    """Return a file with the pickle `program` and blocks of memory."""
    out = io.BytesIO()
    writer = ArchiveWriter(out)
    writer.write("data.pkl", program)
    writer.write("byteorder", b"little")
    for name, data in records.items():
        writer.write(f"data/{name[1:]}", data)
    writer.write("version", b"3\n")
    writer.close()
    return out.getvalue()


def text(value):
    encoded = value.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def number(value):
    data = value.to_bytes(16, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def row(values):
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(kind="FloatStorage", key="0", location="cpu", numel=2):
    named = text("storage") + b"ctorch\n" + kind.encode() + b"\n"
    return b"(" + named + text(key) + text(location) + number(numel) + b"tQ"


def tensor(memory=None, offset=0, size=(2,), stride=(1,)):
    parts = (memory or storage()) + number(offset) + row(size) + row(stride)
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + parts + b"\x89NtR"


EIGHT = bytes(8)

# -- damage ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["zip", "legacy"])
def test_cut_off_anywhere(name):
    content = CONTENTS[name]
    assert refused_or_loaded(content)
    for length in range(len(content)):
        with pytest.raises(LoadError):
            load(content[:length])


@pytest.mark.parametrize("name", ["zip", "legacy"])
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_one_byte_changed_anywhere(name, mask):
    content = bytearray(CONTENTS[name])
    for place in range(len(content)):
        content[place] ^= mask
        refused_or_loaded(bytes(content))
        content[place] ^= mask


def test_memory_that_was_changed_is_noticed():
    content = archive(tensor() + b".", _0=b"ABCDEFGH")
    assert load(content).shape == (2,)
    with pytest.raises(LoadError, match="checksum"):
        load(content.replace(b"ABCDEFGH", b"ABCDEFGX"))


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\x03\x04", b"hello", b"\x80\x02.", bytes(1000)]
)
def test_no_file_of_tensors(content):
    with pytest.raises(LoadError):
        load(content)


# -- programs --------------------------------------------------------------------------


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_random_pickles(program):
    refused_or_loaded(archive(program, _0=EIGHT))


CODES = [op.code.encode("latin-1") for op in pickletools.opcodes]
PIECES = [
    *CODES,
    storage(),
    tensor(),
    text("0"),
    number(2),
    number(-1),
    b"ctorch\nFloatStorage\n",
    b"ccollections\nOrderedDict\n",
    b"cbuiltins\nset\n",
    b"cbuiltins\nbytearray\n",
    b"q\x00",
    b"h\x00",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
@settings(max_examples=300, deadline=None)
def test_random_programs(pieces):
    refused_or_loaded(archive(b"\x80\x02" + b"".join(pieces) + b".", _0=EIGHT))


CALLS = [
    b"cos\nsystem\n",
    b"cposix\nsystem\n",
    b"cbuiltins\neval\n",
    b"c__builtin__\neval\n",
    b"cbuiltins\ngetattr\n",
    b"cnumpy\nload\n",
    b"ctracegrad\nload\n",
    b"ctorch\nload\n",
    b"ctorch.serialization\nload\n",
    b"ctorch._utils\n_rebuild_sparse_tensor\n",
    b"cbuiltins\nset.__class__\n",
    b"ccollections\nOrderedDict.fromkeys\n",
]


@pytest.mark.parametrize("named", CALLS)
def test_functions_are_refused_by_name_before_they_are_called(named):
    module, name = named[1:-1].decode().split("\n")
    full = f"{module}.{name}".replace("__builtin__", "builtins")
    with pytest.raises(LoadError, match=f"asks for {full}, and files may only"):
        load(archive(named + b"(X\x04\x00\x00\x00exittR."))


WRONG_PROGRAMS = {
    "calls a tensor": tensor() + b")R.",
    "calls a dtype": b"ctorch\nfloat32\n)R.",
    "calls without a tuple": b"ccollections\nOrderedDict\n]R.",
    "appends to a tuple": b")K\x01a.",
    "appends to a text": text("a") + b"K\x01a.",
    "sets an item of a list": b"]K\x01K\x02s.",
    "sets a state": b"}}b.",
    "sets the state of a tensor": tensor() + b"}b.",
    "key without a value": b"}(K\x01u.",
    "unhashable key": b"}]K\x01s.",
    "no stop": b"}",
    "two objects": b"}}.",
    "nothing": b".",
    "mark left": b"(}.",
    "unknown memo": b"h\x07.",
    "persistent id": text("x") + b"Q.",
    "protocol": b"\x80\x09}.",
    "instance": b"(ios\nsystem\n.",
    "extension": b"\x82\x01.",
    "old text": b"S'a'\n.",
    "text too long": b"X\xff\xff\xff\x7fa.",
    "bytes too long": b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7fa.",
    "bytearray too long": b"\x96\xff\xff\xff\xff\xff\xff\xff\x0fa.",
    "bytearray of a size": b"cbuiltins\nbytearray\n(J\xff\xff\xff\x7ftR.",
    "tensor of nothing": b"ctorch._utils\n_rebuild_tensor_v2\n)R.",
    "tensor without memory": b"ctorch._utils\n_rebuild_tensor_v2\n(NK\x00))\x89NtR.",
    "parameter of a list": b"ctorch._utils\n_rebuild_parameter\n(]\x88NtR.",
    "ints require grad": (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + storage("IntStorage")
        + b"K\x00(K\x02t(K\x01t\x88NtR."
    ),
    "attributes of a tensor": (
        b"ctorch._tensor\n_rebuild_from_type_v2\n("
        b"ctorch._utils\n_rebuild_meta_tensor_no_storage\nctorch\nTensor\n"
        b"(ctorch\nfloat32\n))\x89t}" + text("_array") + b"K\x01stR."
    ),
    "device": b"ctorch\ndevice\n(" + text("nowhere") + b"tR.",
    "complex": b"cbuiltins\ncomplex\n(" + text("1") + text("x") + b"tR.",
    "size": b"ctorch\nSize\n(" + text("ab") + b"tR.",
}


@pytest.mark.parametrize("name", WRONG_PROGRAMS)
def test_wrong_programs(name):
    with pytest.raises((LoadError, DeviceError)):
        load(archive(WRONG_PROGRAMS[name], _0=EIGHT))


def test_a_list_that_holds_itself():
    loaded = load(archive(b"]q\x00h\x00a."))
    assert loaded[0] is loaded


def test_deep_nesting():
    depth = 100_000
    program = b"]" * depth + b"a" * (depth - 1) + b"."
    assert len(load(archive(program))) == 1
    # A deep key would be hashed by recursion in C.
    with pytest.raises(LoadError, match="key"):
        load(archive(b"}" + b")" + b"\x85" * depth + b"Ns."))


# -- places of tensors -----------------------------------------------------------------

WRONG_TENSORS = {
    "offset below": tensor(offset=-1),
    "offset above": tensor(offset=2),
    "offset huge": tensor(offset=2**62),
    "size negative": tensor(size=(-2,)),
    "size above": tensor(size=(3,)),
    "size huge": tensor(size=(2**62,)),
    "size beyond 64 bits": tensor(size=(2**64,), stride=(0,)),
    "sizes whose product is huge": tensor(size=(2**40, 2**40), stride=(0, 0)),
    "stride negative": tensor(stride=(-1,)),
    "stride above": tensor(stride=(2,)),
    "stride huge": tensor(stride=(2**62,)),
    "strides missing": tensor(stride=()),
    "100 dimensions": tensor(size=(1,) * 100, stride=(1,) * 100),
    "memory too large": tensor(storage(numel=3)),
    "memory too small": tensor(storage(numel=1)),
    "memory negative": tensor(storage(numel=-2)),
    "memory huge": tensor(storage(numel=2**61)),
    "memory of another dtype": tensor(storage("DoubleStorage")),
    "memory unknown": tensor(storage("QInt8Storage")),
    "memory in two ways": (
        tensor() + b"0" + tensor(storage("IntStorage"))  # POP is not known either
    ),
    "no such record": tensor(storage(key="7")),
    "a record outside": tensor(storage(key="../data.pkl")),
    "an absolute record": tensor(storage(key="/etc/passwd")),
}


@pytest.mark.parametrize("name", WRONG_TENSORS)
def test_tensors_outside_their_memory(name):
    with pytest.raises(LoadError):
        load(archive(WRONG_TENSORS[name] + b".", _0=EIGHT))


def test_one_memory_told_in_two_ways():
    both = b"(" + tensor() + tensor(storage("IntStorage")) + b"t."
    with pytest.raises(LoadError, match="in two ways"):
        load(archive(both, _0=EIGHT))


# -- archives --------------------------------------------------------------------------


def zipped(entries, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, data in entries:
            file.writestr(name, data)
    return out.getvalue()


def test_a_compressed_record_is_refused_without_being_expanded():
    content = zipped(
        [("a/data.pkl", tensor() + b"."), ("a/data/0", bytes(50 * MEBIBYTE))],
        zipfile.ZIP_DEFLATED,
    )
    with pytest.raises(LoadError, match="compressed"), at_most(MEBIBYTE):
        load(content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "entries",
    [
        [],
        [("data.pkl", b"}.")],
        [("a/b/data.pkl", b"}.")],
        [("a/data.pkl", b"}."), ("b/data.pkl", b"}.")],
        [("a/data.pkl", b"}."), ("a/data.pkl", b"].")],
        [("a/data.pkl", b"}."), ("a/x", b"1"), ("a/x", b"2")],
        [("a/data.pkl", b"}."), ("a/constants.pkl", b"}.")],
        [("a/data.pkl", b"}."), ("a/byteorder", b"middle")],
    ],
)
def test_archives_of_another_form(entries):
    with pytest.raises(LoadError):
        load(zipped(entries))


def test_paths_in_names_lead_nowhere():
    loaded = load(zipped([("a/data.pkl", b"}."), ("../../x", b"1"), ("/etc/x", b"1")]))
    assert loaded == {}


def test_records_that_overlap():
    content = bytearray(archive(b"}.", _0=bytes(100), _1=bytes(100)))
    directory = content.index(b"PK\x01\x02")
    places = []
    at = directory
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        places.append(at)
        at += 4
    # Both blocks begin where the first one does.
    offset = content[places[2] + 42 : places[2] + 46]
    content[places[3] + 42 : places[3] + 46] = offset
    with pytest.raises(LoadError, match=r"overlap|damaged"):
        load(bytes(content))


# -- memory ----------------------------------------------------------------------------


class at_most:  # noqa: N801 - a context manager used like a function
    """Check that a block takes no more memory than that at any time."""

    def __init__(self, limit):
        self.limit = limit

    def __enter__(self):
        tracemalloc.start()

    def __exit__(self, *exception):
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < self.limit, f"{peak} bytes"


def test_little_memory_is_taken_by_claims():
    for program in (
        tensor(storage(numel=2**50)),
        tensor(size=(2**50,)),
        b"X\xff\xff\xff\xff",
        b"\x96\xff\xff\xff\xff\xff\xff\xff\x0f",
        b"\x8b\xff\xff\xff\x7f",
    ):
        with pytest.raises(LoadError), at_most(MEBIBYTE):
            load(archive(program + b".", _0=EIGHT))
    with at_most(MEBIBYTE):
        load(archive(b"}r\xff\xff\xff\x7f."))


def test_an_expanded_tensor_takes_the_memory_of_its_file():
    with at_most(MEBIBYTE):
        loaded = load(archive(tensor(size=(2**40,), stride=(0,)) + b".", _0=EIGHT))
    assert loaded.shape == (2**40,)


def test_copies_of_copies():
    copied = b"cbuiltins\nbytearray\nq\x01" + text("a" * 100_000) + b"q\x02"
    program = b"(" + copied + b"(h\x01(h\x02" + text("latin1") + b"tR" * 1
    repeated = b"h\x01(h\x02" + text("latin1") + b"tR"
    with pytest.raises(LoadError, match="again and again"), at_most(20 * MEBIBYTE):
        load(archive(program + repeated * 2000 + b"."))


def test_old_files_that_claim_memory():
    parts = [
        pickle.dumps(0x1950A86A20F9469CFC6C, 2),
        pickle.dumps(1001, 2),
        pickle.dumps({"little_endian": True}, 2),
    ]
    memory = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0")
    memory += text("cpu") + number(2**40) + b"NtQ"
    with pytest.raises(LoadError, match="more memory than it has"), at_most(MEBIBYTE):
        load(b"".join([*parts, tensor(memory) + b".", pickle.dumps(["0"], 2)]))


def test_the_machine_reads_what_pickle_writes():
    obj = {"a": [1, -5, 2**70, 1.5, None, True, "ä" * 300, b"x" * 300], 2: (1, {3, 4})}
    for protocol in (2, 3, 4, 5):
        program = pickle.dumps(obj, protocol)
        found, end = run_restricted(program, 0, lambda entry: None)
        assert found == obj
        assert end == len(program)
