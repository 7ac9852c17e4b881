"""Random streams: values recorded from PyTorch 2.13.0, and the engine's own promises.

The golden file keeps, for the seed 20 and each draw, dtype and size: the first three
values, a checksum of all of them, and a checksum of PyTorch's state afterwards.
"""

from __future__ import annotations

import copy
import math
import pickle
import platform
import threading
from fractions import Fraction

import numpy as np
import pytest

from tests.random_streams_cases import DRAWS, SEED, cases, golden, record
from tracegrad import random_streams as streams
from tracegrad.random_streams import MT19937
from tracegrad.random_streams.cephes import log_float32, sincos_float32
from tracegrad.random_streams.rounding import scale_and_shift

# Another C library has another last bit here and there.
USES_LIBM = ("randn", "normal_", "normal_strided", "exponential_")


INTERLEAVED = {
    "float32": [
        [0.49625658988952637, 0.7682217955589294, 0.08847743272781372],
        [0.3643381893634796, 0.13439632952213287, 0.16421625018119812],
        [-0.20410172641277313],
        [9, 9, 0],
        [0.3057610094547272],
        [1, 0, 3, 2],
        [1.0, 1.0, 1.0],
    ],
    "float64": [
        [0.9700530018065531, 0.707819864399788, 0.45938294312745087],
        [1.2644587093281903, -0.6874263917320185, 0.1603812602788958],
        [-0.8664416019125772],
        [3, 5, 2],
        [-0.6064511869240653],
        [3, 2, 0, 1],
        [0.0, 0.0, 0.0],
    ],
}


@pytest.mark.parametrize("name", list(DRAWS))
def test_golden_values(name: str) -> None:
    recorded = golden()
    for case, dtype, size in cases():
        if case != name:
            continue
        engine = MT19937(SEED)
        drawn = record(DRAWS[name](engine, size, dtype), engine.get_torch_state())
        expected = recorded[f"{name} {dtype} {size}"]
        if name in USES_LIBM and platform.libc_ver()[0] != "glibc":
            assert drawn[0] == pytest.approx(expected[0], rel=1e-6)
        else:
            assert drawn == expected, (name, dtype, size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_golden_interleaved(dtype: str) -> None:
    # PyTorch 2.13.0: rand(3), randn(3), randn(16)[0], randint(0, 10, (3,)), randn(1),
    # randperm(4), bernoulli_(0.5) of 3, after manual_seed(0).
    engine = MT19937(0)
    drawn = [
        streams.uniform(engine, 3, dtype).tolist(),
        streams.normal(engine, 3, dtype).tolist(),
        streams.normal(engine, 16, dtype)[:1].tolist(),
        streams.randint(engine, 3, 0, 10).tolist(),
        streams.normal(engine, 1, dtype).tolist(),
        streams.randperm(engine, 4).tolist(),
        streams.bernoulli(engine, 3, 0.5, dtype).tolist(),
    ]
    assert drawn == INTERLEAVED[dtype]
    assert engine.cached_normal is None


def test_words_are_the_published_ones() -> None:
    # The 10000th word of the seed 5489, as the C++ standard gives it for std::mt19937.
    assert int(MT19937(5489).words(10_000)[-1]) == 4123659995


def test_the_stream_does_not_depend_on_how_it_is_cut() -> None:
    whole = MT19937(1).words(20_000)
    engine = MT19937(1)
    cuts = [0, 1, 2, 511, 512, 513, 623, 624, 625, 1248, 3, 7000, 0, 8338]
    assert sum(cuts) == 20_000
    pieces = [engine.words(count) for count in cuts]
    assert np.array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("draws", [0, 1, 3, 15, 624])
def test_state_round_trip(draws: int) -> None:
    engine = MT19937(2**40 + 3)
    streams.normal(engine, 3)
    engine.words(draws)
    for state in (engine.get_state(), engine.get_torch_state()):
        twin = MT19937(0)
        twin.set_state(state)
        assert twin == engine
        assert twin.initial_seed == 2**40 + 3
        assert np.array_equal(twin.get_torch_state(), engine.get_torch_state())
        assert np.array_equal(
            streams.normal(twin, 3), streams.normal(engine.clone(), 3)
        )


def test_state_of_a_fresh_engine_round_trips() -> None:
    engine = MT19937(3)
    for state in (engine.get_state(), engine.get_torch_state()):
        twin = MT19937.from_state(state)
        assert twin == engine
        assert np.array_equal(twin.get_torch_state(), engine.get_torch_state())


def test_a_state_is_a_copy() -> None:
    engine = MT19937(4)
    state = engine.get_state()
    engine.words(5)
    engine.set_state(state)
    state[:] = 0
    assert np.array_equal(engine.words(5), MT19937(4).words(5))


def test_clones_are_independent() -> None:
    engine = MT19937(5)
    streams.normal(engine, 1)
    twin = engine.clone()
    first = streams.normal(engine, 20)
    assert twin != engine
    assert np.array_equal(streams.normal(twin, 20), first)
    assert twin == engine
    engine.cached_normal = None
    assert twin != engine


def test_copies_and_pickles_are_clones() -> None:
    engine = MT19937(6)
    streams.normal(engine, 1)
    twins = [
        copy.copy(engine),
        copy.deepcopy(engine),
        pickle.loads(pickle.dumps(engine)),
    ]
    assert all(twin == engine for twin in twins)
    engine.words(1)
    assert all(twin != engine for twin in twins)


def test_seeds() -> None:
    assert MT19937(-1).initial_seed == 2**64 - 1
    assert MT19937(2**32 + 7).words(1) == MT19937(7).words(1)
    assert MT19937(2**32 + 7) != MT19937(7)
    engine = MT19937(0)
    assert engine.seed() == engine.initial_seed < 2**53
    assert np.array_equal(engine.words(3), MT19937(engine.initial_seed).words(3))


def test_seeding_forgets_the_cached_normal() -> None:
    engine = MT19937(7)
    streams.normal(engine, 1)
    engine.manual_seed(7)
    assert engine == MT19937(7)


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_of_more_than_64_bits_raise(seed: int) -> None:
    with pytest.raises(ValueError, match="does not fit into 64 bits"):
        MT19937(seed)


@pytest.mark.parametrize(
    "state",
    [
        np.zeros(5055, np.uint8),
        np.zeros(5056, np.int64),
        np.zeros(5056, np.uint8),
        np.full(2516, 255, np.uint8),
    ],
)
def test_states_that_are_none_raise(state: np.ndarray) -> None:
    engine = MT19937(8)
    with pytest.raises(ValueError, match="state"):
        engine.set_state(state)
    assert engine == MT19937(8)


def test_engines_draw_in_threads_without_disturbing_each_other() -> None:
    engines = [MT19937(seed) for seed in range(4)]
    totals: dict[int, list[int]] = {}

    def draw(seed: int) -> None:
        words = [int(engines[seed].words(700).sum()) for _ in range(50)]
        totals[seed] = words

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(4):
        draw_again = MT19937(seed)
        expected = [int(draw_again.words(700).sum()) for _ in range(50)]
        assert totals[seed] == expected


def test_one_engine_shared_by_threads_gives_each_word_once() -> None:
    engine = MT19937(9)
    parts: list[np.ndarray] = []

    def draw() -> None:
        parts.extend(streams.uniform(engine, 100) for _ in range(50))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = streams.uniform(MT19937(9), 4 * 50 * 100)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(expected))


@pytest.mark.parametrize("shape", [(), (3,), (4, 5), (2, 0, 3)])
def test_shapes(shape: tuple[int, ...]) -> None:
    count = math.prod(shape)
    for draw in (streams.uniform, streams.normal, streams.exponential):
        shaped = draw(MT19937(10), shape, np.float64)
        assert shaped.shape == shape
        assert np.array_equal(shaped.ravel(), draw(MT19937(10), count, np.float64))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_dropout_of_all_or_nothing_draws_nothing(p: float) -> None:
    engine = MT19937(11)
    assert np.all(streams.dropout_mask(engine, (3, 4), p) == (p == 0.0))
    assert engine == MT19937(11)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 1000])
def test_randperm_is_the_sequential_shuffle(n: int) -> None:
    words = MT19937(12).words(max(n - 1, 0)).tolist()
    order = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    assert streams.randperm(MT19937(12), n).tolist() == order


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda e: streams.uniform(e, 2, low=2.0, high=1.0), "not below high"),
        (lambda e: streams.uniform(e, 2, np.float16, 0.0, 65505.0), "up to 65504"),
        (lambda e: streams.uniform(e, 2, np.float64, -1e308, 1e308), "difference"),
        (lambda e: streams.uniform(e, 2, np.float32, 0.0, math.inf), "nearer bounds"),
        (lambda e: streams.uniform(e, 2, np.int64), "dtype is int64"),
        (lambda e: streams.normal(e, 2, std=-1.0), "std >= 0"),
        (lambda e: streams.normal(e, 2, std=math.nan), "std >= 0"),
        (lambda e: streams.exponential(e, 2, rate=0.0), "positive rate"),
        (lambda e: streams.exponential(e, 2, np.complex64), "real numbers"),
        (lambda e: streams.bernoulli(e, 2, 1.5), "p=1.5"),
        (lambda e: streams.bernoulli_each(e, np.array([0.1, math.nan])), "outside"),
        (lambda e: streams.dropout_mask(e, 2, -0.1), "p=-0.1"),
        (lambda e: streams.randint(e, 2, 5, 5), "holds no number"),
        (lambda e: streams.randint(e, 2, 0, 257, np.uint8), "does not fit"),
        (lambda e: streams.randint(e, 2, -(2**63), None, np.int32), "no stream"),
        (lambda e: streams.random_integers(e, 2, np.uint16), "no stream"),
        (lambda e: streams.randperm(e, -1), "n=-1"),
    ],
)
def test_wrong_arguments_raise_and_draw_nothing(draw, message: str) -> None:
    engine = MT19937(13)
    with pytest.raises(ValueError, match=message):
        draw(engine)
    assert engine == MT19937(13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("scale", "shift"), [(1.5, -0.3), (0.1, 0.7), (3e-9, 1.0)])
def test_scale_and_shift_round_once(dtype: type, scale: float, shift: float) -> None:
    values = streams.normal(MT19937(14), 300, dtype)
    factor, addend = float(dtype(scale)), float(dtype(shift))
    exact = [Fraction(x) * Fraction(factor) + Fraction(addend) for x in values.tolist()]
    scale_and_shift(values, factor, addend)
    for value, target in zip(values, exact, strict=True):
        error = abs(Fraction(float(value)) - target)
        for neighbour in (
            np.nextafter(value, dtype(np.inf)),
            np.nextafter(value, dtype(-np.inf)),
        ):
            assert error <= abs(Fraction(float(neighbour)) - target)


def test_ties_of_the_wide_sum_are_rounded_once() -> None:
    # The product is 2**-24 * (1 + 2**-36): float64 drops the last bit of the sum, and a
    # second rounding would take the number left for a tie.
    above = np.array([2.0**-24 * (1.0 + 2.0**-12)], np.float32)
    below = -above
    scale = 1.0 - 2.0**-12 + 2.0**-24
    scale_and_shift(above, scale, 1.0)
    assert above.tolist() == [1.0 + 2.0**-23]
    scale_and_shift(below, scale, 1.0 + 2.0**-22)
    assert below.tolist() == [1.0 + 2.0**-23]


def test_ties_are_rounded_once_in_float64() -> None:
    # Exactly 1 + 2**-53 + 2**-131.
    values = np.array([2.0**-53 * (1.0 + 2.0**-26)])
    scale_and_shift(values, 1.0 - 2.0**-26 + 2.0**-52, 1.0)
    assert values.tolist() == [1.0 + 2.0**-52]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_uniform_equal_to_the_probability_is_no_hit(dtype: type) -> None:
    p = streams.uniform(MT19937(17), 50, dtype)
    assert not streams.bernoulli_each(MT19937(17), p).any()
    assert streams.bernoulli_each(MT19937(17), np.nextafter(p, dtype(2))).all()
    wide = float(streams.uniform(MT19937(17), 1, np.float64)[0])
    assert streams.bernoulli(MT19937(17), 1, wide).tolist() == [0.0]


def test_half_of_the_variance_goes_to_each_part_of_a_complex_normal() -> None:
    pairs = streams.normal(MT19937(18), 40, np.float64, 0.5, 2.0 / math.sqrt(2.0))
    drawn = streams.normal(MT19937(18), 20, np.complex128, 0.5, 2.0)
    assert np.array_equal(drawn.view(np.float64), pairs)


def test_memory_order_is_from_the_slowest_axis_to_the_fastest() -> None:
    base = np.empty((5, 4, 6), np.float32)
    for axes in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        view = base.transpose(axes)
        assert (
            view.transpose(streams.memory_order(view.strides)).strides == base.strides
        )


def test_float32_functions_are_accurate() -> None:
    unit = 1.0 - streams.uniform(MT19937(15), 20_000)
    angle = (2.0 * np.pi * unit).astype(np.float32)
    sine, cosine = sincos_float32(angle)
    wide = angle.astype(np.float64)
    np.testing.assert_allclose(sine, np.sin(wide), rtol=0, atol=1.2e-7)
    np.testing.assert_allclose(cosine, np.cos(wide), rtol=0, atol=1.2e-7)
    logarithm = np.log(unit.astype(np.float64))
    np.testing.assert_allclose(log_float32(unit), logarithm, rtol=2e-7)
    assert log_float32(np.ones(1, np.float32)).tolist() == [0.0]


def test_values_that_round_to_the_excluded_bound_become_the_other() -> None:
    halves = streams.uniform(MT19937(16), 200_000, np.float16)
    assert float(halves.max()) < 1.0
    narrow = streams.uniform(MT19937(16), 100, np.float32, 1.0, 1.0 + 2.0**-23)
    assert narrow.tolist() == [1.0] * 100
