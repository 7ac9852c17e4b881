"""Programs of custom operators that write into views: captured as eagerly."""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

import tracegrad as tg


@tg.library.custom_op("writes::add", mutates_args=("p",))
def add(p: tg.Tensor, by: tg.Tensor) -> None:
    """Add in place."""
    p.add_(by)


@tg.library.custom_op("writes::swap", mutates_args=("p", "q"))
def swap(p: tg.Tensor, q: tg.Tensor) -> tg.Tensor:
    """Exchange, by NumPy; give the sum."""
    before = p.numpy().copy()
    p.numpy()[...] = q.numpy()
    q.numpy()[...] = before
    return p + q


@swap.register_fake
def _(p: Any, q: Any) -> Any:
    return tg.empty_like(p)


steps = st.tuples(
    st.sampled_from(["add", "swap", "mul", "read", "base"]),
    st.integers(0, 2),
    st.integers(0, 2),
)


def program(written: list[tuple[str, int, int]]) -> Callable[..., Any]:
    def run(base: Any, other: Any) -> Any:
        results = []
        for what, i, j in written:
            if what == "add":
                add(base[i], other)
            elif what == "swap":
                results.append(swap(base[i], base[j]))
            elif what == "mul":
                base[i].mul_(2)
            elif what == "read":
                results.append(base[j] + other)
            else:
                add(base, other)
        return results

    return run


@settings(max_examples=60)
@given(st.lists(steps, min_size=1, max_size=5))
def test_captured_as_eager(written: list[tuple[str, int, int]]) -> None:
    run = program(written)
    captured = tg.trace(run)
    for call in range(3):
        states = []
        for function in (run, captured):
            base = tg.arange(6.0).reshape(3, 2) + call
            other = tg.tensor([1.0, 10.0])
            results = function(base, other)
            states.append(([r.tolist() for r in results], base.tolist(), base._version))
        assert states[0] == states[1]
