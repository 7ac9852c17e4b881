"""PyTorch's own streams beside ours: values and the state after them.

Run as a module, this file writes the golden values that `tests/test_random_streams.py`
compares with on machines without PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.random_streams_cases import (
    DRAWS,
    FLOAT_DRAWS,
    GOLDEN,
    INTEGER_DRAWS,
    SEED,
    cases,
    golden,
    probabilities,
    record,
)
from tracegrad import random_streams as streams
from tracegrad.random_streams import MT19937

torch = pytest.importorskip("torch")

# MKL's streams are not reproduced (see `streams.bernoulli`).
MKL_DRAWS = ("bernoulli_scalar", "dropout_mask", "exponential_")

TORCH_DRAWS: dict[str, Callable[[int, Any], Any]] = {
    "rand": lambda n, dtype: torch.rand(n, dtype=dtype),
    "uniform_": lambda n, dtype: torch.empty(n, dtype=dtype).uniform_(-0.31, 1.77),
    "randn": lambda n, dtype: torch.randn(n, dtype=dtype),
    "normal_": lambda n, dtype: torch.empty(n, dtype=dtype).normal_(0.31, 1.77),
    "normal_strided": lambda n, dtype: (
        torch.empty(n, 2, dtype=dtype)[:, 0].normal_(0.31, 1.77).contiguous()
    ),
    "exponential_": lambda n, dtype: torch.empty(n, dtype=dtype).exponential_(0.7),
    "bernoulli_scalar": lambda n, dtype: torch.empty(n, dtype=dtype).bernoulli_(0.3),
    "bernoulli_tensor": lambda n, dtype: torch.bernoulli(
        torch.from_numpy(probabilities(n, str(dtype).removeprefix("torch.")))
    ),
    "dropout_mask": lambda n, dtype: (
        torch.nn.functional.dropout(torch.ones(n, dtype=dtype), 0.3) != 0
    ),
    "randint_short": lambda n, dtype: torch.randint(3, 10, (n,), dtype=dtype),
    "randint_below_2_28": lambda n, dtype: torch.randint(
        0, 2**28 - 1, (n,), dtype=dtype
    ),
    "randint_2_28": lambda n, dtype: torch.randint(-64, 2**28, (n,), dtype=dtype),
    "random_": lambda n, dtype: torch.empty(n, dtype=dtype).random_(),
    "random_from": lambda n, dtype: torch.empty(n, dtype=dtype).random_(-7, None),
    "randperm": lambda n, dtype: torch.randperm(n, dtype=dtype),
    "randint_2_45": lambda n, dtype: torch.randint(-(2**40), 2**45, (n,), dtype=dtype),
    "random_64_bits": lambda n, dtype: torch.empty(n, dtype=dtype).random_(
        -(2**63), None
    ),
}

pytestmark = pytest.mark.filterwarnings("ignore:.*out of bounds:UserWarning")


def torch_state() -> NDArray[np.uint8]:
    state: NDArray[np.uint8] = torch.get_rng_state().numpy()
    return state


def torch_record(name: str, dtype: str, size: int) -> list[Any]:
    torch.manual_seed(SEED)
    values = TORCH_DRAWS[name](size, getattr(torch, dtype))
    return record(values.numpy(), torch_state())


def draws_by_mkl() -> bool:
    """Whether this machine's PyTorch draws scalar Bernoulli variates by MKL."""
    torch.manual_seed(0)
    torch.empty(4).bernoulli_(0.5)
    engine = MT19937(0)
    engine.words(8)
    return not np.array_equal(torch_state(), engine.get_torch_state())


def skip_on_mkl(name: str) -> None:
    if name in MKL_DRAWS and draws_by_mkl():
        pytest.skip("PyTorch draws this by MKL on Intel's processors")


@pytest.mark.parametrize("name", list(DRAWS))
def test_golden_values_are_those_of_this_torch(name: str) -> None:
    skip_on_mkl(name)
    recorded = golden()
    for case, dtype, size in cases():
        if case == name:
            key = f"{case} {dtype} {size}"
            assert torch_record(case, dtype, size) == recorded[key], key


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 5, -1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", list(FLOAT_DRAWS | INTEGER_DRAWS))
def test_many_sizes_in_one_stream(name: str, dtype: str, seed: int) -> None:
    skip_on_mkl(name)
    torch.manual_seed(seed)
    engine = MT19937(seed)
    for size in (3, 40, 1, 0, 16, 623, 7, 624, 625, 5, 1000, 2, 5003):
        expected = TORCH_DRAWS[name](size, getattr(torch, dtype)).numpy()
        drawn = DRAWS[name](engine, size, dtype)
        assert drawn.dtype == expected.dtype
        assert drawn.tobytes() == expected.tobytes(), size
        assert np.array_equal(engine.get_torch_state(), torch_state()), size


@pytest.mark.parametrize("seed", range(6))
def test_routines_interleaved(seed: int) -> None:
    names = [name for name in DRAWS if not (name in MKL_DRAWS and draws_by_mkl())]
    order = np.random.default_rng(seed)
    torch.manual_seed(seed)
    engine = MT19937(seed)
    for _ in range(40):
        name, size = str(order.choice(names)), int(order.integers(0, 70))
        expected = TORCH_DRAWS[name](size, torch.float64).numpy()
        assert DRAWS[name](engine, size, "float64").tobytes() == expected.tobytes()
        assert np.array_equal(engine.get_torch_state(), torch_state()), (name, size)


@pytest.mark.parametrize("name", ["rand", "uniform_", "randn", "normal_"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float16", "bfloat16"])
def test_other_dtypes(name: str, dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    torch.manual_seed(3)
    engine = MT19937(3)
    for size in (1, 7, 8, 15, 16, 17, 333):
        expected = TORCH_DRAWS[name](size, getattr(torch, dtype))
        drawn = DRAWS[name](engine, size, dtype)
        bits = torch.view_as_real(expected) if expected.is_complex() else expected
        assert drawn.tobytes() == bytes(bits.view(torch.uint8).numpy().tobytes())
        assert np.array_equal(engine.get_torch_state(), torch_state()), size


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "float16"])
@pytest.mark.parametrize("bounds", [(0, 2), (0, 127), (-5, 9), (0, 65504), (3, None)])
def test_narrow_integers(dtype: str, bounds: tuple[int, int | None]) -> None:
    torch.manual_seed(4)
    engine = MT19937(4)
    target = torch.empty(50, dtype=getattr(torch, dtype))
    try:
        expected = target.random_(*bounds).numpy()
    except RuntimeError:
        with pytest.raises(ValueError, match="range from"):
            streams.randint(engine, 50, *bounds, dtype)
        return
    assert np.array_equal(streams.randint(engine, 50, *bounds, dtype), expected)
    assert np.array_equal(engine.get_torch_state(), torch_state())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "bounds",
    [
        (0, 2**11 + 3),
        (2**24 + 1, 2**25 + 1),
        (2**53 + 1, 2**54 + 1),
        (-(2**62), 2**63 - 1),
        (-(2**25) - 1, None),
    ],
)
def test_bounds_that_a_floating_dtype_cannot_hold(
    dtype: str, bounds: tuple[int, int | None]
) -> None:
    torch.manual_seed(4)
    engine = MT19937(4)
    target = torch.empty(500, dtype=getattr(torch, dtype))
    try:
        expected = target.random_(*bounds).numpy()
    except RuntimeError:
        with pytest.raises(ValueError, match="range from"):
            streams.randint(engine, 500, *bounds, dtype)
        return
    assert np.array_equal(streams.randint(engine, 500, *bounds, dtype), expected)
    assert np.array_equal(engine.get_torch_state(), torch_state())


@pytest.mark.parametrize(
    ("low", "high"),
    [(-0.3, 1.2), (0.0, 1e-3), (-1 / 3, 1 / 3), (5.0, 5.0), (1.0, 1.0 + 2**-20)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_bounds_are_rounded_once(low: float, high: float, dtype: str) -> None:
    torch.manual_seed(5)
    expected = torch.empty(20_000, dtype=getattr(torch, dtype)).uniform_(low, high)
    drawn = streams.uniform(MT19937(5), 20_000, dtype, low, high)
    assert drawn.tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("std", [0.0, 1e300, float("inf")])
def test_extreme_normals_overflow_silently(dtype: str, std: float) -> None:
    for size in (5, 40):
        torch.manual_seed(9)
        expected = torch.empty(size, dtype=getattr(torch, dtype)).normal_(0.5, std)
        drawn = streams.normal(MT19937(9), size, dtype, 0.5, std)
        assert np.array_equal(drawn, expected.numpy(), equal_nan=True)


def test_tensors_that_are_not_contiguous_are_filled_in_memory_order() -> None:
    torch.manual_seed(6)
    engine = MT19937(6)
    base = torch.zeros(5, 4, 6)
    for view in (base.permute(2, 0, 1), base[:, ::2], base.transpose(0, 1)[1:]):
        view.normal_()
        filled = np.zeros(tuple(view.shape), np.float32)
        target = filled.transpose(streams.memory_order(view.stride()))
        target[...] = streams.normal(engine, target.shape, contiguous=False)
        assert np.array_equal(filled, view.numpy())
        assert np.array_equal(engine.get_torch_state(), torch_state())


@pytest.mark.parametrize("size", [0, 1, 7, 30])
def test_states_go_from_torch_to_us_and_back(size: int) -> None:
    torch.manual_seed(7)
    torch.randn(size)
    torch.rand(size)
    engine = MT19937.from_state(torch_state())
    expected = torch.randn(5)
    assert np.array_equal(streams.normal(engine, 5), expected.numpy())
    torch.set_rng_state(torch.from_numpy(engine.get_torch_state()))
    assert np.array_equal(streams.uniform(engine, 9), torch.rand(9).numpy())


@pytest.mark.parametrize("seed", [0, -1, -(2**63), 2**63, 2**64 - 1])
def test_seeds_of_64_bits(seed: int) -> None:
    torch.manual_seed(seed)
    assert MT19937(seed).initial_seed == torch.initial_seed()
    assert np.array_equal(MT19937(seed).get_torch_state(), torch_state())


def test_default_seed() -> None:
    generator = torch.Generator()
    assert np.array_equal(MT19937().get_torch_state(), generator.get_state().numpy())


def test_a_million_normals() -> None:
    torch.manual_seed(8)
    expected = torch.randn(1_000_003).numpy()
    assert np.array_equal(streams.normal(MT19937(8), 1_000_003), expected)


if __name__ == "__main__":
    lines = [
        f"{json.dumps(f'{name} {dtype} {size}')}: "
        + json.dumps(torch_record(name, dtype, size))
        for name, dtype, size in cases()
    ]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
