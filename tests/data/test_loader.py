"""DataLoader: batches, worker processes, their failures and their end."""

import gc
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    default_collate,
    get_worker_info,
)
from tracegrad.errors import NotSupportedError, WorkerError

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Squares(Dataset):
    def __init__(self, count=10):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index * index


class Fails(Squares):
    def __init__(self, error):
        super().__init__(6)
        self.error = error

    def __getitem__(self, index):
        if index == 3:
            raise self.error
        return index


class TwoArgumentsError(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


def lists(loader):
    return [batch.tolist() for batch in loader]


def flat(loader):
    return [number for batch in lists(loader) for number in batch]


def no_children_left():
    # An exception and its frames, which hold an iterator, refer to each other.
    gc.collect()
    deadline = time.monotonic() + 5
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_workers_give_the_batches_in_order(workers):
    loader = DataLoader(Squares(), batch_size=3, num_workers=workers)
    expected = [[0, 1, 4], [9, 16, 25], [36, 49, 64], [81]]
    assert lists(loader) == expected
    assert lists(loader) == expected
    assert len(loader) == 4
    assert no_children_left()


def test_tensors_of_workers_are_the_same():
    x = tg.arange(12.0).reshape(6, 2)
    y = tg.arange(6)
    plain = list(DataLoader(TensorDataset(x, y), batch_size=4))
    fetched = list(DataLoader(TensorDataset(x, y), batch_size=4, num_workers=2))
    for (a, b), (c, d) in zip(plain, fetched, strict=True):
        assert np.array_equal(a.numpy(), c.numpy())
        assert np.array_equal(b.numpy(), d.numpy())
        assert a.dtype is c.dtype
        assert b.dtype is d.dtype


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_start_methods(method):
    # A class that another process can import, as spawning needs.
    dataset = StackDataset([1, 2, 3], ["a", "b", "c"])
    loader = DataLoader(dataset, num_workers=1, multiprocessing_context=method)
    assert len(list(loader)) == 3
    assert no_children_left()


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ValueError("broken sample"), ValueError),
        (KeyError("broken sample"), KeyError),
        (StopIteration("broken sample"), StopIteration),
        (TwoArgumentsError("broken sample", 2), RuntimeError),
    ],
)
def test_a_workers_error_arrives_with_its_traceback(error, raised):
    loader = DataLoader(Fails(error), num_workers=2)
    seen = []
    with pytest.raises(raised) as caught:
        seen.extend(next_of(loader))
    text = str(caught.value)
    assert "in DataLoader worker process 1" in text
    assert "broken sample" in text
    assert "in __getitem__" in text
    assert "\n" in text


def next_of(loader):
    iterator = iter(loader)
    return [next(iterator) for _ in range(6)]


def test_the_iterator_goes_on_behind_an_error():
    iterator = iter(DataLoader(Fails(ValueError("x")), num_workers=2))
    assert [next(iterator).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="worker process"):
        next(iterator)
    assert [batch.item() for batch in iterator] == [4, 5]


def test_an_error_of_worker_init_fn():
    def init(worker):
        raise OSError("no init")

    with pytest.raises(OSError, match="no init"):
        list(DataLoader(Squares(), num_workers=1, worker_init_fn=init))


def test_what_cannot_be_sent_is_an_error_too():
    loader = DataLoader(
        Squares(), num_workers=1, collate_fn=lambda samples: lambda: samples
    )
    with pytest.raises(Exception, match="in DataLoader worker process 0"):
        list(loader)


class Dies(Squares):
    def __getitem__(self, index):
        if index == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return index


def test_a_worker_that_dies_is_noticed():
    start = time.monotonic()
    with pytest.raises(WorkerError, match=r"exited unexpectedly: by signal 9"):
        list(DataLoader(Dies(), num_workers=2))
    assert time.monotonic() - start < 4
    assert no_children_left()


class Sleeps(Squares):
    def __getitem__(self, index):
        time.sleep(30)


def test_timeout():
    loader = DataLoader(Squares(2), num_workers=1, timeout=10)
    assert lists(loader) == [[0], [1]]
    iterator = iter(DataLoader(Sleeps(), num_workers=1, timeout=0.2))
    with pytest.raises(WorkerError, match=r"timed out after 0\.2 seconds"):
        next(iterator)
    for process in multiprocessing.active_children():
        process.kill()


def test_an_iterator_that_is_dropped_ends_its_workers():
    iterator = iter(DataLoader(Squares(1000), num_workers=2))
    next(iterator)
    assert len(multiprocessing.active_children()) == 2
    del iterator
    assert no_children_left()


class Large(Squares):
    def __getitem__(self, index):
        return tg.zeros(300_000)


def test_large_batches_that_nobody_reads_keep_no_worker_alive():
    iterator = iter(DataLoader(Large(50), num_workers=2, prefetch_factor=3))
    assert next(iterator).shape == (1, 300_000)
    start = time.monotonic()
    del iterator
    assert no_children_left()
    assert time.monotonic() - start < 4


def test_persistent_workers_live_on():
    loader = DataLoader(Pids(), num_workers=2, persistent_workers=True, batch_size=None)
    first = set(loader)
    iterator = iter(loader)
    next(iterator)
    assert set(loader) == first
    assert len(first) == 2
    loader._iterator._workers.shut_down()
    assert no_children_left()


class Pids(Squares):
    def __getitem__(self, index):
        return os.getpid()


class Counts(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __iter__(self):
        info = get_worker_info()
        step = info.num_workers if info else 1
        return iter(range(info.id if info else 0, self.count, step))


def test_persistent_workers_of_an_iterable_dataset():
    loader = DataLoader(Counts(7), 2, num_workers=2, persistent_workers=True)
    epochs = [sorted(flat(loader)) for _ in range(3)]
    assert epochs == [list(range(7))] * 3


def test_one_worker_has_more_than_the_other():
    class Uneven(IterableDataset):
        def __iter__(self):
            return iter(range(10 if get_worker_info().id else 1))

    found = flat(DataLoader(Uneven(), 2, num_workers=2))
    assert sorted(found) == sorted([0, *range(10)])


def test_the_length_of_an_iterable_dataset_is_held_against_what_comes():
    class Liar(Counts):
        def __len__(self):
            return 2

    loader = DataLoader(Liar(5))
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="reported to be 2"):
        list(loader)


class SlowFirst(Squares):
    def __getitem__(self, index):
        if index == 0:
            time.sleep(0.5)
        return index


def test_out_of_order():
    loader = DataLoader(SlowFirst(8), num_workers=2, in_order=False)
    found = flat(loader)
    assert sorted(found) == list(range(8))
    assert found[0] != 0


def test_worker_info():
    class Info(Squares):
        def __getitem__(self, index):
            info = get_worker_info()
            return (info.id, info.num_workers, info.dataset is self)

    assert get_worker_info() is None
    first, second = list(DataLoader(Info(2), num_workers=2, batch_size=None))
    assert [x.item() if hasattr(x, "item") else x for x in first] == [0, 2, True]
    assert [x.item() if hasattr(x, "item") else x for x in second] == [1, 2, True]


def test_batches_of_a_dataset_that_gives_several_at_once():
    class Several(Squares):
        def __getitems__(self, indices):
            return [index + 0.5 for index in indices]

    assert lists(DataLoader(Several(3), 2)) == [[0.5, 1.5], [2.5]]
    assert lists(DataLoader(Subset(Several(3), [2, 0]), 2)) == [[2.5, 0.5]]


def test_a_subset_that_is_half_overridden_is_refused():
    class Half(Subset):
        def __getitem__(self, index):
            return -self.dataset[index]

    with pytest.raises(NotSupportedError, match="__getitems__"):
        Half(Squares(), [1])


def test_datasets_add():
    both = Squares(2) + Squares(3)
    assert [both[i] for i in range(5)] == [0, 1, 0, 1, 4]
    assert both[-1] == 4
    chained = Counts(2) + Counts(3)
    assert list(chained) == [0, 1, 0, 1, 2]
    assert len(chained) == 5


def test_collate_keeps_kinds_of_containers():
    class Names(dict):
        pass

    made = default_collate([Names(a=1), Names(a=2)])
    assert type(made) is Names
    assert made["a"].tolist() == [1, 2]


def test_iterators_are_not_pickled():
    with pytest.raises(NotSupportedError, match="cannot be pickled"):
        multiprocessing.reduction.ForkingPickler.dumps(iter(DataLoader(Squares())))
