"""Reductions: dtypes, empty ones, ties, and products with zeros to the second order."""

import math

import pytest

import tracegrad as tg
from tracegrad.errors import DTypeError, IndexRangeError, ShapeError


@pytest.mark.parametrize("dtype", [tg.bool, tg.uint8, tg.int8, tg.int32])
def test_integers_are_summed_in_int64(dtype: tg.dtype) -> None:
    x = tg.ones(3, dtype=dtype)
    assert x.sum().dtype is x.prod().dtype is x.cumsum(0).dtype is tg.int64
    assert x.sum(dtype=tg.int32).dtype is tg.int32


def test_means_of_integers_are_refused() -> None:
    for mean in (tg.mean, tg.var, tg.std, tg.norm):
        with pytest.raises(DTypeError):
            mean(tg.arange(3))


def test_of_nothing() -> None:
    x = tg.zeros(0)
    assert (x.sum().item(), x.prod().item(), x.norm().item()) == (0, 1, 0)
    assert (x.any().item(), x.all().item()) == (False, True)
    assert x.logsumexp(0).item() == -math.inf
    assert math.isnan(x.mean().item())
    assert math.isnan(x.median().item())
    for choose in (tg.max, tg.min, tg.argmax, tg.amax):
        with pytest.raises((IndexError, RuntimeError)):
            choose(x)
    empty = tg.zeros(2, 0)
    assert tuple(empty.max(0).values.shape) == (0,)
    with pytest.raises(IndexRangeError):
        empty.max(1)


def test_dimensions() -> None:
    x = tg.ones(2, 3)
    assert x.sum(()).item() == x.sum([]).item() == 6
    assert tg.tensor(2.0).sum(-1).item() == 2
    with pytest.raises(ShapeError, match="twice"):
        x.sum((0, -2))
    with pytest.raises(IndexRangeError):
        tg.tensor(2.0).sum(1)


def test_a_single_element_has_no_variance() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert math.isnan(tg.ones(1).var().item())
    assert tg.ones(1).var(correction=0).item() == 0


def test_ties_share_or_the_first_takes_all() -> None:
    x = tg.tensor([3.0, 1.0, 3.0], requires_grad=True)
    assert tg.autograd.grad(x.max(), x)[0].tolist() == [0.5, 0, 0.5]
    assert tg.autograd.grad(x.max(0).values, x)[0].tolist() == [1, 0, 0]
    assert tg.autograd.grad(x.median(), x)[0].tolist() == [0.5, 0, 0.5]
    assert tg.autograd.grad(x.sort().values[2], x)[0].tolist() == [0, 0, 1]


def test_ties_are_counted_in_single_precision() -> None:
    x = tg.zeros(70_000, dtype=tg.float16, requires_grad=True)
    (x.amax() * 1024).backward()
    assert x.grad[0].item() == pytest.approx(1024 / 70_000, rel=1e-2)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
        ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
        ([2.0, 5.0, 3.0], [15.0, 6.0, 10.0]),
    ],
)
def test_products_do_not_divide(values: list[float], wanted: list[float]) -> None:
    x = tg.tensor(values, requires_grad=True)
    (gradient,) = tg.autograd.grad(x.prod(), x, create_graph=True)
    assert gradient.tolist() == wanted
    # The second derivative by two places is the product of the third.
    (second,) = tg.autograd.grad(gradient[0], x)
    assert second.tolist() == [0, values[2], values[1]]


def test_running_products_do_not_divide() -> None:
    x = tg.tensor([2.0, 0.0, 3.0], requires_grad=True)
    x.cumprod(0).sum().backward()
    assert x.grad.tolist() == [1, 8, 0]


def test_norms_at_zero() -> None:
    for order in (1, 2, 3, math.inf):
        x = tg.zeros(3, requires_grad=True)
        x.norm(order).backward()
        assert x.grad.tolist() == [0, 0, 0]


def test_deviation_of_equal_elements() -> None:
    x = tg.ones(3, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_names_of_results() -> None:
    found = tg.tensor([[1.0, 5.0], [7.0, 2.0]]).max(dim=1)
    assert found.values.tolist() == [5, 7]
    assert found.indices.tolist() == [1, 0]
    values, indices = found
    assert values is found.values
    assert indices is found.indices


def test_nan_is_largest() -> None:
    x = tg.tensor([1.0, math.nan, 0.0, math.nan])
    assert x.argmax().item() == x.argmin().item() == 1
    assert x.sort().indices.tolist() == [2, 0, 1, 3]
    assert x.sort(descending=True).indices.tolist() == [1, 3, 0, 2]
    assert x.nanmedian().item() == 0


def test_medians_and_quantiles() -> None:
    x = tg.tensor([4.0, 1.0, 3.0, 2.0])
    assert x.median().item() == 2
    assert x.quantile(0.5).item() == 2.5
