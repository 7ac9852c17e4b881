"""Reductions, scans, sorting and statistics against PyTorch, on hard inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.support.against_torch import check  # noqa: E402 - needs torch

NAN, INF = float("nan"), float("inf")
RNG = np.random.default_rng(5)
INPUTS = {
    "matrix": RNG.standard_normal((3, 4)),
    "turned": RNG.standard_normal((4, 3, 2)).T,
    "ties": np.array([[3.0, 1, 3, 1], [2, 2, 2, 2], [0, 5, 0, 5]]),
    "zeros": np.array([[2.0, 0, 3, 1], [0, 4, 0, 1], [1, 2, 3, 4]]),
    "vector": np.array([3.0, -1.0, 2.0, 0.5]),
    "nan": np.array([[1.0, NAN, 3, NAN], [4, 2, 9, 7], [NAN, NAN, NAN, NAN]]),
    "infinite": np.array([[-INF, -INF, -INF, -INF], [1, INF, 2, 0], [-INF, 0, 1, 2]]),
    "number": np.array(5.0),
    "one": np.array([[7.0]]),
    "empty": np.zeros((2, 0)),
    "empty_vector": np.zeros(0),
    "single": RNG.standard_normal((3, 4)).astype("f4"),
    "half": RNG.standard_normal((3, 4)).astype("f2"),
    "ints": np.array([[3, 1, 3], [-2, 2, 2]]),
    "bytes": np.array([[3, 0, 255], [2, 2, 200]], "u1"),
    "bools": np.array([[True, False, True], [True, True, True]]),
    "complex": RNG.standard_normal((2, 3)) + 1j * RNG.standard_normal((2, 3)),
}

REDUCING: dict[str, Any] = {
    "sum": lambda lib, x: x.sum(),
    "sum_0": lambda lib, x: x.sum(0),
    "sum_1": lambda lib, x: x.sum(1, keepdim=True),
    "sum_all": lambda lib, x: x.sum(()),
    "sum_none": lambda lib, x: x.sum(dim=None),
    "sum_many": lambda lib, x: lib.sum(x, (0, -1)),
    "sum_twice": lambda lib, x: x.sum((0, 0)),
    "sum_dtype": lambda lib, x: x.sum(dtype=lib.float32),
    "sum_int": lambda lib, x: x.sum(0, dtype=lib.int32),
    "mean": lambda lib, x: x.mean(),
    "mean_1": lambda lib, x: x.mean(-1, True),
    "mean_list": lambda lib, x: x.mean([0]),
    "mean_dtype": lambda lib, x: x.mean(dtype=lib.float32),
    "prod": lambda lib, x: x.prod(),
    "prod_1": lambda lib, x: x.prod(-1),
    "prod_keep": lambda lib, x: x.prod(0, True),
    "prod_dtype": lambda lib, x: x.prod(dtype=lib.float64),
    "amax": lambda lib, x: x.amax(),
    "amax_1": lambda lib, x: x.amax(-1, True),
    "amax_many": lambda lib, x: x.amax((0, 1)),
    "amin": lambda lib, x: x.amin(),
    "amin_0": lambda lib, x: x.amin(0),
    "aminmax": lambda lib, x: lib.aminmax(x),
    "aminmax_dim": lambda lib, x: x.aminmax(dim=-1, keepdim=True),
    "max": lambda lib, x: x.max(),
    "max_0": lambda lib, x: x.max(0),
    "max_1": lambda lib, x: lib.max(x, dim=-1, keepdim=True),
    "max_values": lambda lib, x: x.max(-1).values,
    "max_other": lambda lib, x: lib.max(x, x * 0 + 1),
    "min": lambda lib, x: x.min(),
    "min_1": lambda lib, x: x.min(-1),
    "argmax": lambda lib, x: x.argmax(),
    "argmax_0": lambda lib, x: x.argmax(0),
    "argmax_keep": lambda lib, x: x.argmax(keepdim=True),
    "argmin_1": lambda lib, x: x.argmin(-1, True),
    "any": lambda lib, x: x.any(),
    "any_0": lambda lib, x: x.any(0),
    "all": lambda lib, x: x.all(),
    "all_1": lambda lib, x: x.all(-1, keepdim=True),
    "count_nonzero": lambda lib, x: lib.count_nonzero(x),
    "count_nonzero_1": lambda lib, x: x.count_nonzero(-1),
    "nansum": lambda lib, x: x.nansum(),
    "nansum_0": lambda lib, x: x.nansum(0),
    "nanmean": lambda lib, x: x.nanmean(-1),
    "logsumexp": lambda lib, x: x.logsumexp(0),
    "logsumexp_many": lambda lib, x: lib.logsumexp(x, (0, -1), keepdim=True),
    "var": lambda lib, x: x.var(),
    "var_0": lambda lib, x: x.var(0, False),
    "var_1": lambda lib, x: lib.var(x, -1, correction=0, keepdim=True),
    "var_2": lambda lib, x: x.var(0, correction=2),
    "var_unbiased": lambda lib, x: x.var(unbiased=False),
    "std": lambda lib, x: x.std(),
    "std_1": lambda lib, x: x.std(-1),
    "std_many": lambda lib, x: x.std((0, 1), True),
    "var_mean": lambda lib, x: lib.var_mean(x, -1),
    "std_mean": lambda lib, x: lib.std_mean(x, correction=0),
    "norm": lambda lib, x: x.norm(),
    "norm_0": lambda lib, x: x.norm(0, -1),
    "norm_1": lambda lib, x: x.norm(1, dim=0),
    "norm_2": lambda lib, x: lib.norm(x, 2, -1, True),
    "norm_3": lambda lib, x: x.norm(3, -1),
    "norm_half": lambda lib, x: x.norm(0.5),
    "norm_inf": lambda lib, x: x.norm(INF),
    "norm_minus_inf": lambda lib, x: x.norm(-INF, -1),
    "norm_minus": lambda lib, x: x.norm(-2, -1),
    "median": lambda lib, x: x.median(),
    "median_1": lambda lib, x: x.median(-1),
    "nanmedian": lambda lib, x: x.nanmedian(),
    "nanmedian_1": lambda lib, x: x.nanmedian(-1, keepdim=True),
    "quantile": lambda lib, x: x.quantile(0.3),
    "quantile_1": lambda lib, x: lib.quantile(x, 0.75, -1, keepdim=True),
    "nanquantile": lambda lib, x: x.nanquantile(0.3, -1),
    "cumsum": lambda lib, x: x.cumsum(0),
    "cumsum_1": lambda lib, x: x.cumsum(-1),
    "cumsum_out": lambda lib, x: x.cumsum(3),
    "cumsum_dtype": lambda lib, x: x.cumsum(-1, dtype=lib.float32),
    "cumprod": lambda lib, x: x.cumprod(-1),
    "cumprod_0": lambda lib, x: lib.cumprod(x, 0),
    "cummax": lambda lib, x: x.cummax(-1),
    "cummin": lambda lib, x: x.cummin(0),
    "logcumsumexp": lambda lib, x: x.logcumsumexp(-1),
    "diff": lambda lib, x: x.diff(),
    "trapezoid": lambda lib, x: lib.trapezoid(x, dx=0.5),
    "trapezoid_x": lambda lib, x: lib.trapezoid(x, x * 3, dim=0),
    "diff_2": lambda lib, x: lib.diff(x, n=2, dim=0),
    "diff_prepend": lambda lib, x: x.diff(prepend=x, append=x),
    "sort": lambda lib, x: x.sort(dim=-1, stable=True),
    "sort_0": lambda lib, x: x.sort(dim=0, descending=True, stable=True),
    "argsort": lambda lib, x: x.argsort(dim=-1, stable=True),
    "msort": lambda lib, x: lib.msort(x),
    "topk_values": lambda lib, x: x.topk(2).values,
    "topk_smallest": lambda lib, x: x.topk(1, -1, largest=False).values,
    "topk_many": lambda lib, x: x.topk(9),
    "topk_0": lambda lib, x: x.topk(0),
    "kthvalue": lambda lib, x: x.kthvalue(2).values,
    "kthvalue_0": lambda lib, x: x.kthvalue(0),
    "mode_values": lambda lib, x: x.mode().values,
    "out_of_range": lambda lib, x: x.sum(5),
}


@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("name", REDUCING)
def test_reducing(name: str, data: str) -> None:
    if (name, data) in _LEFT_OUT:
        return
    layout = data != "turned" or "sort" not in name
    gradients = not _is_unsettled(name, data)
    check(REDUCING[name], INPUTS[data], gradients=gradients, layout=layout)


def _is_unsettled(name: str, data: str) -> bool:
    """Say where PyTorch's gradients are its own affair."""
    return (
        (name, data) in _UNSETTLED
        or name in _UNSETTLED_ALWAYS
        or any(name.startswith(n) and data in d for n, d in _UNSETTLED_KINDS)
    )


_NOT_FINITE = ("nan", "infinite")
_TIED = ("ties", "zeros", *_NOT_FINITE)
_UNSETTLED_KINDS = (
    # Which of equal elements is chosen is left open.
    ("topk", _TIED),
    ("kthvalue", _TIED),
    ("mode", _TIED),
    # PyTorch multiplies NaN or infinity by a mask, or divides by the input.
    ("amax", _NOT_FINITE),
    ("amin", _NOT_FINITE),
    ("nanmean", _NOT_FINITE),
    ("logcumsumexp", _NOT_FINITE),
    ("norm", _NOT_FINITE),
    # It accumulates products of half precision in half precision.
    ("prod", (*_NOT_FINITE, "half")),
    ("cumprod", (*_NOT_FINITE, "half")),
    # An element that is 0 has no second derivative here; PyTorch makes NaN of it.
    ("norm_half", _TIED),
    ("norm_minus", _TIED),
)
_UNSETTLED = {
    # A single element gives a gradient of NaN, which PyTorch takes as a constant.
    ("var", "number"),
    ("var", "one"),
    ("var_2", "number"),
    ("var_mean", "number"),
    # Complex infinities differ in their parts.
    ("var_2", "complex"),
}
# PyTorch's backward refuses integers; or it sums in float32 what is float64.
_UNSETTLED_ALWAYS = {"sum_int", "cumsum_dtype"}
# What PyTorch answers and we do not, or answers as its algorithm happens to.
_LEFT_OUT = {
    ("var_mean", "infinite"): "Welford's update makes NaN of an infinite mean",
    ("nanmedian_1", "nan"): "which NaN of a row of them",
    ("logcumsumexp", "complex"): "not built",
    ("topk_0", "number"): "gives one element for none",
}


@pytest.mark.parametrize("how", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantile_interpolation(how: str) -> None:
    q = np.array([0.0, 0.3, 0.5, 1.0])
    for data in ("matrix", "nan", "ties"):
        check(
            lambda lib, x: x.quantile(lib.from_numpy(q), 1, interpolation=how),
            INPUTS[data],
        )
        check(
            lambda lib, x: lib.nanquantile(x, lib.from_numpy(q), 0, interpolation=how),
            INPUTS[data],
        )


QUANTILES: dict[str, Any] = {
    "outside": lambda lib, x: x.quantile(1.5),
    "how": lambda lib, x: x.quantile(0.5, interpolation="cubic"),
    "matrix_of_q": lambda lib, x: x.quantile(lib.zeros(2, 2, dtype=x.dtype)),
}


@pytest.mark.parametrize("name", QUANTILES)
def test_quantile_errors(name: str) -> None:
    check(QUANTILES[name], INPUTS["matrix"])


def test_large_factors_meet_zeros() -> None:
    rows = np.array([[1e20, 1e20, 0.0], [1e20, 0.0, 1e20]], "f4")
    check(lambda lib, x: _first_gradient(lib, x, x.prod()), rows)


def _first_gradient(lib: Any, x: Any, result: Any) -> Any:
    return lib.autograd.grad(result, x)[0]


def test_half_sums_in_float32() -> None:
    many = np.ones(70_000, "f2")
    check(lambda lib, x: x.sum(), many)
    check(lambda lib, x: x.mean(), many)
