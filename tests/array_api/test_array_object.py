"""The array object: operators, attributes, conversions, indexing, interchange."""

import operator
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
import tracegrad.array_api as xp

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
    operator.mod, operator.pow, operator.eq, operator.ne, operator.lt, operator.le,
    operator.gt, operator.ge,
]  # fmt: skip


@pytest.mark.parametrize("apply", BINARY)
def test_0_dim_arrays_count_in_promotion(apply: Any) -> None:
    x, y = xp.ones((2,), dtype=xp.float32), xp.ones((), dtype=xp.float64)
    for found in (apply(x, y), apply(y, x)):
        assert isinstance(found, xp.Array)
        assert found.dtype in (xp.float64, xp.bool)
    assert (tg.ones(2) + tg.ones((), dtype=tg.float64)).dtype is tg.float32


def test_matrices() -> None:
    x = xp.reshape(xp.arange(6.0), (2, 3))
    assert (x @ x.mT).shape == (2, 2)
    assert x.T.shape == (3, 2)
    with pytest.raises(RuntimeError, match="mT"):
        _ = xp.ones(3).mT
    with pytest.raises(RuntimeError, match="T of"):
        _ = xp.ones((1, 2, 3)).T


def test_in_place() -> None:
    x = xp.ones((2, 2), dtype=xp.float64)
    y = x
    y += xp.ones((), dtype=xp.float32)
    assert x is y
    assert float(x[0, 0]) == 2
    narrow = xp.ones((2,), dtype=xp.float32)
    with pytest.raises(RuntimeError, match="can't hold"):
        narrow += xp.ones((2,), dtype=xp.float64)
    with pytest.raises(RuntimeError, match="shape"):
        narrow += xp.ones((2, 2))


def test_mixed_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="no common dtype"):
        xp.ones(2) + xp.ones(2, dtype=xp.int64)
    with pytest.raises(TypeError, match="beside"):
        xp.ones(2, dtype=xp.int64) + 1.5
    with pytest.raises(TypeError):
        xp.ones(2) + "a"
    with pytest.raises(TypeError, match="sin takes"):
        xp.sin(xp.ones(2, dtype=xp.int64))


def test_attributes() -> None:
    x = xp.zeros((2, 3), dtype=xp.int8)
    assert (x.size, x.ndim, x.shape, x.dtype) == (6, 2, (2, 3), xp.int8)
    assert x.device == tg.device("cpu")
    assert x.to_device("cpu") is x
    assert x.__array_namespace__(api_version="2024.12") is xp
    assert tg.ones(2).__array_namespace__() is xp
    with pytest.raises(TypeError, match="1999"):
        x.__array_namespace__(api_version="1999.01")


def test_conversions() -> None:
    assert bool(xp.asarray(3)) is True
    assert int(xp.asarray(True)) == 1
    assert complex(xp.asarray(1.5)) == 1.5
    assert operator.index(xp.asarray(4)) == 4
    with pytest.raises(TypeError, match="index"):
        operator.index(xp.asarray(1.0))
    with pytest.raises(TypeError):
        float(xp.asarray(1j))


def test_indexing() -> None:
    x = xp.reshape(xp.arange(12), (3, 4))
    array = np.arange(12).reshape(3, 4)
    for key in (0, (1, 2), slice(None, None, -1), (..., 1), (None, 0), array > 5):
        own = xp.asarray(key) if isinstance(key, np.ndarray) else key
        found = x[own]
        assert isinstance(found, xp.Array)
        assert np.array_equal(found.numpy(), array[key])
    x[0, :] = xp.asarray([9, 9, 9, 9])
    x[x > 10] = 0
    assert x.tolist() == [[9] * 4, [4, 5, 6, 7], [8, 9, 10, 0]]
    with pytest.raises(TypeError, match="element"):
        x[0, 0] = 1.5
    assert all(isinstance(row, xp.Array) for row in x)


def test_gradients_flow() -> None:
    x = xp.asarray([0.5, 1.0, 2.0])

    def free(x: Any) -> Any:
        return xp.max(xp.concat([x, xp.sort(x)])) + xp.mean(xp.where(x > 1.2, x, 0.0))

    def whole(x: Any) -> Any:
        return xp.sum(xp.exp(x[1:]) * x[:-1]) + free(x)

    found = tg.grad(whole)(x)
    step = 1e-3
    for place in range(3):
        shifted = [xp.asarray(x.tolist(), dtype=xp.float64) for _ in range(2)]
        shifted[0][place] += step
        shifted[1][place] -= step
        slope = (whole(shifted[0]) - whole(shifted[1])) / (2 * step)
        assert float(found[place]) == pytest.approx(float(slope), rel=1e-3)


def test_plain_tensors_stay_plain() -> None:
    x = tg.ones(3)
    assert type(xp.sum(x)) is tg.Tensor
    assert type(xp.asarray(x)) is xp.Array
    assert type(x) is tg.Tensor
    captured = tg.trace(lambda x: xp.sum(xp.sin(x)))
    captured(x)
    assert captured(x).item() == pytest.approx(3 * np.sin(1), rel=1e-6)
    assert [n.operator.name for n in captured.graph.nodes] == ["sin", "sum"]


def test_sources_of_arrays() -> None:
    shared = np.zeros(2)
    array = xp.asarray(shared)
    shared[0] = 5
    assert array.tolist() == [5, 0]
    assert xp.asarray(shared, copy=True).tolist() == [5, 0]
    assert xp.asarray([xp.asarray(1.0), 2.0]).shape == (2,)
    assert xp.asarray(memoryview(b"ab")).dtype is xp.uint8
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="fit"):
        xp.asarray(2**64)
    with pytest.raises(TypeError):
        xp.asarray("text")


def test_interchange() -> None:
    x = xp.arange(3)
    assert np.array_equal(np.from_dlpack(x), [0, 1, 2])
    assert xp.from_dlpack(np.arange(3)).tolist() == [0, 1, 2]


def test_information() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] is xp.float32
    assert info.dtypes(kind="integral").keys() == {
        "int8", "int16", "int32", "int64", "uint8",
    }  # fmt: skip
    assert info.default_device() in info.devices()
    assert info.capabilities()["boolean indexing"]
    assert xp.finfo(xp.complex64).bits == 32
    assert xp.iinfo(xp.int8).max == 127
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.float64, xp.float32)
    assert xp.result_type(xp.float32, 1j) is xp.complex64


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="fish"):
        _ = xp.fish
