"""Numbers with names: NumPy converts a Python number in each call that it is given to.

That takes as long as a small call itself, so an emitted module makes the array once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tracegrad.codegen.numpy.instructions import Argument, Array, Body, Call, Loop
from tracegrad.codegen.numpy.pointwise import Literal, dtype_text
from tracegrad.ir.builder import Names

_WORDS = {"0": "zero", "1": "one", "2": "two", "-1": "minus_one"}


def name_numbers(body: Body, names: Names) -> list[str]:
    """Give names to the numbers that ufuncs of `body` are called with.

    Parameters
    ----------
    body : Body
        Is changed.
    names : Names
        Of the emitted module.

    Returns
    -------
    list of str
        The statements that make them.
    """
    known: dict[tuple[str, str], Array] = {}
    lines: list[str] = []

    def named(number: Literal) -> Array:
        key = str(number), number.dtype.name
        found = known.get(key)
        if found is None:
            name = names.unique(number_name(number))
            found = known[key] = Array(name, (), number.dtype.numpy, "number")
            lines.append(f"{name} = np.array({number}, {dtype_text(number.dtype)})")
        return found

    for call in _calls(body.instructions):
        if not isinstance(getattr(np, call.function.removeprefix("np."), 0), np.ufunc):
            continue
        call.args = tuple(
            named(a) if isinstance(a, Literal) and _is_of_kind(a, call.args) else a
            for a in call.args
        )
    return lines


def number_name(text: str) -> str:
    """Return a Python name that says a number.

    Examples
    --------
    >>> number_name("-0.1"), number_name("1e-05"), number_name("1.0")
    ('minus_0_1', 'n_1eminus_05', 'one')
    """
    short = text.removesuffix(".0")
    if short in _WORDS:
        return _WORDS[short]
    said = re.sub(r"\W", "_", short.replace("-", "minus_"))
    return said if said[0].isalpha() else f"n_{said}"


def _calls(instructions: Sequence[Any]) -> Iterator[Call]:
    for instruction in instructions:
        if isinstance(instruction, Loop):
            yield from _calls(instruction.body)
        elif isinstance(instruction, Call):
            yield instruction


def _is_of_kind(number: Literal, args: Sequence[Argument]) -> bool:
    """Return whether an array of the number's dtype gives what the number gives."""
    dtypes = {a.dtype for a in args if isinstance(a, Array)}
    return number.dtype.kind in ("float", "int") and dtypes == {number.dtype.numpy}
