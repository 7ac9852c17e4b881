"""Cases that two libraries answer: what tracegrad does is PyTorch's, by example.

A case is a function of the library, so that a test without PyTorch compares tracegrad
with the stated answer, and an oracle test compares PyTorch with the same answer.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import pytest


@final
@dataclass(frozen=True, slots=True)
class Raises:
    """The answer of a case that raises: the exception's builtin class."""

    kind: type[BaseException]


@final
@dataclass(frozen=True, slots=True)
class Case:
    """A line of `semantics.md`, or a part of one, as a program.

    Attributes
    ----------
    name : str
        The line's number and what it says.
    program : callable
        From the library to nested lists of numbers, or tensors.
    answer : object
        What it gives, or `Raises`.
    deviates : bool
        Whether tracegrad differs from PyTorch on purpose.
    """

    name: str
    program: Callable[[Any], Any]
    answer: Any
    deviates: bool = False


@final
class Cases:
    """A list of cases, filled by a decorator."""

    def __init__(self) -> None:
        self.all: list[Case] = []

    def __call__(
        self, line: int, answer: Any, deviates: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a program as a case of a line, with its answer (decorator)."""

        def add(program: Callable[..., Any]) -> Callable[..., Any]:
            name = f"{line}-{program.__name__.strip('_')}"
            self.all.append(Case(name, program, answer, deviates))
            return program

        return add

    def parameters(self, oracle: bool = False) -> list[Any]:
        """Return pytest parameters; for PyTorch without the deviations."""
        return [
            pytest.param(case, id=case.name)
            for case in self.all
            if not (oracle and case.deviates)
        ]


def answer_of(case: Case, library: Any) -> Any:
    """Run a case and return its answer as plain data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(case.program(library))
        except (
            RuntimeError,
            TypeError,
            ValueError,
            IndexError,
            NotImplementedError,
        ) as e:
            return Raises(builtin_class(e))


def listed(answer: Any) -> Any:
    """Return a stated answer in the form of `plain`: tuples as lists."""
    if isinstance(answer, list | tuple):
        return [listed(a) for a in answer]
    return answer


def builtin_class(error: BaseException) -> type[BaseException]:
    """Return the builtin exception class that an exception is."""
    for kind in (NotImplementedError, IndexError, TypeError, ValueError, RuntimeError):
        if isinstance(error, kind):
            return kind
    return type(error)


def plain(value: Any) -> Any:
    """Return tensors as nested lists, dtypes as their names."""
    if hasattr(value, "tolist") and hasattr(value, "detach"):
        return value.detach().tolist()
    if type(value).__name__ in ("dtype", "DType"):
        return str(value).rsplit(".", 1)[-1]
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return value
