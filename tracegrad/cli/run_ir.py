"""``tracegrad run-ir``: run a graph kept as text, interpreted and compiled."""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tracegrad.cli.inputs import draw
from tracegrad.cli.output import columns, write
from tracegrad.compiler import compile_graph
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.errors import CommandError, ParseError, TracegradError, VerifyError
from tracegrad.ir.graph import Graph, Value
from tracegrad.ir.interpreter import interpret
from tracegrad.ir.parser import parse
from tracegrad.ir.verifier import verify
from tracegrad.spec import ScalarSpec, StateSpec, TensorSpec

_SEED = 0
_SCALARS = {"bool": True, "int": 2, "float": 0.5, "complex": 0.5 + 0.5j}
_BOUND = 10
# How far compiled code may be from the interpreter: it may sum in another order.
_ULPS = 64


def add_parser(commands: Any) -> None:
    """Add the command to a parser's sub-commands."""
    parser = commands.add_parser(
        "run-ir",
        help="check a graph kept as text, interpret it, compile it, and compare",
        description="Parse and verify a graph, run it through the interpreter and "
        "as compiled NumPy source, and say whether the results agree.",
    )
    parser.add_argument("file", metavar="FILE", help="a graph as dump-ir prints it")
    parser.add_argument(
        "--inputs",
        metavar="x.npz",
        help="arrays named as the inputs; random ones from a fixed seed if left out",
    )
    parser.add_argument(
        "--import",
        metavar="MODULE",
        dest="modules",
        action="append",
        default=[],
        help="import a module first: one that defines the graph's custom operators",
    )
    parser.add_argument(
        "-o", metavar="FILE", dest="output", help="save the results as .npz, by name"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Carry the command out; 1 means that the results differ.

    Raises
    ------
    CommandError
        If a file is not there or not what it should be, or the graph can't run.
    """
    for module in options.modules:
        _import(module)
    graph = read_graph(options.file)
    given = None if options.inputs is None else _read_arrays(options.inputs)
    inputs = _inputs(graph, given, options.inputs)
    try:
        expected = [t.numpy(force=True) for t in interpret(graph, *inputs)]
        compiled = _compiled(graph, inputs)
    except TracegradError as error:
        raise CommandError(f"{options.file}: running it failed: {error}") from error
    return _report(graph, expected, compiled, options.output)


def _import(module: str) -> None:
    """Import what defines the custom operators of a graph."""
    sys.path.insert(0, "")
    try:
        import_module(module)
    except ImportError as error:
        raise CommandError(f"can't import {module}: {error}") from error
    finally:
        sys.path.remove("")


def read_graph(file: str) -> Graph:
    """Return the graph that a file holds, verified.

    Raises
    ------
    CommandError
        If there is no such file, or its text is no valid graph.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"can't read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not a text in UTF-8") from None
    try:
        graph = parse(text)
        verify(graph)
    except ParseError as error:
        raise CommandError(f"{file} is not a graph: {error}") from error
    except VerifyError as error:
        raise CommandError(f"{file} breaks a rule of the IR: {error}") from error
    except TracegradError as error:
        raise CommandError(f"{file}: {error}") from error
    return graph


def _read_arrays(file: str) -> dict[str, Any]:
    try:
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except OSError as error:
        raise CommandError(f"can't read {file}: {error.strerror or error}") from None
    except (ValueError, TypeError, AttributeError, zipfile.BadZipFile):
        raise CommandError(f"{file} is not an archive of arrays (.npz)") from None


def _inputs(
    graph: Graph, given: Mapping[str, Any] | None, file: str | None
) -> list[Any]:
    rng = np.random.default_rng(_SEED)
    if given is not None:
        _check_names(graph, given, file)
    return [_input(value, given, rng) for value in graph.inputs]


def _check_names(graph: Graph, given: Mapping[str, Any], file: str | None) -> None:
    wanted = [v.name for v in graph.inputs if not isinstance(v.spec, StateSpec)]
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    if missing or unknown:
        raise CommandError(
            f"the graph takes {', '.join(wanted) or 'no arrays'}; {file} has "
            f"{', '.join(given) or 'none'}"
        )


def _input(
    value: Value, given: Mapping[str, Any] | None, rng: np.random.Generator
) -> Any:
    spec = value.spec
    if isinstance(spec, StateSpec):
        return Generator(spec.device).manual_seed(_SEED)
    if isinstance(spec, ScalarSpec):
        return _SCALARS[spec.kind] if given is None else given[value.name].item()
    sizes = tuple(s for s in spec.shape if isinstance(s, int))
    if len(sizes) != len(spec.shape):
        raise CommandError(f"%{value.name} has a symbolic size; run-ir needs numbers")
    if given is None:
        return wrap(draw(spec.dtype, sizes, rng, _BOUND))
    return wrap(_checked(value.name, given[value.name], spec))


def _checked(name: str, array: Any, spec: TensorSpec) -> Any:
    if array.dtype != spec.dtype.numpy or array.shape != spec.shape:
        raise CommandError(
            f"%{name} is {spec}; the array given is {array.dtype} of shape "
            f"{list(array.shape)}"
        )
    return array


def _compiled(graph: Graph, inputs: list[Any]) -> list[Any] | None:
    """Return the compiled program's results; None if a check left it."""
    arrays = [_lowered(given) for given in inputs]
    results, _ = compile_graph(graph).executable(arrays)
    return None if results is None else list(results[: len(graph.outputs)])


def _lowered(given: Any) -> Any:
    if isinstance(given, Tensor):
        return given._array
    return given.engine.clone() if isinstance(given, Generator) else given


def _report(
    graph: Graph, expected: list[Any], compiled: list[Any] | None, output: str | None
) -> int:
    names = [value.name for value in graph.outputs]
    if output is not None:
        _save(output, dict(zip(names, expected, strict=True)))
    for name, array in zip(names, expected, strict=True):
        write(f"%{name} =\n{array}", None)
    if compiled is None:
        write("a check found another value than expected; nothing to compare", None)
        return 0
    rows = []
    agree = True
    for value, a, b in zip(graph.outputs, expected, compiled, strict=True):
        verdict, same = _compare(a, np.asarray(b))
        agree = agree and same
        rows.append((f"%{value.name}", str(value.spec), verdict))
    write("\n" + columns(("result", "spec", "interpreter and compiled"), rows), None)
    return 0 if agree else 1


def _save(file: str, arrays: dict[str, Any]) -> None:
    try:
        with Path(file).open("wb") as opened:
            np.savez(opened, **arrays)
    except OSError as error:
        raise CommandError(f"can't write {file}: {error.strerror}") from None


def _compare(expected: Any, found: Any) -> tuple[str, bool]:
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"differ: the compiled one is {found.dtype}{list(found.shape)}", False
    if expected.tobytes() == found.tobytes():
        return "agree in every bit", True
    if expected.dtype.kind not in "fc":
        return f"differ in {np.count_nonzero(expected != found)} elements", False
    with np.errstate(all="ignore"):
        largest = np.nanmax(np.abs(expected - found), initial=0)
    tolerance = _ULPS * float(np.finfo(expected.dtype).eps)
    same = np.allclose(expected, found, tolerance, tolerance, equal_nan=True)
    return f"{'agree' if same else 'differ'}, by at most {largest:.3g}", bool(same)
