"""``tracegrad dump-ir``: what a function becomes, stage by stage."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from tracegrad.capture.journal import Journal
from tracegrad.capture.session import Recording, record_call
from tracegrad.captured.function import CapturedFunction
from tracegrad.cli import inputs
from tracegrad.cli.output import write
from tracegrad.cli.targets import load, run_user_code
from tracegrad.codegen.cuda.target import emit_cuda
from tracegrad.codegen.numpy.target import emit_numpy
from tracegrad.codegen.program import Program, program_of
from tracegrad.codegen.source import Source
from tracegrad.compiler import optimized
from tracegrad.errors import CaptureError, CommandError
from tracegrad.ir.diagrams import to_dot
from tracegrad.ir.graph import Graph
from tracegrad.passes.manager import PassManager, PassRun
from tracegrad.passes.pipeline import PIPELINE
from tracegrad.passes.vjp import Derived, derive

EMITTERS: dict[str, Callable[[Program], Source]] = {
    "numpy": emit_numpy,
    "cuda": emit_cuda,
}

# Not in the pipeline: it makes two graphs of one, before the passes run on each.
_DERIVATION = "vjp"


@final
@dataclass(frozen=True, slots=True)
class _Section:
    """A graph of the dump, or what is said in its place, under a heading."""

    heading: str
    graph: Graph | None = None


def add_parser(commands: Any) -> None:
    """Add the command to a parser's sub-commands."""
    parser = commands.add_parser(
        "dump-ir",
        help="capture a function and print its graph, a pass's work, or its source",
        description="Capture a function with example inputs and print what it becomes.",
    )
    parser.add_argument(
        "target", help="file.py:function or package.module:function", metavar="TARGET"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SPEC",
        help="an input: x=f32[32,64], y=i64[32]<10 (integers below 10), "
        "'w=f32[3] grad' (requires grad), lr=0.1; repeatable",
    )
    parser.add_argument(
        "--inputs",
        metavar="file.py:FUNCTION",
        help="a function without parameters that returns the inputs",
    )
    parser.add_argument(
        "--pass",
        action="append",
        default=[],
        dest="passes",
        metavar="NAME",
        help=f"print the graph before and after a pass: {', '.join(pass_names())}",
    )
    parser.add_argument(
        "--all-passes", action="store_true", help="print the graph after each pass"
    )
    parser.add_argument(
        "--target", choices=sorted(EMITTERS), default="numpy", dest="language"
    )
    parser.add_argument("--emit", choices=("ir", "source", "dot"), default="ir")
    parser.add_argument("-o", metavar="FILE", dest="output", help="write to a file")
    parser.set_defaults(run=run)


def pass_names() -> list[str]:
    """Return the names that ``--pass`` takes."""
    return [_DERIVATION, *(each.name for each in PIPELINE)]


def run(options: argparse.Namespace) -> int:
    """Carry the command out.

    Raises
    ------
    CommandError
        If what was asked for is not there, or can't be captured.
    """
    _check(options)
    function = _function(options.target)
    if options.inputs is not None:
        args, kwargs = inputs.of_function(function, options.inputs)
    else:
        args, kwargs = inputs.of_texts(function, options.input)
    recording = record(function, args, kwargs, options.target)
    write(_text(recording, options), options.output)
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.inputs is not None and options.input:
        raise CommandError("--input and --inputs both state the inputs; give one")
    known = pass_names()
    for name in options.passes:
        if name not in known:
            raise CommandError(
                f"there is no pass {name!r}; the passes are {', '.join(known)}"
            )
    if options.passes and options.all_passes:
        raise CommandError("--pass shows some passes and --all-passes all; give one")
    if options.emit == "source" and (options.passes or options.all_passes):
        raise CommandError(
            "source is emitted after all passes; use --pass with --emit ir or dot"
        )


def _function(target: str) -> Callable[..., Any]:
    found = load(target)
    if isinstance(found, CapturedFunction):
        return found.eager
    if inspect.isclass(found):
        raise CommandError(
            f"{target} is a class; name a function or an instance, such as a module"
        )
    if not callable(found):
        raise CommandError(f"{target} is {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function


def record(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    target: str,
) -> Recording:
    """Return a recording of one call, after which all is as it was.

    Raises
    ------
    CommandError
        If the function raises, or the call can't be captured.
    """
    name = getattr(function, "__name__", type(function).__name__)
    journal = Journal()

    def call() -> Recording:
        try:
            return record_call(function, args, kwargs, name, journal=journal)
        finally:
            journal.undo()

    try:
        recording: Recording = run_user_code(call, f"{target} with these inputs")
    except CommandError as error:
        if isinstance(error.__cause__, CaptureError):
            reason = error.__cause__
            raise CommandError(f"{target} can't be captured: {reason}") from None
        raise
    if recording.graph is None:
        raise CommandError(
            f"{target} can't be captured and would run eagerly: {recording.reason}"
        )
    return recording


def _text(recording: Recording, options: argparse.Namespace) -> str:
    graph = recording.graph
    assert graph is not None
    if options.emit == "source":
        return _source(recording, EMITTERS[options.language])
    if options.all_passes:
        sections = _all_passes(graph, _derived(recording))
    elif options.passes:
        sections = _before_and_after(graph, _derived(recording), options.passes)
    else:
        sections = [_Section("", graph)]
    return _rendered(sections, options.emit)


def _derived(recording: Recording) -> Derived | None:
    """Return forward and backward graphs, where the call is one entry of the tape."""
    assert recording.graph is not None
    assert recording.places is not None
    return derive(recording.graph) if recording.places.is_differentiable else None


def _source(recording: Recording, emit: Callable[[Program], Source]) -> str:
    assert recording.graph is not None
    derived = _derived(recording)
    graphs = {"": recording.graph}
    if derived is not None:
        graphs = {"# forward\n": derived.forward, "# backward\n": derived.backward}
    return "\n\n".join(
        heading + emit(program_of(optimized(graph))).text
        for heading, graph in graphs.items()
    )


def _stages(graph: Graph, derived: Derived | None) -> dict[str, Graph]:
    """Return what the pipeline runs on, each with what its headings add."""
    if derived is None:
        return {"": graph}
    return {", forward": derived.forward, ", backward": derived.backward}


def _runs(graph: Graph) -> list[PassRun]:
    runs: list[PassRun] = []
    PassManager(PIPELINE, listeners=[runs.append]).run(graph)
    return runs


def _all_passes(graph: Graph, derived: Derived | None) -> list[_Section]:
    sections = [_Section("as captured", graph)]
    for part, start in _stages(graph, derived).items():
        if part:
            sections.append(_Section(f"after {_DERIVATION}{part}", start))
        sections += [_after(run, part) for run in _runs(start)]
    return sections


def _after(run: PassRun, part: str) -> _Section:
    heading = f"after {run.done.name}{part}"
    if run.after is run.before:
        return _Section(f"{heading}: unchanged")
    sizes = f"{len(run.before.nodes)} to {len(run.after.nodes)} nodes"
    return _Section(f"{heading}: {sizes}", run.after)


def _before_and_after(
    graph: Graph, derived: Derived | None, names: Sequence[str]
) -> list[_Section]:
    sections: list[_Section] = []
    if _DERIVATION in names:
        sections += _derivation(graph, derived)
    for part, start in _stages(graph, derived).items():
        for run in _runs(start):
            if run.done.name in names:
                before = f"before {run.done.name}{part}"
                sections += [_Section(before, run.before), _after(run, part)]
    return sections


def _derivation(graph: Graph, derived: Derived | None) -> list[_Section]:
    if derived is None:
        raise CommandError(
            f"the pass {_DERIVATION} has nothing to do: no result carries a gradient "
            "out of the function; mark an input, as in --input 'x=f32[3] grad'"
        )
    stages = _stages(graph, derived)
    return [
        _Section(f"before {_DERIVATION}", graph),
        *(_Section(f"after {_DERIVATION}{part}", g) for part, g in stages.items()),
    ]


def _rendered(sections: Sequence[_Section], emit: str) -> str:
    comment, text_of = ("//", to_dot) if emit == "dot" else ("#", str)
    parts = []
    for section in sections:
        heading = f"{comment} {section.heading}\n" if section.heading else ""
        body = (
            "" if section.graph is None else text_of(section.graph).rstrip("\n") + "\n"
        )
        parts.append(heading + body)
    return "\n".join(parts)
