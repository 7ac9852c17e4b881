"""Indexing, gathering, scattering, masks and searches against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.support.against_torch import check  # noqa: E402 - needs torch

CUBE = np.arange(24.0).reshape(2, 3, 4)
MATRIX = np.arange(12.0).reshape(3, 4)
VECTOR = np.array([3.0, 1.0, 2.0])
NUMBER = np.array(5.0)
EMPTY = np.zeros((0, 3))


def _i(lib: Any, *values: Any) -> Any:
    return lib.tensor(list(values))


KEYS: dict[str, Any] = {
    "int": lambda lib: 0,
    "int_negative": lambda lib: -1,
    "int_out": lambda lib: 5,
    "int_numpy": lambda lib: np.int64(1),
    "slice": lambda lib: slice(1, None),
    "slice_step": lambda lib: slice(None, None, 2),
    "slice_far": lambda lib: slice(-9, 9),
    "slice_empty": lambda lib: slice(2, 1),
    "slice_step_0": lambda lib: slice(None, None, 0),
    "slice_float": lambda lib: slice(0.5, None),
    "none": lambda lib: None,
    "ellipsis": lambda lib: ...,
    "true": lambda lib: True,
    "false": lambda lib: False,
    "float": lambda lib: 1.0,
    "tuple": lambda lib: (0, slice(1, 3)),
    "too_many": lambda lib: (0, 0, 0, 0, 0),
    "mixed": lambda lib: (..., None, 0),
    "nothing": lambda lib: (),
    "two_ellipses": lambda lib: (..., ...),
    "list": lambda lib: [0, 1, 1],
    "list_empty": lambda lib: [],
    "list_out": lambda lib: [7],
    "list_negative": lambda lib: [-1, -2],
    "nested_list": lambda lib: ([[0, 1], [1, 0]],),
    "bare_nested": lambda lib: [[0, 1], [1, 0]],
    "bare_slice": lambda lib: [slice(0, 1)],
    "range": lambda lib: range(2),
    "array": lambda lib: np.array([1, 0]),
    "tensor": lambda lib: _i(lib, 1, 0, 1),
    "tensor_0d": lambda lib: lib.tensor(1),
    "tensor_2d": lambda lib: _i(lib, [0, 1], [1, 1]),
    "tensor_int32": lambda lib: lib.tensor([1], dtype=lib.int32),
    "tensor_int16": lambda lib: lib.tensor([1], dtype=lib.int16),
    "tensor_float": lambda lib: lib.tensor([1.0]),
    "tensor_out": lambda lib: _i(lib, 0, 9),
    "tensor_none": lambda lib: lib.tensor([], dtype=lib.int64),
    "pair": lambda lib: (_i(lib, 0, 1), _i(lib, 1, 0)),
    "pair_broadcast": lambda lib: (_i(lib, [0], [1]), _i(lib, 1, 0, 2)),
    "pair_wrong": lambda lib: (_i(lib, 0, 1), _i(lib, 1, 0, 1)),
    "apart": lambda lib: (_i(lib, 0, 1), slice(None), _i(lib, 1, 0)),
    "together": lambda lib: (slice(None), _i(lib, 0, 1), _i(lib, 1, 0)),
    "int_then_tensor": lambda lib: (0, slice(None), _i(lib, 0, 1)),
    "tensor_then_int": lambda lib: (_i(lib, 0, 1), slice(None), 0),
    "tensor_none_tensor": lambda lib: (_i(lib, 0, 1), None, _i(lib, 0, 1)),
    "tensor_slice": lambda lib: (_i(lib, 1), slice(0, 2)),
    "slice_tensor": lambda lib: (slice(0, 1), [0, 2]),
    "mask_list": lambda lib: [True, False],
    "mask_0d": lambda lib: lib.tensor(True),
    "mask_0d_false": lambda lib: lib.tensor(False),
    "mask_wrong": lambda lib: lib.tensor([True, False, True, False, True]),
    "mask_and_int": lambda lib: (lib.tensor([True, False]), 0),
    "true_int": lambda lib: (True, 0),
    "int_true": lambda lib: (0, True),
}
TARGETS = {
    "cube": CUBE,
    "turned": CUBE.T.copy().T,
    "vector": VECTOR,
    "number": NUMBER,
    "empty": EMPTY,
}


@pytest.mark.parametrize("data", TARGETS)
@pytest.mark.parametrize("key", KEYS)
def test_get(key: str, data: str) -> None:
    check(lambda lib, x: x[KEYS[key](lib)], TARGETS[data], layout=data != "turned")


def test_text_as_an_index() -> None:
    check(lambda lib, x: x["a"], CUBE)


def test_uint8_mask() -> None:
    check(lambda lib, x: x[lib.tensor([1, 0], dtype=lib.uint8)], CUBE, gradients=False)


@pytest.mark.parametrize("value", [7.0, "tensor", "wide"])
@pytest.mark.parametrize("data", TARGETS)
@pytest.mark.parametrize("key", KEYS)
def test_set(key: str, data: str, value: Any) -> None:
    def body(lib: Any, x: Any, y: Any) -> Any:
        written = x * 1
        new: Any = value
        if value == "tensor":
            new = y.sum() * 2
        elif value == "wide":
            new = y[None, None, :1] * 2
        written[KEYS[key](lib)] = new
        return written

    check(body, TARGETS[data], VECTOR)


def test_mask_of_the_shape() -> None:
    check(lambda lib, x: x[x > 5], MATRIX)
    check(lambda lib, x: x[x.sum(1) > 10], MATRIX)
    check(lambda lib, x: x[:, x[0] > 1], MATRIX)
    check(lambda lib, x: x[x > 50], MATRIX)


def _masked(lib: Any, x: Any, value: Any) -> Any:
    written = x * 1
    written[x > 5] = value
    return written


def test_set_mask() -> None:
    check(lambda lib, x: _masked(lib, x, 2), MATRIX)
    check(lambda lib, x, y: _masked(lib, x, y.sum()), MATRIX, VECTOR)
    check(lambda lib, x, y: _masked(lib, x, y), MATRIX, np.arange(6.0))
    check(lambda lib, x, y: _masked(lib, x, y), MATRIX, np.arange(5.0))
    check(lambda lib, x: _masked(lib, x, 2.7), MATRIX.astype("int64"))


def _assigned(lib: Any, x: Any, key: Any, value: Any) -> Any:
    written = x * 1
    written[key] = value
    return written


SETTING: dict[str, Any] = {
    "float_into_int": lambda lib, x: _assigned(lib, x.to(lib.int64), 0, 2.7),
    "nan_into_int": lambda lib, x: _assigned(lib, x.to(lib.int64), 0, float("nan")),
    "complex_into_float": lambda lib, x: _assigned(lib, x, 0, 1j),
    "large_into_uint8": lambda lib, x: _assigned(lib, x.to(lib.uint8), 0, 300),
    "negative_into_uint8": lambda lib, x: _assigned(lib, x.to(lib.uint8), 0, -1),
    "list": lambda lib, x: _assigned(lib, x, 0, [1.0]),
    "tensor_into_int": lambda lib, x: _assigned(
        lib, x.to(lib.int64), 0, lib.tensor([1.5])
    ),
    "tensor_into_int_at": lambda lib, x: _assigned(
        lib, x.to(lib.int64), _i(lib, 0), lib.tensor([1.5])
    ),
    "too_wide": lambda lib, x: _assigned(lib, x, 0, lib.ones(5)),
    "overlap": lambda lib, x: x.detach().__setitem__(slice(1, None), x.detach()[:-1]),
    "leaf": lambda lib, x: x.__setitem__(0, 5),
    "broken_half_way": lambda lib, x: _assigned(lib, x, (_i(lib, 0, 9),), 1.0),
    "added_at": lambda lib, x: _added(lib, x),
    "nested": lambda lib, x: _nested(lib, x),
}


def _added(lib: Any, x: Any) -> Any:
    written = x * 1
    written[[0, 0]] += 1
    written[1] *= 3
    return written


def _nested(lib: Any, x: Any) -> Any:
    written = x * 1
    written[0][1:] = written[1][:1] * 2
    return written * written


@pytest.mark.parametrize("name", SETTING)
def test_setting(name: str) -> None:
    check(SETTING[name], MATRIX)


INDEX = np.array([[0, 2, 1, 0], [1, 1, 0, 2]])

GATHERING: dict[str, tuple[Any, ...]] = {
    "gather": (lambda lib, x, i: x.gather(0, i), MATRIX, INDEX),
    "gather_1": (lambda lib, x, i: lib.gather(x, -1, i), MATRIX, INDEX),
    "gather_negative": (lambda lib, x, i: x.gather(0, i - 1), MATRIX, INDEX),
    "gather_out": (lambda lib, x, i: x.gather(0, i + 2), MATRIX, INDEX),
    "gather_large": (lambda lib, x, i: x.gather(0, i.repeat(1, 2)), MATRIX, INDEX),
    "gather_ranks": (lambda lib, x, i: x.gather(0, i[0]), MATRIX, INDEX),
    "gather_number": (lambda lib, x, i: x.gather(0, i * 0), NUMBER, np.array(0)),
    "gather_none": (lambda lib, x, i: x.gather(0, i[:, :0]), MATRIX, INDEX),
    "scatter": (
        lambda lib, x, i, s: x.scatter(0, i, s),
        MATRIX,
        INDEX[:1],
        MATRIX[:1] * 10,
    ),
    "scatter_value": (lambda lib, x, i: x.scatter(0, i, 7.5), MATRIX, INDEX),
    "scatter_value_kw": (lambda lib, x, i: x.scatter(0, i, value=2), MATRIX, INDEX),
    "scatter_out": (lambda lib, x, i: x.scatter(0, i + 2, 7.5), MATRIX, INDEX),
    "scatter_dtype": (
        lambda lib, x, i, s: x.scatter(0, i, s),
        MATRIX,
        INDEX,
        MATRIX.astype("f4"),
    ),
    "scatter_small": (
        lambda lib, x, i, s: x.scatter(0, i, s[:1]),
        MATRIX,
        INDEX,
        MATRIX,
    ),
    "scatter_reduce_add": (
        lambda lib, x, i: x.detach().scatter(0, i, 2.0, reduce="add"),
        MATRIX,
        INDEX,
    ),
    "scatter_in_place": (
        lambda lib, x, i: (x * 1).scatter_(1, i, 1.0),
        MATRIX,
        INDEX,
    ),
    "scatter_add": (
        lambda lib, x, i, s: x.scatter_add(0, i, s),
        MATRIX,
        INDEX,
        MATRIX[:2] * 10,
    ),
    "scatter_add_half": (
        lambda lib, x, i, s: x.scatter_add(0, i, s),
        VECTOR.astype("f2"),
        np.zeros(3, "i8"),
        VECTOR.astype("f2"),
    ),
    "scatter_reduce_sum": (
        lambda lib, x, i, s: x.scatter_reduce(0, i, s, "sum", include_self=False),
        MATRIX,
        INDEX,
        MATRIX[:2] * 10,
    ),
    "index_select": (lambda lib, x, i: x.index_select(1, i[1]), MATRIX, INDEX),
    "index_select_negative": (
        lambda lib, x, i: x.index_select(1, i[1] - 1),
        MATRIX,
        INDEX,
    ),
    "index_select_matrix": (lambda lib, x, i: x.index_select(1, i), MATRIX, INDEX),
    "index_select_number": (
        lambda lib, x, i: x.index_select(0, i),
        NUMBER,
        np.array([0]),
    ),
    "index_add": (
        lambda lib, x, i, s: x.index_add(0, i, s, alpha=2),
        MATRIX,
        np.array([2, 0, 2]),
        MATRIX * 10,
    ),
    "index_add_out": (
        lambda lib, x, i, s: x.index_add(0, i, s),
        MATRIX,
        np.array([2, 0, 3]),
        MATRIX,
    ),
    "index_add_shape": (
        lambda lib, x, i, s: x.index_add(0, i, s),
        MATRIX,
        np.array([2, 0]),
        MATRIX,
    ),
    "index_copy": (
        lambda lib, x, i, s: x.index_copy(0, i, s[:2]),
        MATRIX,
        np.array([2, 0]),
        MATRIX * 10,
    ),
    "index_fill": (
        lambda lib, x, i: x.index_fill(1, i, 9.0),
        MATRIX,
        np.array([-1, 0]),
    ),
    "index_fill_out": (
        lambda lib, x, i: x.index_fill(1, i, 9.0),
        MATRIX,
        np.array([4]),
    ),
    "index_put": (
        lambda lib, x, i, s: x.index_put((i[0], i[1]), s),
        MATRIX,
        INDEX[:, [0, 2, 3]],
        VECTOR,
    ),
    "index_put_add": (
        lambda lib, x, i, s: x.index_put((i[0] * 0,), s, accumulate=True),
        MATRIX,
        INDEX,
        np.arange(4.0),
    ),
    "index_put_dtype": (
        lambda lib, x, i, s: x.index_put((i[0],), s),
        MATRIX,
        INDEX,
        np.arange(4.0).astype("f4"),
    ),
    "take": (lambda lib, x, i: x.take(i - 1), MATRIX, INDEX),
    "take_out": (lambda lib, x, i: x.take(i + 99), MATRIX, INDEX),
    "put": (lambda lib, x, i, s: x.put(i[0] - 1, s), MATRIX, INDEX[:, :3], VECTOR),
    "put_add": (
        lambda lib, x, i, s: x.put(i[1], s, accumulate=True),
        MATRIX,
        INDEX[:, :3],
        VECTOR,
    ),
    "put_count": (lambda lib, x, i, s: x.put(i, s), MATRIX, INDEX, VECTOR),
    "take_along_dim": (
        lambda lib, x, i: lib.take_along_dim(x, i[:1], 0),
        MATRIX,
        INDEX,
    ),
    "take_along_flat": (lambda lib, x, i: lib.take_along_dim(x, i), MATRIX, INDEX),
    "masked_select": (lambda lib, x, m: x.masked_select(m), MATRIX, MATRIX[:1] > 1),
    "masked_select_ints": (lambda lib, x, m: x.masked_select(m), MATRIX, INDEX[:1]),
    "masked_fill": (lambda lib, x, m: x.masked_fill(m, 2.0), MATRIX, MATRIX > 3),
    "masked_fill_wide": (lambda lib, x, m: x.masked_fill(m, 2), VECTOR, MATRIX.T > 3),
    "masked_fill_tensor": (
        lambda lib, x, m, v: x.masked_fill(m, v.sum()),
        MATRIX,
        MATRIX > 3,
        VECTOR,
    ),
    "masked_fill_vector": (
        lambda lib, x, m, v: x.masked_fill(m, v),
        MATRIX,
        MATRIX > 3,
        VECTOR,
    ),
    "masked_fill_int": (
        lambda lib, x, m: x.masked_fill(m, 2.5),
        MATRIX.astype("i8"),
        MATRIX > 3,
    ),
    "masked_fill_no_mask": (lambda lib, x, m: x.masked_fill(m, 2), MATRIX, INDEX[:1]),
    "masked_scatter": (
        lambda lib, x, m, s: x.masked_scatter(m, s),
        MATRIX,
        MATRIX > 3,
        np.arange(12.0) * 3,
    ),
    "masked_scatter_few": (
        lambda lib, x, m, s: x.masked_scatter(m, s),
        MATRIX,
        MATRIX > 3,
        VECTOR,
    ),
    "masked_scatter_exact": (
        lambda lib, x, m, s: x.masked_scatter(m, s),
        MATRIX,
        MATRIX > 8,
        VECTOR,
    ),
    "where_1": (lambda lib, x: lib.where(x > 3), MATRIX),
    "nonzero": (lambda lib, x: lib.nonzero(x), MATRIX),
    "nonzero_tuple": (lambda lib, x: x.nonzero(as_tuple=True), MATRIX),
    "nonzero_number": (lambda lib, x: x.nonzero(), NUMBER),
    "nonzero_number_tuple": (lambda lib, x: x.nonzero(as_tuple=True), NUMBER),
    "argwhere": (lambda lib, x: lib.argwhere(x), MATRIX),
}


@pytest.mark.parametrize("name", GATHERING)
def test_gathering(name: str) -> None:
    check(*GATHERING[name], layout=name != "masked_fill_wide")


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin", "median"])
def test_scatter_reduce(reduce: str, include_self: bool) -> None:
    for dtype in ("float64", "int64"):
        check(
            lambda lib, x, i, s: x.scatter_reduce(
                0, i, s, reduce, include_self=include_self
            ),
            MATRIX.astype(dtype),
            INDEX,
            (MATRIX * 3 - 7).astype(dtype),
            gradients=False,
        )


def _function(lib: Any, name: str) -> Any:
    from tracegrad.ops import embedding  # noqa: PLC0415 - not public

    if lib is torch:
        return getattr(torch.nn.functional, name)
    if name == "embedding":
        return lambda indices, weight, padding_idx=None: embedding.embedding(
            weight, indices, padding_idx
        )
    return getattr(embedding, name)


@pytest.mark.parametrize("padding", [None, 2])
def test_embedding(padding: int | None) -> None:
    check(
        lambda lib, w, i: _function(lib, "embedding")(i, w, padding_idx=padding),
        MATRIX,
        INDEX,
    )


@pytest.mark.parametrize("shift", [-1, 3])
def test_embedding_out_of_range(shift: int) -> None:
    check(lambda lib, w, i: _function(lib, "embedding")(i + shift, w), MATRIX, INDEX)


@pytest.mark.parametrize("classes", [-1, 3, 5, 2])
def test_one_hot(classes: int) -> None:
    check(lambda lib, i: _function(lib, "one_hot")(i, classes), INDEX)


SEARCHING: dict[str, tuple[Any, ...]] = {
    "searchsorted": (
        lambda lib, s, x: lib.searchsorted(s, x),
        np.array([1.0, 2, 2, 3]),
        MATRIX / 3,
    ),
    "searchsorted_right": (
        lambda lib, s, x: lib.searchsorted(s, x, right=True, out_int32=True),
        np.array([1.0, 2, 2, 3]),
        np.array([2.0, np.nan]),
    ),
    "searchsorted_rows": (
        lambda lib, s, x: lib.searchsorted(s, x, side="right"),
        MATRIX,
        MATRIX[:, ::2].copy(),
    ),
    "searchsorted_shapes": (lambda lib, s, x: lib.searchsorted(s, x), MATRIX, CUBE),
    "searchsorted_number": (lambda lib, s: lib.searchsorted(s, 2), VECTOR),
    "bucketize": (lambda lib, s, x: lib.bucketize(x, s), np.array([1.0, 3]), MATRIX),
    "unique": (lambda lib, x: lib.unique(x), INDEX),
    "unique_all": (
        lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True),
        INDEX,
    ),
    "unique_dim": (
        lambda lib, x: x.unique(dim=1, return_inverse=True, return_counts=True),
        INDEX[:, [0, 3, 1, 0]],
    ),
    "unique_empty": (lambda lib, x: x.detach().unique(return_counts=True), np.zeros(0)),
    "unique_nan": (lambda lib, x: x.detach().unique(), np.array([1.0, np.nan, np.nan])),
    "unique_consecutive": (
        lambda lib, x: lib.unique_consecutive(
            x, return_inverse=True, return_counts=True
        ),
        np.array([3, 3, 1, 3]),
    ),
    "bincount": (lambda lib, x: lib.bincount(x[0], minlength=5), INDEX),
    "bincount_weights": (
        lambda lib, x, w: lib.bincount(x, w.detach()),
        np.array([0, 2, 2]),
        VECTOR,
    ),
    "bincount_f32": (
        lambda lib, x, w: lib.bincount(x, w.detach()),
        np.array([0, 2, 2]),
        VECTOR.astype("f4"),
    ),
    "bincount_negative": (lambda lib, x: lib.bincount(x[0] - 1), INDEX),
    "bincount_matrix": (lambda lib, x: lib.bincount(x), INDEX),
    "bincount_float": (lambda lib, x: lib.bincount(x.detach()), VECTOR),
    "histc": (lambda lib, x: lib.histc(x.detach(), 5), MATRIX),
    "histc_range": (lambda lib, x: lib.histc(x.detach(), 4, 2, 8), MATRIX),
    "histc_same": (lambda lib, x: lib.histc(x.detach() * 0, 3), MATRIX),
    "histc_wrong": (lambda lib, x: lib.histc(x.detach(), 0), MATRIX),
}


@pytest.mark.parametrize("name", SEARCHING)
def test_searching(name: str) -> None:
    check(*SEARCHING[name], layout=name != "unique_dim")
