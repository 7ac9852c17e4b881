"""Results with names: what they are called and how they are shown."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tracegrad as tg

CALLS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(0),
    "min": lambda x: x.min(0),
    "sort": lambda x: x.sort(),
    "topk": lambda x: x.topk(1),
    "kthvalue": lambda x: x.kthvalue(1),
    "median": lambda x: x.median(0),
    "nanmedian": lambda x: x.nanmedian(0),
    "mode": lambda x: x.mode(),
    "cummax": lambda x: x.cummax(0),
    "cummin": lambda x: x.cummin(0),
    "aminmax": lambda x: x.aminmax(),
}


def matrix() -> tg.Tensor:
    return tg.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("name", CALLS)
def test_named_after_the_function(name: str) -> None:
    result = CALLS[name](matrix())
    assert type(result) is getattr(tg.return_types, name)
    assert isinstance(result, tuple)
    assert repr(result).startswith(f"tracegrad.return_types.{name}(\n")
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(copied) is type(result)
        assert [t.tolist() for t in copied] == [t.tolist() for t in result]


def test_shown_as_pytorch_shows_it() -> None:
    assert repr(matrix().max(0)) == (
        "tracegrad.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 1]))"
    )


def test_none_is_forgotten() -> None:
    assert set(CALLS) <= set(tg.return_types.__all__)


def of_nan(x: tg.Tensor) -> Any:
    return x.nanmedian(0)


def test_integers_and_captured_calls_have_the_same_class() -> None:
    assert type(matrix().int().nanmedian(0)) is tg.return_types.nanmedian
    captured = tg.trace(of_nan)
    for _ in range(2):
        assert type(captured(matrix())) is tg.return_types.nanmedian
    assert captured.specializations[0].hits == 1
