"""spawn: several processes of one function, whose errors come back."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any, final

from tracegrad.errors import ProcessExitedError, ProcessRaisedError

__all__ = ["ProcessContext", "ProcessExitedError", "ProcessRaisedError", "spawn"]


def _run(
    function: Callable[..., Any], index: int, args: tuple[Any, ...], errors: Any
) -> None:
    try:
        function(index, *args)
    except KeyboardInterrupt:
        # The parent has it too.
        return
    except Exception:
        errors.send(traceback.format_exc())
        raise SystemExit(1) from None


@final
class ProcessContext:
    """Processes that were started together.

    Attributes
    ----------
    processes : list of Process
    """

    def __init__(self, processes: list[Any], errors: list[Any]) -> None:
        self.processes = processes
        self._errors = errors
        self._running = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Return the processes' numbers."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None) -> bool:
        """Wait until one has ended, and return whether all have.

        Parameters
        ----------
        timeout : float, optional
            In seconds.

        Raises
        ------
        ProcessRaisedError
            If one raised; the others are terminated.
        ProcessExitedError
            If one ended with a signal or another code than 0.
        """
        for sentinel in wait(list(self._running), timeout):
            index = self._running.pop(sentinel)  # type: ignore[arg-type]
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._fail(index)
        return not self._running

    def _fail(self, index: int) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        code = self.processes[index].exitcode
        try:
            trace = self._errors[index].recv()
        except EOFError:
            trace = ""
        if trace:
            raise ProcessRaisedError(
                f"-- Process {index} terminated with the following error:\n{trace}"
            )
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise ProcessExitedError(f"process {index} terminated with {how}")


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in `nprocs` processes, `i` being the number of each.

    Parameters
    ----------
    fn : callable
        Of a module's top level, so that another process finds it.
    args : tuple
    nprocs : int
    join : bool
        Whether to wait until all have ended.
    daemon : bool
        Whether they end with this process.
    start_method : str

    Returns
    -------
    ProcessContext or None
        None after waiting.

    Raises
    ------
    ProcessRaisedError
        If one raised, with its traceback; the others are terminated.
    ProcessExitedError
        If one ended in another way.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_run, args=(fn, index, args, theirs), daemon=daemon
        )
        process.start()
        theirs.close()
        processes.append(process)
        errors.append(ours)
    started = ProcessContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None
