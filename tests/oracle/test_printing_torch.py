"""Printed tensors are PyTorch's, character for character."""

from typing import Any

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")

_INF, _NAN = float("inf"), float("nan")
_NUMBERS = [
    1.0,
    [1.0, 2.0, 3.0],
    [1.5, -2.25, 1000.0],
    [0.0, 0.0],
    [-0.0, 1.0],
    [1e-5, 1.0],
    [1e-3, 0.9],
    [1e9, 1.0],
    [1e9, 2e9],
    [123456.0, 1.0],
    [1.0, _INF, _NAN, -_INF],
    [0.5, _INF, _NAN],
    [_NAN],
    [1e-40, 2e-40],
    [[1.0, -2.0], [0.333333, 4.0]],
    [[[1.0], [2.0]], [[3.0], [-4.0]]],
    1e-8,
    12345678.9,
    0.1,
    -1.0,
]
_DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def _torch_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give dtypes PyTorch's longer or shorter name: it decides where lines break."""
    monkeypatch.setattr(tg.dtype, "__repr__", lambda self: f"torch.{self.name}")


def same(make: Any) -> None:
    assert repr(make(tg)) == repr(make(torch))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("values", _NUMBERS, ids=str)
def test_numbers(values: Any, dtype: str) -> None:
    same(lambda lib: lib.tensor(values, dtype=getattr(lib, dtype)))


@pytest.mark.parametrize(
    "values", [3, [1, -20, 300], [[1], [1000000]], [True, False], True, [[0, 1, 2]]]
)
@pytest.mark.parametrize("dtype", [None, "int64", "int32", "uint8", "int8", "bool"])
def test_integers(values: Any, dtype: str | None) -> None:
    if dtype in ("int8", "uint8"):
        values = np.array(values).astype(dtype).tolist()

    def make(lib: Any) -> Any:
        wanted = None if dtype is None else getattr(lib, dtype)
        return lib.tensor(values, dtype=wanted)

    same(make)


@pytest.mark.parametrize(
    "shape",
    [
        (0,),
        (0, 3),
        (2, 0),
        (30,),
        (7, 9),
        (2, 3, 4),
        (1001,),
        (40, 40),
        (3, 20, 30),
        (1, 1500),
        (2, 2, 2, 3),
        (5000, 1),
        (12, 6, 20),
        (),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "complex64"])
def test_shapes(shape: tuple[int, ...], dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed + 1)
    values = rng.standard_normal(shape) * 3
    if dtype == "complex64":
        values = values + 1j * rng.standard_normal(shape)
    array = np.asarray(values).astype(dtype)
    same(lambda lib: lib.tensor(array))


def test_random_magnitudes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        size = int(rng.integers(1, 12))
        exponents = rng.uniform(-6, 10, size) * rng.integers(0, 2)
        values = rng.standard_normal(size) * 10.0**exponents
        if rng.integers(0, 2):
            values = np.round(values)
        array = values.astype(["float32", "float64"][int(rng.integers(0, 2))])
        same(lambda lib, array=array: lib.tensor(array))


def _parameter(lib: Any) -> Any:
    made = lib.Parameter if lib is tg else lib.nn.Parameter
    return made(lib.tensor([1.0, 2.0]))


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.ones(2, requires_grad=True),
        lambda lib: lib.ones(2, requires_grad=True) * 2,
        lambda lib: lib.ones(2, requires_grad=True).exp().detach(),
        lambda lib: lib.ones(19, dtype=lib.float64, requires_grad=True),
        lambda lib: lib.ones(20, dtype=lib.float64, requires_grad=True) - 1,
        lambda lib: lib.ones(2, 3, device="meta"),
        lambda lib: lib.ones(2, dtype=lib.int32, device="meta"),
        lambda lib: lib.ones(0, dtype=lib.int32, requires_grad=False),
        lambda lib: lib.ones(3, 2).t(),
        lambda lib: lib.arange(10)[::3],
        _parameter,
    ],
)
def test_suffixes(make: Any) -> None:
    same(make)


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2},
        {"precision": 8, "linewidth": 60},
        {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"sci_mode": True},
        {"sci_mode": False},
        {"profile": "short"},
        {"profile": "full"},
        {"linewidth": 20},
    ],
)
def test_options(options: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [
        rng.standard_normal((4, 9)),
        rng.standard_normal(3) * 1e6,
        rng.integers(0, 1000, (3, 15)),
        rng.standard_normal(1100),
    ]
    try:
        torch.set_printoptions(**options)
        tg.set_printoptions(**options)
        for array in arrays:
            same(lambda lib, array=array: lib.tensor(array))
    finally:
        torch.set_printoptions(profile="default")
        tg.set_printoptions(profile="default")


@pytest.mark.parametrize("spec", ["", ".2f", ">8", "5.1e"])
def test_format(spec: str) -> None:
    for value in (1.5, 3):
        ours = format(tg.tensor(value), spec)
        assert ours == format(torch.tensor(value), spec)
    assert f"{tg.tensor([1.5])}" == f"{torch.tensor([1.5])}"
    with pytest.raises(TypeError):
        format(tg.tensor([1.5]), ".2f")
