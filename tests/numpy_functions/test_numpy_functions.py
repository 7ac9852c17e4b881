"""NumPy's functions on tensors give NumPy's values, with gradients."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import ArgumentTypeError
from tracegrad.ops.numpy_functions import _RENAMED, IMPLEMENTATIONS, _operator

RNG = np.random.default_rng(0)
A = RNG.uniform(0.2, 0.9, (3, 4))
B = RNG.uniform(0.2, 0.9, (3, 4))
V = RNG.uniform(0.2, 0.9, 4)
S = RNG.uniform(0.2, 0.9, (4, 4))

CASES: list[Callable[[Any], Any]] = [
    lambda x: np.sum(x),
    lambda x: np.sum(x, 1),
    lambda x: np.sum(x, axis=(0, 1), keepdims=True),
    lambda x: np.sum(x, axis=0, dtype=np.float32),
    lambda x: np.mean(x, axis=-1, keepdims=True),
    lambda x: np.mean(x),
    lambda x: np.prod(x, axis=0),
    lambda x: np.prod(x),
    lambda x: np.var(x),
    lambda x: np.var(x, axis=1, ddof=1, keepdims=True),
    lambda x: np.std(x, 0),
    lambda x: np.max(x),
    lambda x: np.amin(x, axis=1, keepdims=True),
    lambda x: np.ptp(x, axis=0),
    lambda x: np.nansum(x, axis=0),
    lambda x: np.nanmean(x),
    lambda x: np.average(x, axis=0),
    lambda x: np.average(x, axis=1, weights=V),
    lambda x: np.any(x > 0.5, axis=1),
    lambda x: np.all(x > 0.1),
    lambda x: np.argmax(x, axis=1),
    lambda x: np.argmin(x),
    lambda x: np.cumsum(x, axis=1),
    lambda x: np.cumsum(x),
    lambda x: np.cumprod(x, axis=0),
    lambda x: np.add.reduce(x),
    lambda x: np.multiply.reduce(x, axis=1),
    lambda x: np.add.accumulate(x, axis=1),
    lambda x: np.dot(x, S),
    lambda x: np.dot(x, V),
    lambda x: np.dot(2.0, x),
    lambda x: S @ x.T if isinstance(x, np.ndarray) else S @ x.t(),
    lambda x: np.matmul(x, S),
    lambda x: np.tensordot(x, S, 1),
    lambda x: np.tensordot(x, B, axes=([0, 1], [0, 1])),
    lambda x: np.einsum("ij,jk->ik", x, S),
    lambda x: np.outer(x[0], V),
    lambda x: np.inner(x, V),
    lambda x: np.vdot(x[0], V),
    lambda x: np.kron(x, np.eye(2)),
    lambda x: np.reshape(x, (2, 6)),
    lambda x: np.ravel(x),
    lambda x: np.transpose(x),
    lambda x: np.transpose(x, (1, 0)),
    lambda x: np.squeeze(np.expand_dims(x, 1)),
    lambda x: np.squeeze(np.expand_dims(x, 1), axis=1),
    lambda x: np.swapaxes(x, 0, 1),
    lambda x: np.moveaxis(x, 0, -1),
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: np.tile(x, (2, 1)),
    lambda x: np.repeat(x, 2, axis=1),
    lambda x: np.repeat(x, 2),
    lambda x: np.flip(x, 1),
    lambda x: np.flip(x),
    lambda x: np.fliplr(x),
    lambda x: np.flipud(x),
    lambda x: np.roll(x, 1, axis=0),
    lambda x: np.roll(x, 1),
    lambda x: np.trace(x),
    lambda x: np.diag(x, 1),
    lambda x: np.diagonal(x, 0, 0, 1),
    lambda x: np.tril(x, 1),
    lambda x: np.triu(x),
    lambda x: np.concatenate([x, B], axis=1),
    lambda x: np.concatenate((x, x), axis=None),
    lambda x: np.stack([x, B], 2),
    lambda x: np.vstack([x, B]),
    lambda x: np.hstack([x, B]),
    lambda x: np.dstack([x, B]),
    lambda x: np.column_stack([x, B]),
    lambda x: np.split(x, 2, axis=1)[1],
    lambda x: np.array_split(x, 2)[0],
    lambda x: np.split(x, [1, 2], axis=1)[1],
    lambda x: np.where(x > 0.5, x, 0.0),
    lambda x: np.where(A > 0.5, x, B),
    lambda x: np.clip(x, 0.3, 0.6),
    lambda x: np.clip(x, None, 0.6),
    lambda x: np.round(x, 1),
    lambda x: np.sort(x, axis=0),
    lambda x: np.argsort(x, axis=1),
    lambda x: np.take(x, [0, 2], axis=1),
    lambda x: np.take(x, [[0, 2]]),
    lambda x: np.take_along_axis(x, np.argsort(A, axis=1), axis=1),
    lambda x: np.diff(x, axis=0),
    lambda x: np.nan_to_num(x),
    lambda x: np.linalg.norm(x),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.linalg.norm(x[0], 1),
    lambda x: np.zeros_like(x),
    lambda x: np.ones_like(x, dtype=np.int64),
    lambda x: np.full_like(x, 3.0),
    lambda x: np.copy(x),
    lambda x: np.isclose(x, A),
    lambda x: np.real(x),
    lambda x: np.sinc(x),
    lambda x: np.angle(x),
    lambda x: np.atleast_1d(x),
    lambda x: np.median(x),
    lambda x: np.median(x, axis=1),
    lambda x: np.quantile(x, 0.25, axis=0, keepdims=True),
    lambda x: np.percentile(x, [25, 50], axis=1),
    lambda x: np.count_nonzero(x > 0.5, axis=1),
    lambda x: np.pad(x, 1),
    lambda x: np.pad(x, ((0, 1), (2, 0)), constant_values=3.0),
    lambda x: A * x + np.float64(2) / x - B,
    lambda x: np.add(x, 1, dtype=np.float32),
]


def text_of(function: Any) -> str:
    return inspect.getsource(function).strip()[:60]


@pytest.mark.parametrize("function", CASES, ids=text_of)
def test_values_and_gradients(function: Callable[[Any], Any]) -> None:
    expected = np.asarray(function(A))
    x = tg.from_numpy(A.copy()).requires_grad_()
    found = function(x)
    assert isinstance(found, tg.Tensor)
    assert found.shape == expected.shape
    values = found.detach().numpy()
    assert values.dtype == expected.dtype
    np.testing.assert_allclose(values, expected, 1e-6)
    if not found.requires_grad or found.dtype is not tg.float64:
        return
    (gradient,) = tg.autograd.grad(found.sum(), x)
    step = 1e-6
    direction = RNG.normal(size=A.shape)
    change = function(A + step * direction).sum() - function(A - step * direction).sum()
    if "round" not in text_of(function):
        assert (gradient.numpy() * direction).sum() == pytest.approx(
            change / (2 * step), rel=1e-4, abs=1e-6
        )


UFUNCS = [
    u
    for name in dir(np)
    if isinstance(u := getattr(np, name), np.ufunc)
    and _operator(_RENAMED.get(name, name)) is not None
    and name == u.__name__
    # Its second operand is of integers.
    and name != "ldexp"
]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_ufuncs(ufunc: np.ufunc) -> None:
    integers = "i" if "d" not in "".join(t[0] for t in ufunc.types) else ""
    a = np.array([1, 2, 3]) if integers else np.array([0.25, 0.5, 0.75])
    if ufunc.__name__ == "arccosh":
        a = a + 1
    args = [a, a[::-1].copy()][: ufunc.nin]
    if ufunc.nin == 2 and ufunc.signature:
        args = [a, a]
    expected = ufunc(*args)
    found = ufunc(tg.from_numpy(args[0]), *args[1:])
    several = ufunc.nout > 1
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for mine, wanted in pairs:
        assert isinstance(mine, tg.Tensor)
        np.testing.assert_allclose(mine.numpy(), wanted, 1e-6)


def test_there_are_ufuncs() -> None:
    assert len(UFUNCS) > 60
    assert len(IMPLEMENTATIONS) > 70


def test_plain_numpy_functions_differentiate() -> None:
    x = np.array([0.5, 1.0])
    wanted = 2 * np.tanh(x) * (1 - np.tanh(x) ** 2)

    def function(x: Any) -> Any:
        return np.sum(np.tanh(x) ** 2)

    np.testing.assert_allclose(tg.grad(function)(x).numpy(), wanted)
    value, gradient = tg.value_and_grad(function)(tg.from_numpy(x))
    np.testing.assert_allclose(gradient.numpy(), wanted)
    assert value.item() == pytest.approx(function(x))
    second = tg.grad(lambda y: np.sum(tg.grad(function)(y)))(x)
    assert second.shape == (2,)


def test_captured() -> None:
    captured = tg.trace(lambda x: np.sum(np.tanh(x) ** 2))
    x = tg.tensor([0.5, 1.0], requires_grad=True)
    for _ in range(2):
        x.grad = None
        captured(x).backward()
    names = [node.operator.name for node in captured.graph.nodes]
    assert names == ["tanh", "square", "sum"]


def test_what_has_no_operator_names_itself() -> None:
    x = tg.tensor([0.5, 1.0], requires_grad=True)
    with pytest.raises(ArgumentTypeError, match=r"np\.spacing"):
        np.spacing(x)
    with pytest.raises(ArgumentTypeError, match=r"np\.histogram"):
        np.histogram(x)
    with pytest.raises(ArgumentTypeError, match=r"np\.linalg\.cond"):
        tg.grad(lambda y: np.linalg.cond(y))(np.eye(2))


def test_without_gradient_numpy_does_it() -> None:
    x = tg.tensor([0.5, 1.0])
    counts, _ = np.histogram(x)
    assert counts.sum() == 2
    assert np.array_equal(x, x)
    assert np.allclose(x, np.array([0.5, 1.0]))


def test_results_written_into_arrays() -> None:
    x = tg.tensor([0.5, 1.0])
    array = np.ones(2, np.float32)
    array += x
    assert array.tolist() == [1.5, 2]
    assert isinstance(array, np.ndarray)
    target = tg.zeros(2)
    assert np.add(x, x, out=target) is target
    assert target.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="lose"):
        np.add(x.requires_grad_(), 1, out=array)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="where"):
        np.sum(tg.ones(2), where=np.array([True, False]))
