"""`assert_close` accepts and refuses what PyTorch's does."""

from typing import Any

import pytest

import tracegrad as tg
from tracegrad.testing import assert_close

torch = pytest.importorskip("torch")

CASES = {
    "equal": lambda lib: (lib.ones(2), lib.ones(2)),
    "rounding": lambda lib: (lib.ones(2), lib.ones(2) + 1e-6),
    "too far": lambda lib: (lib.ones(2), lib.ones(2) + 1e-4),
    "double": lambda lib: (
        lib.ones(2, dtype=lib.float64),
        lib.ones(2, dtype=lib.float64) + 1e-6,
    ),
    "half": lambda lib: (
        lib.ones(2, dtype=lib.float16),
        lib.ones(2, dtype=lib.float16) + 1e-3,
    ),
    "integers": lambda lib: (lib.tensor([1, 2]), lib.tensor([1, 3])),
    "shape": lambda lib: (lib.ones(2), lib.ones(3)),
    "dtype": lambda lib: (lib.ones(2), lib.ones(2, dtype=lib.float64)),
    "nan": lambda lib: (lib.tensor([float("nan")]), lib.tensor([float("nan")])),
    "infinity": lambda lib: (lib.tensor([float("inf")]), lib.tensor([float("inf")])),
    "infinities": lambda lib: (lib.tensor([float("inf")]), lib.tensor([-float("inf")])),
    "numbers": lambda lib: (1.0, 1.0 + 1e-9),
    "lists": lambda lib: ([lib.ones(1), 2], [lib.ones(1), 2]),
    "lengths": lambda lib: ([1], [1, 2]),
    "dicts": lambda lib: ({"a": lib.ones(1)}, {"a": lib.zeros(1)}),
    "keys": lambda lib: ({"a": 1}, {"b": 1}),
    "0-dim": lambda lib: (lib.tensor(1.0), lib.tensor(2.0)),
    "empty": lambda lib: (lib.ones(0), lib.ones(0)),
    "complex": lambda lib: (lib.tensor([1 + 1j]), lib.tensor([1 + 1.1j])),
    "none": lambda lib: (None, lib.ones(1)),
}


def _refuses(check: Any, values: Any, **options: Any) -> bool:
    try:
        check(*values, **options)
    except AssertionError:
        return True
    except TypeError:
        # PyTorch's for values that it can't pair.
        return True
    return False


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "options",
    [{}, {"rtol": 0.5, "atol": 0.5}, {"equal_nan": True}, {"check_dtype": False}],
)
def test_the_same_verdict(name: str, options: dict[str, Any]) -> None:
    ours = _refuses(assert_close, CASES[name](tg), **options)
    assert ours == _refuses(torch.testing.assert_close, CASES[name](torch), **options)


def test_the_message_says_where_and_how_much() -> None:
    with pytest.raises(AssertionError, match="1 / 2") as info:
        assert_close([tg.tensor([1.0, 2.0])], [tg.tensor([1.0, 5.0])])
    assert "3.0 at index (1,)" in str(info.value)
    assert "item [0]" in str(info.value)
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(1.0, 2.0, msg="mine")
    with pytest.raises(tg.errors.ArgumentError, match="both"):
        assert_close(1.0, 1.0, rtol=1)
