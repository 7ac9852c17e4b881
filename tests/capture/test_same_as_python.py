"""Instrumented functions do what Python does: results, errors, lines and changes."""

import ast
import traceback
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from tests.capture import corpus
from tests.capture.leaf import Leaves, Recording
from tracegrad.capture.instrument import instrument
from tracegrad.capture.reads import ReadRecorder

CORPUS = Path(corpus.__file__)

# Nodes that no source contains: abstract, for old trees, or of later Pythons.
NOT_WRITTEN = {
    *("AST", "mod", "expr", "stmt", "expr_context", "boolop", "operator", "unaryop"),
    *("cmpop", "comprehension_", "excepthandler", "pattern", "type_ignore", "slice"),
    *("Expression", "Interactive", "FunctionType", "TypeIgnore", "AugLoad", "AugStore"),
    *("Param", "Suite", "Index", "ExtSlice", "Num", "Str", "Bytes", "NameConstant"),
    *("Ellipsis", "TypeVar", "ParamSpec", "TypeVarTuple", "TypeAlias", "type_param"),
    *("TemplateStr", "Interpolation"),
}


def test_corpus_has_every_node() -> None:
    tree = ast.parse(CORPUS.read_text())
    used = {type(node).__name__ for node in ast.walk(tree)}
    every = {
        name
        for name, node in vars(ast).items()
        if isinstance(node, type)
        and issubclass(node, ast.AST)
        and not name.startswith("_")
    }
    assert every - NOT_WRITTEN - used == set()


def test_corpus_is_large() -> None:
    assert len(corpus.CASES) >= 80


def outcome(run: Any, world: corpus.World) -> tuple[Any, ...]:
    """What a call returned or raised, with the corpus lines it came through."""
    try:
        result = run(world)
    except BaseException as error:
        lines = [
            (frame.name, frame.lineno)
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(CORPUS)
        ]
        chain = repr(error.__cause__), repr(error.__context__)
        raised = type(error), str(error), lines, chain, error.__suppress_context__
        return None, raised, world.state()
    return repr(result), type(result), world.state()


@pytest.mark.parametrize("name", sorted(corpus.CASES))
def test_recorded_call_does_what_python_does(name: str) -> None:
    function = corpus.CASES[name]

    def recorded(world: corpus.World) -> Any:
        recording = Recording(function, world)
        if recording.error is not None:
            raise recording.error
        return recording.result

    plain = outcome(function, corpus.World())
    assert outcome(recorded, corpus.World()) == plain


@pytest.mark.parametrize("name", sorted(corpus.CASES))
def test_second_call_hits_if_nothing_changed(name: str) -> None:
    function = corpus.CASES[name]
    world = corpus.World()
    before = world.state()
    recording = Recording(function, world)
    if recording.reads.reason is None and recording.error is None:
        assert world.state() == before
        assert recording.miss(function, world) == ""
        assert recording.hits(function, world)


def test_tracebacks_have_only_user_frames() -> None:
    recording = Recording(corpus.case_raise_in_helper, corpus.World())
    assert recording.error is not None
    frames = traceback.extract_tb(recording.error.__traceback__)
    ours = [frame.name for frame in frames if "/capture/reads" in frame.filename]
    assert [frame.name for frame in frames][-2:] == ["case_raise_in_helper", "fail"]
    assert ours == []


def test_names_of_code_are_as_in_source() -> None:
    code = instrument(corpus.case_class_body, Leaves()).__code__
    names = {c.co_qualname for c in nested(code)}
    assert names == {c.co_qualname for c in nested(corpus.case_class_body.__code__)}


def nested(code: CodeType) -> list[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [code, *(n for c in inner for n in nested(c))]


def test_an_attribute_named_like_the_function() -> None:
    """Names of attributes are the user's text, whatever the function is called."""

    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def step(self) -> int:
            return self.count + 1

    counter = Counter()

    def step() -> int:
        return counter.step()

    assert ReadRecorder(Leaves()).run(step, (), {}) == 1
