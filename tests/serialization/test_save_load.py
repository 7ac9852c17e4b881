"""save and load without PyTorch: round trips, places, trust, and the old format."""

import io
import pathlib
import sys

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn, serialization
from tracegrad.errors import ArgumentTypeError, DeviceError, LoadError

FILES = pathlib.Path(__file__).parent / "files"


def saved(obj):
    file = io.BytesIO()
    tg.save(obj, file)
    file.seek(0)
    return file


def round_trip(obj, **settings):
    return tg.load(saved(obj), **settings)


@pytest.mark.parametrize("name", ["zip", "legacy"])
def test_files_that_pytorch_wrote(name):
    loaded = tg.load(FILES / f"{name}_torch_2_13_0.pt")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(loaded["x"].numpy(), x)
    assert np.array_equal(loaded["view"].numpy(), x[1:, ::2])
    assert type(loaded["parameter"]) is nn.Parameter
    assert loaded["parameter"].requires_grad
    loaded["x"].zero_()
    assert not loaded["view"].any()
    assert not loaded["parameter"].any()
    assert loaded["ordered"] == {"a": 1}
    assert loaded["dtype"] is tg.float16
    assert loaded["size"] == tg.Size([1, 2])
    assert loaded["device"] == tg.device("cpu")
    assert loaded["bf16"].dtype is tg.bfloat16
    assert loaded["bf16"].tolist() == [1.0, -2.5]
    expected = [1, -1, 300, 2**40, 1.5, True, None, "ä", b"\xff", (1, 2, 3, 4)]
    assert loaded["numbers"] == expected


def test_sharing_survives():
    base = tg.zeros(3, 4)
    tied = nn.Parameter(base)
    one, two, three, four = round_trip([base, base[1:, ::2].T, tied, tied])
    assert three is four
    two.fill_(1)
    assert one.sum() == 4
    assert three.sum() == 4


def test_a_part_of_foreign_memory_is_copied():
    foreign = np.arange(20, dtype=np.float32)[::-1]
    x = tg.from_numpy(np.ascontiguousarray(foreign)[2:8])
    assert round_trip(x).tolist() == x.tolist()
    read_only = tg.tensor([1.0, 2.0]).expand(3, 2)
    assert round_trip(read_only).tolist() == [[1.0, 2.0]] * 3


def test_states_of_generators():
    tg.manual_seed(3)
    tg.rand(5)
    state = round_trip(tg.get_rng_state())
    first = tg.rand(3).tolist()
    tg.set_rng_state(state)
    assert tg.rand(3).tolist() == first


def test_paths_and_files(tmp_path):
    path = tmp_path / "x.pt"
    tg.save({"x": tg.ones(2)}, path)
    for place in (path, str(path)):
        assert tg.load(place)["x"].tolist() == [1, 1]
    with open(path, "rb") as file:
        assert tg.load(file)["x"].tolist() == [1, 1]
    with pytest.raises(ArgumentTypeError, match="path or a file"):
        tg.save(1, 3)
    with pytest.raises(ArgumentTypeError, match="path or a file"):
        tg.load(3)
    with pytest.raises(FileNotFoundError):
        tg.load(tmp_path / "absent.pt")


def test_the_same_state_gives_the_same_file():
    assert saved(tg.arange(3)).getvalue() == saved(tg.arange(3)).getvalue()


def test_what_cannot_be_pickled_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "x.pt"
    tg.save(1, path)
    with pytest.raises(Exception, match="pickle"):
        tg.save(lambda: None, path)
    assert tg.load(path) == 1


def test_mapped_files_are_copied_when_written_to(tmp_path):
    path = tmp_path / "x.pt"
    tg.save([tg.arange(100.0), tg.tensor([1, 2])], path)
    large, small = tg.load(path, mmap=True)
    large += 1
    assert large.sum() == 5050
    assert small.tolist() == [1, 2]
    assert tg.load(path)[0].sum() == 4950


def test_map_location():
    x = tg.ones(2)
    for place in (
        None,
        "cpu",
        tg.device("cpu"),
        {"cuda:0": "cpu"},
        lambda storage, location: storage,
        lambda storage, location: storage.cpu(),
        lambda storage, location: None,
    ):
        assert round_trip(x, map_location=place).tolist() == [1, 1]
    on_meta = round_trip({"x": x}, map_location="meta")["x"]
    assert on_meta.is_meta
    assert on_meta.shape == (2,)
    with pytest.raises(ArgumentTypeError, match="map_location"):
        round_trip(x, map_location=3)


def test_a_file_of_a_device_that_is_not_here():
    content = saved(tg.ones(2)).getvalue()
    pickled = content.replace(b"X\x03\x00\x00\x00cpu", b"X\x03\x00\x00\x00xla")
    file = io.BytesIO(with_checksums(pickled))
    with pytest.raises(DeviceError, match="map_location='cpu'"):
        tg.load(file)
    file.seek(0)
    assert tg.load(file, map_location="cpu").tolist() == [1, 1]
    file.seek(0)
    assert tg.load(file, map_location={"xla": "cpu"}).tolist() == [1, 1]


def with_checksums(content):
    """Return an archive whose records were changed, with their new checksums."""
    source = serialization.archive.zipfile.ZipFile(io.BytesIO(content))
    out = io.BytesIO()
    writer = serialization.archive.ArchiveWriter(out)
    for info in source.infolist():
        start = info.header_offset + 30
        header = content[info.header_offset : start]
        start += int.from_bytes(header[26:28], "little")
        start += int.from_bytes(header[28:30], "little")
        name = info.filename.partition("/")[2]
        writer.write(name, content[start : start + info.file_size])
    writer.close()
    return out.getvalue()


class Own:
    def __init__(self, number):
        self.number = number


class Loud:
    """Says that it was made, which loading must not do."""

    made = 0

    def __init__(self):
        Loud.made += 1

    def __reduce__(self):
        return (Loud, ())


def test_other_objects_are_refused_by_name_and_nothing_runs():
    file = saved({"a": Loud()})
    before = Loud.made
    with pytest.raises(LoadError, match=r"test_save_load\.Loud, and files may only"):
        tg.load(file)
    assert Loud.made == before
    with pytest.raises(LoadError, match=r"numpy.*_reconstruct, and files may only"):
        round_trip(np.zeros(3))


def test_declaring_classes_safe():
    file = saved(Own(3))
    with pytest.raises(LoadError, match="Own"):
        tg.load(file)
    with serialization.safe_globals([Own]):
        assert serialization.get_safe_globals() == [Own]
        file.seek(0)
        assert tg.load(file).number == 3
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([(Own, f"{__name__}.Own")])
    file.seek(0)
    assert tg.load(file).number == 3
    serialization.clear_safe_globals()
    file.seek(0)
    with pytest.raises(LoadError, match="Own"):
        tg.load(file)


def test_trusted_files_may_hold_anything():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    loaded = round_trip(model, weights_only=False)
    x = tg.ones(1, 2)
    assert loaded(x).tolist() == model(x).tolist()
    assert np.array_equal(round_trip(np.arange(3), weights_only=False), [0, 1, 2])


def test_the_other_byte_order():
    other = "big" if sys.byteorder == "little" else "little"
    out = io.BytesIO()
    source = saved(tg.tensor([1.0, -2.5]))
    archive = serialization.archive.ArchiveReader(source)
    writer = serialization.archive.ArchiveWriter(out)
    for name in ("data.pkl", "version"):
        writer.write(name, archive.read(name).tobytes())
    writer.write("byteorder", other.encode())
    swapped = archive.read("data/0").view(np.float32).byteswap()
    writer.write("data/0", swapped.tobytes())
    writer.close()
    out.seek(0)
    assert tg.load(out).tolist() == [1.0, -2.5]


def test_modules_load_with_their_metadata():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    state = round_trip(model.state_dict())
    twin = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    twin.load_state_dict(state)
    assert twin[0].weight.tolist() == model[0].weight.tolist()
