"""Executables: sources loaded into the interpreter, with their memory per thread."""

from __future__ import annotations

import itertools
import linecache
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, final

from tracegrad.codegen.source import Source
from tracegrad.device import CPU, CUDA, on_device, run_quietly

_counter = itertools.count(1)


@final
class Executable:
    """A source that can be called.

    Outputs are fresh in each call; temporaries are kept per thread.

    Attributes
    ----------
    source : Source
    filename : str
        Under which debuggers and tracebacks find the text.
    function : callable
        ``function(*arrays, arena)`` gives results and writes.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.filename = f"<tracegrad {source.entry} {next(_counter)}>"
        namespace = _load(source, self.filename)
        self.function: Callable[..., Any] = namespace[source.entry]
        self._make_arena: Callable[[], Any] = namespace[source.arena]
        self._constants = _constants(source)
        self._memory = threading.local()
        forget = weakref.finalize(self, linecache.cache.pop, self.filename, None)
        forget.atexit = False

    def arena(self) -> Any:
        """Return this thread's temporaries, made when first asked for."""
        try:
            return self._memory.arena
        except AttributeError:
            self._memory.arena = found = self._make_arena()
            return found

    def __call__(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Run on `arrays`; return the results and the writes to commit.

        Where a check finds another value the result is ``(None, index of the check)``.
        """
        found: tuple[Any, Any] = run_quietly(
            self.function, *arrays, *self._constants, self.arena()
        )
        return found


def _constants(source: Source) -> tuple[Any, ...]:
    """Return the constants where the source computes: they are copied once."""
    device = CUDA if source.language == "cuda" else CPU
    return tuple(on_device(array, device) for array in source.constants.values())


def _load(source: Source, filename: str) -> dict[str, Any]:
    text = source.text
    linecache.cache[filename] = (
        len(text),
        None,
        text.splitlines(keepends=True),
        filename,
    )
    namespace: dict[str, Any] = {"__name__": filename}
    exec(compile(text, filename, "exec"), namespace)
    # Error classes are builtins in a module that stands alone, tracegrad's here.
    namespace.update(source.names)
    return namespace
