"""Worker processes of a DataLoader: started, fed, listened to and shut down."""

from __future__ import annotations

import itertools
import os
import time
import weakref
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final, final

from tracegrad.data.worker import Ended, Resume, WorkerFailure, WorkerSetup, work
from tracegrad.errors import WorkerError

# How long a worker may take to end by itself before it is terminated.
_GRACE_S: Final = 5.0


@final
class Channel:
    """The parent's ends of the pipes to and from one worker."""

    def __init__(self, process: Any, tasks: Connection, results: Connection) -> None:
        self.process = process
        self.tasks = tasks
        self.results = results

    def send(self, task: Any) -> None:
        """Give the worker a task; a worker that is gone is noticed when listening."""
        try:
            self.tasks.send(task)
        except (BrokenPipeError, ConnectionResetError):
            return


@final
class Workers:
    """Several worker processes, shut down when this object is gone.

    Parameters
    ----------
    context : multiprocessing context
    setups : list of WorkerSetup
        One per worker.
    timeout : float
        How long to wait for an answer, in seconds; 0 for as long as it takes.
    """

    def __init__(self, context: Any, setups: list[WorkerSetup], timeout: float) -> None:
        self._timeout = timeout
        self.channels: list[Channel] = []
        self._stop = context.Event()
        self._finalizer = weakref.finalize(
            self, _shut_down, self.channels, self._stop, os.getpid()
        )
        for setup in setups:
            self.channels.append(_start(context, setup, self._stop))

    def send(self, worker: int, task: Any) -> None:
        """Give a worker a task."""
        self.channels[worker].send(task)

    def receive(self) -> tuple[int, Any, Any]:
        """Wait for the next answer and return worker, number and data.

        Raises
        ------
        WorkerError
            If a worker is gone, or none answered in time.
        """
        timeout = self._timeout or None
        by_pipe = {id(c.results): i for i, c in enumerate(self.channels)}
        ready = wait([c.results for c in self.channels], timeout)
        if not ready:
            raise WorkerError(f"DataLoader timed out after {self._timeout} seconds")
        pipe: Any = ready[0]
        worker = by_pipe[id(pipe)]
        try:
            message = pipe.recv_bytes()
        except (EOFError, OSError):
            death = self._death_of(worker)
            self.shut_down()
            raise death from None
        number, data = ForkingPickler.loads(message)
        return worker, number, data

    def _death_of(self, worker: int) -> WorkerError:
        process = self.channels[worker].process
        process.join(_GRACE_S)
        code = process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"code {code}"
        return WorkerError(
            f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly: {how}"
        )

    def shut_down(self) -> None:
        """End the workers; a second time does nothing."""
        self._finalizer()


def _start(context: Any, setup: WorkerSetup, stop: Any) -> Channel:
    their_tasks, our_tasks = context.Pipe(duplex=False)
    our_results, their_results = context.Pipe(duplex=False)
    process = context.Process(
        target=work, args=(setup, their_tasks, their_results, stop), daemon=True
    )
    process.start()
    # The worker alone must hold its ends: then a pipe ends when the worker does.
    their_tasks.close()
    their_results.close()
    return Channel(process, our_tasks, our_results)


def _shut_down(channels: list[Channel], stop: Any, owner: int) -> None:
    if os.getpid() != owner:
        # A fork of the owner: the workers are not its own.
        return
    stop.set()
    for channel in channels:
        channel.send(None)
        # A worker that writes is not kept waiting.
        channel.results.close()
    deadline = time.monotonic() + _GRACE_S
    for channel in channels:
        channel.process.join(max(0.0, deadline - time.monotonic()))
        if channel.process.exitcode is None:
            channel.process.terminate()
            channel.process.join()
        channel.tasks.close()
    channels.clear()


@final
class Prefetcher:
    """Keeps workers busy ahead of what is asked for, and hands out their answers.

    Parameters
    ----------
    workers : Workers
    count : int
        How many there are.
    ahead : int
        How many tasks each worker has at most.
    in_order : bool
        Whether answers are handed out in the order of the tasks.
    """

    def __init__(
        self, workers: Workers, count: int, ahead: int, in_order: bool
    ) -> None:
        self.workers = workers
        self._count = count
        self._ahead = ahead
        self._in_order = in_order

    def start(self, indices: Iterator[Any]) -> None:
        """Begin an epoch."""
        self._indices = indices
        self._numbers = itertools.count()
        self._turn = 0
        # By task's number: whose it is, and what came back; insertion is sending order.
        self._worker_of: dict[int, int] = {}
        self._arrived: dict[int, Any] = {}
        self._active = [True] * self._count
        self._load = [0] * self._count
        for _ in range(self._ahead * self._count):
            self._send_next()

    def restart(self, indices: Iterator[Any]) -> None:
        """Begin another epoch with the same workers, whatever they still have to do."""
        for worker in range(self._count):
            self.workers.send(worker, Resume())
        waiting = self._count
        while waiting:
            _, number, _ = self.workers.receive()
            waiting -= isinstance(number, Resume)
        self.start(indices)

    def _send_next(self) -> None:
        worker = self._next_worker()
        if worker is None:
            return
        try:
            index = next(self._indices)
        except StopIteration:
            return
        number = next(self._numbers)
        self._worker_of[number] = worker
        self._load[worker] += 1
        self.workers.send(worker, (number, index))

    def _next_worker(self) -> int | None:
        for step in range(self._count):
            worker = (self._turn + step) % self._count
            free = self._in_order or self._load[worker] < self._ahead
            if self._active[worker] and free:
                self._turn = (worker + 1) % self._count
                return worker
        return None

    def next(self) -> Any:
        """Return the next answer.

        Raises
        ------
        StopIteration
            If there is none left.
        """
        while True:
            number = self._next_number()
            if number is None:
                raise StopIteration
            if number in self._arrived:
                return self._hand_out(number)
            self._listen()

    def _next_number(self) -> int | None:
        """Return which task's answer is to be handed out next; None if none is left."""
        if not self._in_order and self._arrived:
            first: int = next(iter(self._arrived))
            return first
        for number, worker in list(self._worker_of.items()):
            if number in self._arrived or self._active[worker]:
                return number
            # Sent before its worker was known to be at its end: no answer will come.
            del self._worker_of[number]
        return None

    def _listen(self) -> None:
        worker, number, data = self.workers.receive()
        self._load[worker] -= 1
        if isinstance(data, Ended):
            self._active[worker] = False
            del self._worker_of[number]
            self._send_next()
            return
        self._arrived[number] = data

    def _hand_out(self, number: int) -> Any:
        data = self._arrived.pop(number)
        del self._worker_of[number]
        self._send_next()
        if isinstance(data, WorkerFailure):
            data.reraise()
        return data
