"""What a worker process of a DataLoader does, and what it sends back."""

from __future__ import annotations

import os
import queue
import random
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final, final

import numpy as np

from tracegrad import manual_seed
from tracegrad.data.fetch import DatasetKind, Fetch, make_fetch
from tracegrad.errors import StateError

# How long a worker waits for work before it looks whether its parent is still there.
_PATIENCE_S: Final = 5.0


@final
@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker process knows of itself.

    Attributes
    ----------
    id : int
        Its number, from 0.
    num_workers : int
    seed : int
        What its default generators were seeded with: the loader's base seed plus `id`.
    dataset : Dataset
        Its own copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return what this worker process of a DataLoader is; None outside of one."""
    return _info


@final
@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker is told when it starts."""

    kind: int
    dataset: Any
    in_batches: bool
    collate: Callable[..., Any]
    drop_last: bool
    base_seed: int
    init: Callable[[int], Any] | None
    id: int
    num_workers: int


@final
class Resume:
    """Tells a worker that a new epoch starts; it answers with the same."""


@final
class Ended:
    """Tells the parent that a worker's iterable dataset is at its end."""


@final
class WorkerFailure:
    """An exception of a worker, with its traceback as text: that can be sent."""

    def __init__(self, error: BaseException, worker: int) -> None:
        self.kind = type(error)
        trace = "".join(traceback.format_exception(error))
        self.text = (
            f"Caught {type(error).__name__} in DataLoader worker process {worker}.\n"
            f"Original {trace}"
        )

    def reraise(self) -> None:
        """Raise an exception of the same class that tells the worker's traceback.

        Raises
        ------
        Exception
            Of the class in the worker; a StateError if none of that class can be made
            from a text.
        """
        if issubclass(self.kind, KeyError):
            raise self.kind(_ShownAsIs(self.text))
        try:
            error = self.kind(self.text)
        except Exception:
            raise StateError(self.text) from None
        raise error


class _ShownAsIs(str):
    """A text whose repr, which a KeyError shows, keeps its line breaks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def numpy_seed(base_seed: int, worker: int) -> np.ndarray[Any, Any]:
    """Return what NumPy's global generator is seeded with in a worker.

    Notes
    -----
    The same words as PyTorch's, which come from NumPy's way to spread entropy. Source:
    M. E. O'Neill, "Developing a seed_seq Alternative" (2015).
    """
    low, high = base_seed & 0xFFFFFFFF, base_seed >> 32
    return np.random.SeedSequence([worker, low, high, 0]).generate_state(4)


def work(setup: WorkerSetup, tasks: Connection, results: Connection, stop: Any) -> None:
    """Fetch what the parent asks for until it says stop; runs in the worker."""
    try:
        _Worker(setup, tasks, results, stop).run()
    except KeyboardInterrupt:
        # The parent has it too, and is the one to report it.
        return


@final
class _Worker:
    """One worker's life: tasks in, a thread that sends results out.

    With a thread of its own for sending, a worker fetches ahead while its parent is not
    reading yet.
    """

    def __init__(
        self, setup: WorkerSetup, tasks: Connection, results: Connection, stop: Any
    ) -> None:
        self._setup = setup
        self._tasks = tasks
        self._stop = stop
        self._parent = os.getppid()
        self._failure: WorkerFailure | None = None
        self._fetch: Fetch | None = None
        self._at_end = False
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        sender = threading.Thread(target=_send_all, args=(self._out, results))
        sender.daemon = True
        sender.start()
        self._sender = sender

    def run(self) -> None:
        self._prepare()
        while True:
            task = self._next_task()
            if task is None or self._stop.is_set():
                break
            self._answer(task)
        if not self._stop.is_set():
            self._out.put(None)
            self._sender.join()

    def _next_task(self) -> Any:
        """Return the next task; None if there will be none."""
        while not self._tasks.poll(_PATIENCE_S):
            if os.getppid() != self._parent:
                return None
        try:
            return self._tasks.recv()
        except EOFError:
            return None

    def _prepare(self) -> None:
        global _info
        setup = self._setup
        seed = setup.base_seed + setup.id
        random.seed(seed)
        manual_seed(seed)
        np.random.seed(numpy_seed(setup.base_seed, setup.id))
        _info = WorkerInfo(setup.id, setup.num_workers, seed, setup.dataset)
        try:
            if setup.init is not None:
                setup.init(setup.id)
        except Exception as error:
            self._failure = WorkerFailure(error, setup.id)
            return
        self._start_epoch()

    def _start_epoch(self) -> None:
        setup = self._setup
        self._at_end = False
        try:
            self._fetch = make_fetch(
                setup.kind,
                setup.dataset,
                setup.in_batches,
                setup.collate,
                setup.drop_last,
            )
        except Exception as error:
            self._failure = WorkerFailure(error, setup.id)

    def _answer(self, task: Any) -> None:
        if isinstance(task, Resume):
            self._out.put(_packed((task, None), self._setup.id))
            self._start_epoch()
            return
        number, index = task
        if not self._at_end:
            self._out.put(_packed((number, self._fetched(index)), self._setup.id))

    def _fetched(self, index: Any) -> Any:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            return failure
        assert self._fetch is not None
        try:
            return self._fetch(index)
        except Exception as error:
            iterable = self._setup.kind == DatasetKind.Iterable
            if iterable and isinstance(error, StopIteration):
                self._at_end = True
                return Ended()
            return WorkerFailure(error, self._setup.id)


def _packed(answer: tuple[Any, Any], worker: int) -> Any:
    """Return an answer as bytes; the failure instead if it can't be pickled."""
    try:
        return ForkingPickler.dumps(answer)
    except Exception as error:
        failure = WorkerFailure(error, worker)
    try:
        return ForkingPickler.dumps((answer[0], failure))
    except Exception:
        # A class that only this process knows.
        failure.kind = StateError
        return ForkingPickler.dumps((answer[0], failure))


def _send_all(packed: queue.SimpleQueue[Any], results: Connection) -> None:
    while (message := packed.get()) is not None:
        try:
            results.send_bytes(message)
        except (BrokenPipeError, OSError):
            # The parent reads no more.
            return
