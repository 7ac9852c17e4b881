"""Random programs, eagerly and captured: the same in all that can be seen."""

from __future__ import annotations

import random
import warnings

import pytest

from tests.captured.compare import compare_calls
from tests.captured.random_programs import arguments, made

FAST = 150
SLOW = 4000


def check(number: int) -> None:
    function, source = made(number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            backward = random.Random(number).random() < 0.6
            compare_calls(function, arguments(number), backward=backward)
    except AssertionError as error:
        raise AssertionError(f"program {number}\n{source}\n{error}") from error


@pytest.mark.parametrize("part", range(10))
def test_random_programs(part: int, seed: int) -> None:
    for number in range(part, FAST, 10):
        check(number + 100_000 * seed)


@pytest.mark.slow
def test_many_random_programs(seed: int) -> None:
    for number in range(FAST, SLOW):
        check(number + 100_000 * seed)
