"""In-place operations that fail leave their target as it was: all of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg

INPLACE = sorted(
    name
    for name in dir(tg.Tensor)
    if name.endswith("_") and not name.endswith("__") and name != "requires_grad_"
)
SHAPE = (3, 2)


def arguments() -> list[tuple[Any, ...]]:
    """Return what some in-place operation refuses."""
    whole, nan = tg.ones(SHAPE), float("nan")
    bad_rows = tg.tensor([0, 9])
    bad_places = tg.tensor([[0, 1], [9, 0]])
    return [
        (),
        ("a",),
        (object(),),
        (None,),
        (nan,),
        (-5.0,),
        (1j,),
        (99,),
        (tg.ones(7),),
        (tg.ones(5, 5),),
        (tg.ones(SHAPE, dtype=tg.complex64),),
        (tg.ones(SHAPE, device="meta"),),
        (tg.tensor([9]),),
        (0, bad_rows, tg.ones(2, 2)),
        (0, tg.tensor([9]), 1.0),
        (0, bad_places, 1.0),
        (0, bad_places, tg.ones(2, 2)),
        (0, bad_places, tg.ones(2, 2), "sum"),
        (tg.tensor([True] * 5), 1.0),
        (tg.tensor([0, 99]), tg.ones(2)),
        ((bad_rows,), tg.ones(2, 2)),
        (whole, tg.ones(9)),
        (tg.ones(9), whole),
        (whole.bool(), tg.ones(3)),
        tuple(range(9)),
    ]


def fails(target: tg.Tensor, name: str, given: tuple[Any, ...]) -> bool:
    """Call an in-place operation; whether it was refused, in words of ours."""
    try:
        getattr(target, name)(*given)
    except tg.errors.TracegradError:
        return True
    except TypeError as error:
        # Python's own, of a wrong number of arguments.
        return f"{name}()" in str(error)
    return False


@pytest.mark.parametrize("name", INPLACE)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_unchanged(name: str, dtype: str) -> None:
    refused = 0
    for given in arguments():
        target = tg.arange(6.0).reshape(SHAPE).to(getattr(tg, dtype))
        before = target.numpy().copy()
        state = tg.default_generator.get_state().copy()
        if not fails(target, name, given):
            continue
        refused += 1
        assert np.array_equal(target.numpy(), before), given
        assert target.stride() == (2, 1)
        assert target.dtype.name == dtype
        assert target._version == 0, given
        assert np.array_equal(tg.default_generator.get_state(), state), given
    assert refused


FORBIDDEN: dict[str, Callable[[], tg.Tensor]] = {
    "leaf": lambda: tg.ones(SHAPE, requires_grad=True),
    "view of a leaf": lambda: tg.ones(SHAPE, requires_grad=True)[:],
    "expanded": lambda: tg.ones(1, 2).expand(SHAPE),
    "read-only": lambda: tg.from_numpy(np.broadcast_to(np.float32(1.0), SHAPE)),
}


def good_arguments(name: str) -> tuple[Any, ...]:
    """Return arguments with which `name` works on a writable tensor."""
    index, mask = tg.tensor([0, 1, 2]), tg.ones(SHAPE).bool()
    choices: list[tuple[Any, ...]] = [
        (),
        (tg.ones(SHAPE),),
        (0.5,),
        (1,),
        (0, index, tg.ones(SHAPE)),
        (0, index, 1.0),
        (0, index.reshape(3, 1), tg.ones(3, 1)),
        (0, index.reshape(3, 1), tg.ones(3, 1), "sum"),
        (mask, 1.0),
        (mask, tg.ones(SHAPE)),
        (tg.tensor([0]), tg.ones(1)),
        ((index,), tg.ones(SHAPE)),
        (tg.ones(SHAPE), tg.ones(SHAPE)),
        (tg.ones(SHAPE), 0.5),
        (tg.ones(3, 3), tg.ones(SHAPE)),
        (tg.ones(3), tg.ones(2)),
        (0.0, 1.0),
    ]
    for given in choices:
        if not fails(tg.ones(SHAPE), name, given):
            return given
    return ()


@pytest.mark.parametrize("kind", FORBIDDEN)
@pytest.mark.parametrize("name", [n for n in INPLACE if n != "detach_"])
def test_what_must_not_be_written_is_not(name: str, kind: str) -> None:
    if (name, kind) == ("fill_diagonal_", "expanded"):
        pytest.skip("PyTorch writes it, and so does tracegrad: each row is the same")
    target = FORBIDDEN[kind]()
    assert fails(target, name, good_arguments(name))
    assert target.detach().numpy().tolist() == [[1.0, 1.0]] * 3
    assert target._version == 0
