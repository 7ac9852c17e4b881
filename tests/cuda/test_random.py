"""The counted random streams: their words, their draws, eager and traced."""

import pickle
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.support.cuda_on_cpu.fake_cupy import Installed
from tracegrad.random_streams import Philox, counted

# Of the reference implementation (Random123, kat_vectors): philox4x32-10.
KNOWN = [
    (0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
]


@pytest.mark.parametrize(("seed", "block", "words"), KNOWN)
def test_known_words(seed: int, block: int, words: list[int]) -> None:
    engine = Philox(seed, "cpu")
    engine.offset = block
    assert engine.words(4).tolist() == words


@pytest.mark.parametrize("count", [0, 1, 4, 7, 1030])
@pytest.mark.parametrize("seed", [0, -1, 2**63 + 12345])
def test_the_kernel_gives_the_words_of_the_definition(
    fake_cupy: Installed, seed: int, count: int
) -> None:
    on_device, on_host = Philox(seed), Philox(seed, "cpu")
    on_device.offset = on_host.offset = 2**32 - 3
    found = on_device.words(count)
    assert found.get().tolist() == on_host.words(count).tolist()
    assert on_device.offset == on_host.offset


def test_words_go_on_where_they_ended() -> None:
    engine = Philox(7, "cpu")
    parts = np.concatenate([engine.words(8), engine.words(4)])
    assert parts.tolist() == Philox(7, "cpu").words(12).tolist()


def test_states() -> None:
    engine = Philox(3, "cpu")
    engine.words(5)
    other = Philox(0, "cpu")
    other.set_state(engine.get_state())
    assert other == engine == engine.clone() == pickle.loads(pickle.dumps(engine))
    with pytest.raises(ValueError, match="16 bytes"):
        other.set_state(np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="seed"):
        engine.manual_seed(2**64)


COUNT = 40_000


def moments(draws: Any) -> tuple[float, float]:
    return float(np.mean(draws)), float(np.std(draws))


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_distributions(name: str) -> None:
    engine, dtype = Philox(1, "cpu"), np.dtype(name)
    near = {"abs": 0.02}
    uniform = counted.uniform(engine, (COUNT,), dtype, -1.0, 3.0)
    assert uniform.dtype == dtype
    assert uniform.min() >= -1.0
    assert uniform.max() < 3.0
    wide = uniform.astype(np.float64)
    assert moments(wide) == pytest.approx((1.0, 4 / 12**0.5), **near)
    normal = counted.normal(engine, (COUNT,), dtype, 1.0, 2.0).astype(np.float64)
    assert moments(normal) == pytest.approx((1.0, 2.0), abs=0.04)
    assert np.mean(np.abs(normal - 1.0) < 2.0) == pytest.approx(0.6827, abs=0.01)
    waits = counted.exponential(engine, (COUNT,), dtype, 2.0).astype(np.float64)
    assert moments(waits) == pytest.approx((0.5, 0.5), **near)
    ones = counted.bernoulli(engine, (COUNT,), 0.3, dtype)
    assert float(ones.astype(np.float64).mean()) == pytest.approx(0.3, abs=0.01)


def test_complex_draws() -> None:
    engine = Philox(1, "cpu")
    found = counted.normal(engine, (COUNT,), np.dtype("complex64"), 0.0, 1.0)
    assert found.dtype == np.complex64
    assert float(np.mean(np.abs(found) ** 2)) == pytest.approx(1.0, abs=0.03)
    assert np.iscomplexobj(
        counted.uniform(engine, (3,), np.dtype("complex128"), 0.0, 1.0)
    )


@pytest.mark.parametrize(("low", "high"), [(0, 6), (-3, 3), (0, 2**40), (5, 6)])
def test_integers(low: int, high: int) -> None:
    draws = counted.randint(Philox(2, "cpu"), (COUNT,), low, high, np.dtype("int64"))
    assert draws.min() >= low
    assert draws.max() < high
    middle = (low + high - 1) / 2
    assert float(draws.mean()) == pytest.approx(middle, abs=0.02 * (high - low))


def test_all_integers_and_permutations() -> None:
    engine = Philox(2, "cpu")
    draws = counted.randint(engine, (COUNT,), -(2**63), None, np.dtype("int64"))
    assert draws.min() < -(2**62)
    assert draws.max() > 2**62
    small = counted.random_integers(engine, (COUNT,), np.dtype("uint8"))
    assert (small.min(), small.max()) == (0, 255)
    order = counted.randperm(engine, 100, np.dtype("int64"))
    assert sorted(order.tolist()) == list(range(100))
    assert order.tolist() != list(range(100))


DRAWS: dict[str, Any] = {
    "rand": lambda: tg.rand(3, 2, device="cuda"),
    "randn": lambda: tg.randn(5, device="cuda"),
    "randint": lambda: tg.randint(2, 9, (4,), device="cuda"),
    "randperm": lambda: tg.randperm(6, device="cuda"),
    "bernoulli": lambda: tg.bernoulli(tg.full((4,), 0.5, device="cuda")),
    "uniform_": lambda: tg.empty(3, device="cuda").uniform_(1, 2),
    "normal_": lambda: tg.empty(3, device="cuda").normal_(),
    "exponential_": lambda: tg.empty(3, device="cuda").exponential_(),
    "rand_like": lambda: tg.rand_like(tg.zeros(2, 2, device="cuda")),
    "dropout": lambda: tg.nn.functional.dropout(tg.ones(9, device="cuda")),
}


@pytest.mark.parametrize("name", DRAWS)
def test_traced_draws_are_the_eager_ones(fake_cupy: Installed, name: str) -> None:
    tg.ones(1, device="cuda")
    draw = DRAWS[name]
    traced = tg.trace(draw, strict=True)

    def three(function: Any) -> list[Any]:
        tg.manual_seed(5)
        return [function().tolist() for _ in range(3)]

    wanted = three(draw)
    assert three(traced) == wanted
    assert three(traced) == wanted
    assert len(traced.specializations) == 1
    assert wanted[0] != wanted[1]
    assert draw().device.type == "cuda"


def test_a_seed_inside_a_captured_call(fake_cupy: Installed) -> None:
    def seeded(x: Any) -> Any:
        tg.manual_seed(4)
        return x + tg.rand(3, device="cuda")

    x = tg.zeros(3, device="cuda")
    wanted = seeded(x).tolist()
    captured = tg.trace(seeded, strict=True)
    for _ in range(3):
        assert captured(x).tolist() == wanted


def test_the_default_seed_holds_for_a_device_used_later(fake_cupy: Installed) -> None:
    tg.manual_seed(9)
    first = tg.rand(3, device="cuda").tolist()
    tg.manual_seed(9)
    assert tg.rand(3, device="cuda").tolist() == first


def test_generators(fake_cupy: Installed) -> None:
    generator = tg.Generator("cuda").manual_seed(1)
    assert str(generator.device) == "cuda:0"
    first = tg.rand(3, device="cuda", generator=generator).tolist()
    state = generator.get_state()
    second = tg.rand(3, device="cuda", generator=generator).tolist()
    generator.set_state(state)
    assert tg.rand(3, device="cuda", generator=generator).tolist() == second != first
    with pytest.raises(RuntimeError, match="generator on cuda:0"):
        tg.rand(3, device="cuda", generator=tg.Generator())
    with pytest.raises(RuntimeError, match="generator on cpu"):
        tg.rand(3, generator=generator)
    with pytest.raises(RuntimeError, match="generator"):
        tg.zeros(3).normal_(generator=generator)
