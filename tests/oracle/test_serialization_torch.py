"""Files go both ways between tracegrad and PyTorch."""

import collections
import io

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn, optim

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
FORMATS = [{}, {"_use_new_zipfile_serialization": False}]


def from_torch(obj, **settings):
    file = io.BytesIO()
    torch.save(obj, file, **settings)
    file.seek(0)
    return tg.load(file)


def to_torch(obj, **settings):
    file = io.BytesIO()
    tg.save(obj, file)
    file.seek(0)
    return torch.load(file, **settings)


def plain(value):
    """Return tensors of either library as comparable data."""
    if isinstance(value, tg.Tensor | torch.Tensor):
        kind = type(value).__name__
        place = (str(value.dtype).split(".")[-1], str(value.device))
        form = (tuple(value.shape), tuple(value.stride()), value.storage_offset())
        numbers = [] if value.is_meta else value.detach().tolist()
        return (kind, *place, *form, value.requires_grad, numbers)
    if isinstance(value, dict):
        entries = [(plain(k), plain(v)) for k, v in value.items()]
        return (type(value).__name__, entries)
    if isinstance(value, list | tuple):
        return (type(value).__name__, [plain(v) for v in value])
    return str(value).replace("tracegrad", "torch")


def everything(lib, parameter):
    x = lib.arange(12.0).reshape(3, 4)
    return {
        "x": x,
        "view": x[1:, ::2],
        "transposed": x.T,
        "expanded": x[:1].expand(5, 4),
        "parameter": parameter(x),
        "frozen": parameter(x, requires_grad=False),
        "leaf": lib.ones(2, requires_grad=True),
        "ordered": collections.OrderedDict(a=1, b=x),
        "empty": lib.zeros(0, 3),
        "scalar": lib.tensor(3),
        "meta": lib.ones(2, 3, device="meta"),
        "dtype": lib.float16,
        "size": lib.Size([1, 2]),
        "device": lib.device("cpu"),
        "plain": [
            None,
            True,
            False,
            1,
            -1,
            300,
            2**40,
            -(10**30),
            1.5,
            "ä",
            b"\x00\xff",
        ],
        "long": list(range(2000)),
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "others": [bytearray(b"x"), 1j, {1}],
        3: {"counter": collections.Counter("aab")},
    }


@pytest.mark.parametrize("settings", FORMATS)
def test_everything_from_torch(settings):
    theirs = everything(torch, torch.nn.Parameter)
    assert plain(from_torch(theirs, **settings)) == plain(theirs)


def test_everything_to_torch():
    ours = everything(tg, nn.Parameter)
    assert plain(to_torch(ours)) == plain(ours)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("settings", FORMATS)
def test_dtypes(name, settings):
    numbers = [[0, 1], [1, 0]]
    theirs = torch.tensor(numbers, dtype=getattr(torch, name)).T
    assert plain(from_torch(theirs, **settings)) == plain(theirs)
    ours = tg.tensor(numbers, dtype=getattr(tg, name)).T
    assert plain(to_torch(ours)) == plain(ours)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(protocol):
    theirs = everything(torch, torch.nn.Parameter)
    assert plain(from_torch(theirs, pickle_protocol=protocol)) == plain(theirs)


def test_memory_is_shared_on_both_ways():
    theirs = torch.zeros(6)
    loaded = from_torch([theirs, theirs[2:], theirs])
    loaded[1].add_(1)
    assert loaded[0].tolist() == [0, 0, 1, 1, 1, 1]
    assert loaded[2] is loaded[0]
    ours = tg.zeros(6)
    loaded = to_torch([ours, ours[2:], ours])
    loaded[1].add_(1)
    assert loaded[0].tolist() == [0, 0, 1, 1, 1, 1]
    assert loaded[2] is loaded[0]


def test_two_dtypes_of_one_memory_are_refused_as_in_torch():
    for lib in (tg, torch):
        x = lib.zeros(4)
        with pytest.raises(RuntimeError):
            lib.save([x, x.view(lib.int32)], io.BytesIO())


def models(middle="BatchNorm1d"):
    return [
        lib.Sequential(
            lib.Linear(3, 4),
            getattr(lib, middle)(*([4] * (middle != "Tanh"))),
            lib.Linear(4, 2),
        )
        for lib in (nn, torch.nn)
    ]


def test_states_of_modules():
    ours, theirs = models()
    ours.load_state_dict(from_torch(theirs.state_dict()))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())
    tg.manual_seed(0)
    for parameter in ours.parameters():
        with tg.no_grad():
            parameter.normal_()
    theirs.load_state_dict(to_torch(ours.state_dict()))
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())


def trained(lib, model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(lib.arange(12.0).reshape(4, 3)).square().mean().backward()
        optimizer.step()
    return [p.detach().numpy().copy() for p in model.parameters()]


@pytest.mark.parametrize("name", ["Adam", "SGD", "AdamW", "RMSprop"])
def test_states_of_optimizers(name):
    settings = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}
    # Without a normalization, before which a bias has no gradient but rounding.
    ours, theirs = models("Tanh")
    our_optimizer = getattr(optim, name)(ours.parameters(), **settings)
    their_optimizer = getattr(torch.optim, name)(theirs.parameters(), **settings)
    trained(torch, theirs, their_optimizer, 3)
    ours.load_state_dict(from_torch(theirs.state_dict()))
    our_optimizer.load_state_dict(from_torch(their_optimizer.state_dict()))
    found = trained(tg, ours, our_optimizer, 3)
    for a, b in zip(found, trained(torch, theirs, their_optimizer, 3), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    theirs.load_state_dict(to_torch(ours.state_dict()))
    their_optimizer.load_state_dict(to_torch(our_optimizer.state_dict()))
    found = trained(tg, ours, our_optimizer, 3)
    for a, b in zip(found, trained(torch, theirs, their_optimizer, 3), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_generator_states_from_torch():
    theirs = torch.Generator().manual_seed(3)
    torch.rand(5, generator=theirs)
    ours = tg.Generator()
    ours.set_state(from_torch(theirs.get_state()).numpy())
    assert tg.rand(4, generator=ours).tolist() == (
        torch.rand(4, generator=theirs).tolist()
    )


def test_attributes_of_tensors():
    theirs = torch.zeros(2)
    theirs.label = "three"
    loaded = from_torch(theirs)
    assert loaded.label == "three"
    ours = nn.Parameter(tg.zeros(2))
    ours.label = ["three"]
    loaded = to_torch(ours)
    assert type(loaded) is torch.nn.Parameter
    assert loaded.label == ["three"]


class Own:
    def __init__(self):
        self.number = 3


def test_what_torch_refuses_is_refused():
    for obj in (Own(), np.zeros(2), np.float64(1), torch.nn.Linear(2, 2), print):
        file = io.BytesIO()
        torch.save(obj, file)
        for lib in (torch, tg):
            file.seek(0)
            with pytest.raises(Exception, match=r"\w") as caught:
                lib.load(file)
        assert "files may only hold tensors and plain containers" in str(caught.value)


def test_modules_of_torch_when_trusted():
    torch.manual_seed(0)
    theirs = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    file = io.BytesIO()
    torch.save(theirs.state_dict(), file)
    file.seek(0)
    loaded = tg.load(file, weights_only=False)
    assert plain(dict(loaded)) == plain(dict(theirs.state_dict()))
