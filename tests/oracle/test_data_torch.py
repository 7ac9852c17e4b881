"""Loaders, samplers and splits draw PyTorch's numbers from PyTorch's seeds."""

import random

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import data

torch = pytest.importorskip("torch")
tdata = torch.utils.data

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*worker processes in total:UserWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:'pin_memory':UserWarning"),
    pytest.mark.filterwarnings("ignore:pin_memory is set:UserWarning"),
]


def lists(batches):
    return [batch.tolist() for batch in batches]


LOADERS = [
    {"batch_size": 4, "shuffle": True},
    {"batch_size": 4, "shuffle": True, "drop_last": True},
    {"batch_size": None, "shuffle": True},
    {"batch_size": 3},
]


@pytest.mark.parametrize("settings", LOADERS)
def test_epochs_and_what_is_drawn_after_them(settings):
    found = {}
    for lib, tools in ((tg, data), (torch, tdata)):
        lib.manual_seed(5)
        loader = tools.DataLoader(np.arange(11), **settings)
        epochs = [lists(loader), lists(loader)]
        after = lib.rand(3).tolist()
        found[lib] = (epochs, after, len(loader))
    assert found[tg] == found[torch]


def test_loader_with_a_generator():
    found = {}
    for lib, tools in ((tg, data), (torch, tdata)):
        generator = lib.Generator().manual_seed(3)
        loader = tools.DataLoader(
            range(10), batch_size=3, shuffle=True, generator=generator
        )
        found[lib] = [
            lists(loader),
            lists(loader),
            lib.rand(2, generator=generator).tolist(),
        ]
    assert found[tg] == found[torch]


SAMPLERS = [
    ("RandomSampler", (range(10),), {}),
    ("RandomSampler", (range(10),), {"num_samples": 25}),
    ("RandomSampler", (range(10),), {"replacement": True, "num_samples": 70}),
    ("SubsetRandomSampler", ([5, 7, 9, 11],), {}),
    ("WeightedRandomSampler", ([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5), {}),
    ("WeightedRandomSampler", ([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 1), {}),
    ("WeightedRandomSampler", ([0.1, 0.9, 0.0, 0.7, 3.0, 0.6], 5, False), {}),
    ("WeightedRandomSampler", (list(range(1, 300)), 200, False), {}),
    ("WeightedRandomSampler", (list(range(1, 300)), 2000, True), {}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), SAMPLERS)
@pytest.mark.parametrize("own", [False, True])
def test_samplers(name, args, kwargs, own):
    found = {}
    for lib, tools in ((tg, data), (torch, tdata)):
        lib.manual_seed(7)
        given = dict(kwargs)
        if own:
            given["generator"] = lib.Generator().manual_seed(11)
        sampler = getattr(tools, name)(*args, **given)
        found[lib] = [list(sampler), list(sampler), len(sampler), lib.rand(1).item()]
    assert found[tg] == found[torch]


@pytest.mark.parametrize("lengths", [[3, 7], [0.5, 0.5], [0.3, 0.3, 0.4], [10]])
def test_random_split(lengths):
    found = {}
    for lib, tools in ((tg, data), (torch, tdata)):
        lib.manual_seed(1)
        parts = tools.random_split(range(10), lengths)
        seeded = tools.random_split(
            range(10), lengths, generator=lib.Generator().manual_seed(2)
        )
        found[lib] = [list(p.indices) for p in parts + seeded]
    assert found[tg] == found[torch]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("count", [10, 12, 2])
def test_distributed_sampler(shuffle, drop_last, count):
    found = {}
    for lib, kind in (
        (tg, data.DistributedSampler),
        (torch, tdata.distributed.DistributedSampler),
    ):
        epochs = []
        for rank in range(4):
            sampler = kind(
                range(count), 4, rank, shuffle=shuffle, seed=3, drop_last=drop_last
            )
            sampler.set_epoch(2)
            epochs.append((list(sampler), len(sampler)))
        found[lib] = epochs
    assert found[tg] == found[torch]


class Draws:
    """Draws from all three global generators of a worker."""

    def __init__(self, lib):
        self.lib = lib

    def __len__(self):
        return 6

    def __getitem__(self, index):
        return (
            index,
            float(self.lib.rand(1).item()),
            random.random(),
            float(np.random.rand()),
        )


@pytest.mark.parametrize("persistent", [False, True])
def test_worker_seeds(persistent):
    found = {}
    for lib, tools in ((tg, data), (torch, tdata)):
        lib.manual_seed(9)
        loader = tools.DataLoader(
            Draws(lib),
            batch_size=2,
            shuffle=True,
            num_workers=2,
            persistent_workers=persistent,
        )
        epochs = [[[c.tolist() for c in b] for b in loader] for _ in range(2)]
        found[lib] = (epochs, lib.rand(2).tolist())
    assert found[tg] == found[torch]


def shared(tools):
    """Return an iterable dataset of which each worker gives its own part."""

    class Shared(tools.IterableDataset):
        def __iter__(self):
            info = tools.get_worker_info()
            first, step = (info.id, info.num_workers) if info else (0, 1)
            return iter(range(first, 9, step))

    return Shared()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("batch_size", [2, 3, None])
def test_iterable_datasets(workers, drop_last, batch_size):
    if batch_size is None and drop_last:
        pytest.skip("drop_last is for batches")
    found = {}
    for lib, tools in ((tg, data), (torch, tdata)):
        loader = tools.DataLoader(
            shared(tools), batch_size, num_workers=workers, drop_last=drop_last
        )
        items = [b.tolist() if hasattr(b, "tolist") else b for b in loader]
        found[lib] = items
    assert found[tg] == found[torch]


BATCHES = [
    [1, 2, 3],
    [1.5, 2.0],
    [True, False],
    ["a", "b"],
    [b"a", b"b"],
    [(1, 2.0), (3, 4.0)],
    [[1, 2.0], [3, 4.0]],
    [{"a": 1, "b": [2.0]}, {"a": 3, "b": [4.0]}],
    [np.float32(1), np.float32(2)],
    [np.int16(1), np.int16(2)],
    [np.zeros(2, np.float32), np.ones(2, np.float32)],
    [np.zeros((2, 1), np.uint8), np.ones((2, 1), np.uint8)],
    [np.bool_(True), np.bool_(False)],
    [range(2), range(2)],
]


def described(value):
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return (str(value.dtype).split(".")[-1], tuple(value.shape), value.tolist())
    if isinstance(value, dict):
        return {k: described(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(described, value))
    return value


@pytest.mark.parametrize("batch", BATCHES)
def test_default_collate(batch):
    assert described(data.default_collate(batch)) == described(
        tdata.default_collate(batch)
    )


@pytest.mark.parametrize("batch", BATCHES)
def test_default_convert(batch):
    for sample in [*batch, batch]:
        assert described(data.default_convert(sample)) == described(
            tdata.default_convert(sample)
        )


def outcome(call):
    try:
        return call()
    except Exception as error:
        return next(
            kind.__name__
            for kind in type(error).__mro__
            if kind.__module__ == "builtins"
        )


class Loose:
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index


def stream(tools):
    class Stream(tools.IterableDataset):
        def __iter__(self):
            return iter(())

    return Stream()


MISTAKES = [
    lambda t: t.DataLoader(Loose(), batch_size=0),
    lambda t: t.DataLoader(Loose(), batch_size=2.5),
    lambda t: t.DataLoader(Loose(), num_workers=-1),
    lambda t: t.DataLoader(Loose(), timeout=-1),
    lambda t: t.DataLoader(Loose(), prefetch_factor=2),
    lambda t: t.DataLoader(Loose(), persistent_workers=True),
    lambda t: t.DataLoader(Loose(), batch_size=None, drop_last=True),
    lambda t: t.DataLoader(Loose(), shuffle=True, sampler=[0]),
    lambda t: t.DataLoader(Loose(), batch_sampler=[[0]], batch_size=2),
    lambda t: t.DataLoader(Loose(), multiprocessing_context="fork"),
    lambda t: t.DataLoader(Loose(), num_workers=1, multiprocessing_context="x"),
    lambda t: t.DataLoader(Loose(), num_workers=1, multiprocessing_context=3),
    lambda t: t.DataLoader(stream(t), shuffle=True),
    lambda t: t.DataLoader(stream(t), sampler=[0]),
    lambda t: t.DataLoader(stream(t), batch_sampler=[[0]]),
    lambda t: setattr(t.DataLoader(Loose()), "batch_size", 3),
    lambda t: t.RandomSampler([]),
    lambda t: t.RandomSampler([1], replacement=1),
    lambda t: t.RandomSampler([1], num_samples=-1),
    lambda t: t.WeightedRandomSampler([1.0], 0),
    lambda t: t.WeightedRandomSampler([[1.0]], 1),
    lambda t: t.WeightedRandomSampler([1.0], 1, replacement=1),
    lambda t: list(t.WeightedRandomSampler([1.0], 2, replacement=False)),
    lambda t: list(t.WeightedRandomSampler([0.0], 1)),
    lambda t: list(t.WeightedRandomSampler([-1.0, 2.0], 1)),
    lambda t: t.BatchSampler([1], 0, False),
    lambda t: t.BatchSampler([1], 1, 1),
    lambda t: t.random_split([1, 2], [1, 2]),
    lambda t: t.random_split([1, 2], [-0.5, 1.5]),
    lambda t: t.ConcatDataset([]),
    lambda t: t.ConcatDataset([stream(t)]),
    lambda t: t.ConcatDataset([[1, 2]])[-3],
    lambda t: t.StackDataset(),
    lambda t: t.StackDataset([1], [1, 2]),
    lambda t: t.StackDataset([1], a=[1]),
    lambda t: list(t.ChainDataset([[1]])),
    lambda t: t.Dataset()[0],
    lambda t: t.default_collate([object()]),
    lambda t: t.default_collate([[1], [1, 2]]),
    lambda t: t.default_collate([np.array(["a"])]),
    lambda t: len(t.DataLoader(stream(t))),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_raise_the_same_builtin(number):
    mistake = MISTAKES[number]
    assert type(outcome(lambda: mistake(data))) is type(outcome(lambda: mistake(tdata)))
    assert outcome(lambda: mistake(data)) == outcome(lambda: mistake(tdata))
