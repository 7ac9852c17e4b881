"""Names are unique whatever is asked for."""

import itertools

import pytest

from tracegrad.ir.builder import Names

HINTS = ("mul", "mul_1", "mul_1_1", "1")


@pytest.mark.parametrize("hints", [*itertools.product(HINTS, repeat=4)])
def test_no_name_is_given_twice(hints: tuple[str, ...]) -> None:
    names = Names()
    given = [names.unique(hint) for hint in hints]
    assert len(set(given)) == len(given)
