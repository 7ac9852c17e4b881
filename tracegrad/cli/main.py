"""The command ``tracegrad``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import tracegrad
from tracegrad.cli import dump_ir, ops, run_ir
from tracegrad.errors import CommandError

# As argparse ends on a command line that it can't read.
_MISTAKE = 2
# As a shell reports a program that an interrupt ended.
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; the process's own if left out.

    Returns
    -------
    int
        0 for success, 2 for a mistake in the command, which is said in a sentence on
        standard error, 1 where a comparison found a difference.
    """
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except CommandError as error:
        sys.stderr.write(f"tracegrad: {error}\n")
        return _MISTAKE
    except MemoryError as error:
        wanted = f": {error}" if str(error) else ""
        sys.stderr.write(f"tracegrad: there is not enough memory for that{wanted}\n")
        return _MISTAKE
    except KeyboardInterrupt:
        return _INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tracegrad", description="Look into what tracegrad captures and compiles."
    )
    parser.add_argument(
        "--version", action="version", version=f"tracegrad {tracegrad.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    dump_ir.add_parser(commands)
    ops.add_parser(commands)
    run_ir.add_parser(commands)
    return parser
