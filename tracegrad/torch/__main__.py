"""Run a PyTorch script, or a module, with tracegrad in PyTorch's place.

python -m tracegrad.torch script.py [arguments]
python -m tracegrad.torch -m module [arguments]

The script is `__main__`, with its own `sys.argv` and `sys.path[0]`, as under `python`.
"""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from tracegrad.torch import install

_USAGE = "usage: python -m tracegrad.torch (script.py | -m module) [arguments]"
_WRONG_USE = 2


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments name and return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__ if arguments else _USAGE, file=sys.stderr)
        return 0 if arguments else _WRONG_USE
    install()
    if arguments[0] != "-m":
        return _reporting(lambda: _run_script(arguments[0], arguments))
    if len(arguments) == 1:
        print(_USAGE, file=sys.stderr)
        return _WRONG_USE
    return _reporting(lambda: _run_module(arguments[1], arguments[1:]))


def _run_script(path: str, arguments: Sequence[str]) -> None:
    with open(path, "rb") as file:
        source = file.read()
    module = ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    sys.argv = list(arguments)
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    exec(compile(source, path, "exec"), module.__dict__)


def _run_module(name: str, arguments: Sequence[str]) -> None:
    sys.argv = list(arguments)
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _reporting(run: Callable[[], None]) -> int:
    """Run; show an exception as Python does, without the frames of this file."""
    try:
        run()
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and _is_own(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _is_own(file: str) -> bool:
    return file == __file__ or file == "<frozen runpy>"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
