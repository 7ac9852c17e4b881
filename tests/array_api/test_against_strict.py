"""`tracegrad.array_api` beside `array-api-strict`: values, dtypes, shapes, errors."""

import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import tracegrad.array_api as xp

strict = pytest.importorskip("array_api_strict", reason="NOT RUN: not installed")

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e30, -np.inf, np.inf, np.nan]
INTS = [0, 1, 2, 3, 5, -1, -2, -7, 100]
UNARY = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert",
    "ceil", "conj", "cos", "cosh", "exp", "expm1", "floor", "imag", "isfinite",
    "isinf", "isnan", "log", "log1p", "log2", "log10", "logical_not", "negative",
    "positive", "real", "reciprocal", "round", "sign", "signbit", "sin", "sinh",
    "sqrt", "square", "tan", "tanh", "trunc",
]  # fmt: skip
BINARY = [
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "copysign", "divide", "equal",
    "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal",
    "logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum",
    "multiply", "nextafter", "not_equal", "pow", "remainder", "subtract",
]  # fmt: skip


def sample(dtype: str, safe: bool = False) -> Any:
    """Return a vector of values that are apt to go wrong."""
    if dtype == "bool":
        return np.array([True, False, True])
    if "int" in dtype:
        values = [abs(v) % 7 + 1 if safe else v for v in INTS]
        return np.array(values).astype(dtype)
    values = [v for v in FLOATS if not safe or (np.isfinite(v) and v)]
    if "complex" not in dtype:
        return np.array(values, dtype)
    finite = [v for v in values if np.isfinite(v) and abs(v) < 1e6]
    return np.array([complex(a, b) for a in finite for b in finite], dtype)


def outcome(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return error


def dtype_name(array: Any) -> str:
    return str(array.dtype).rpartition(".")[2]


def plain(array: Any) -> Any:
    return np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(array)


def agree(name: str, *args: Any, rtol: float = 0, **kwargs: Any) -> None:
    """Compare a function of both namespaces; NumPy arrays become theirs."""
    ours = outcome(lambda: call(xp, name, args, kwargs))
    theirs = outcome(lambda: call(strict, name, args, kwargs))
    compare(f"{name}{args}{kwargs}", ours, theirs, rtol)


def call(namespace: Any, name: str, args: Any, kwargs: Any) -> Any:
    function: Any = namespace
    for part in name.split("."):
        function = getattr(function, part)
    return function(
        *[converted(namespace, a) for a in args],
        **{k: converted(namespace, v) for k, v in kwargs.items()},
    )


def converted(namespace: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return namespace.asarray(value)
    if isinstance(value, list):
        return [converted(namespace, part) for part in value]
    if isinstance(value, np.dtype):
        return getattr(namespace, value.name)
    return value


def compare(what: str, ours: Any, theirs: Any, rtol: float) -> None:
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        both = isinstance(theirs, Exception) and isinstance(ours, Exception)
        assert both, f"{what}: ours {ours!r}, theirs {theirs!r}"
        return
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs), what
        for one, other in zip(ours, theirs, strict=True):
            compare(what, one, other, rtol)
        return
    assert isinstance(ours, xp.Array), what
    assert dtype_name(ours) == dtype_name(theirs), what
    assert tuple(ours.shape) == theirs.shape, what
    a, b = plain(ours), plain(theirs)
    single = dtype_name(theirs) in ("float32", "complex64")
    tolerance = max(rtol, 2e-6 if single else 1e-13)
    np.testing.assert_allclose(a, b, tolerance, 1e-30, equal_nan=True, err_msg=what)
    # Sums of products begin with a zero, or not.
    if a.dtype.kind == "f" and not what.startswith(("matmul", "vecdot", "tensordot")):
        zeros = b == 0
        assert np.array_equal(np.signbit(a[zeros]), np.signbit(b[zeros])), what


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str) -> None:
    agree(name, sample(dtype), rtol=1e-6 if "complex" in dtype else 0)


# Divisions by zero and powers of integers are not defined.
_SAFE = {
    "floor_divide",
    "remainder",
    "pow",
    "bitwise_left_shift",
    "bitwise_right_shift",
}
# What the standard leaves open, or where NumPy is not what it says.
_OPEN: dict[str, str] = {}


@pytest.mark.parametrize("one", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, one: str) -> None:
    for other in DTYPES:
        compare_binary(name, one, other)


def compare_binary(name: str, one: str, other: str) -> None:
    safe = name in _SAFE and ("int" in one or "int" in other)
    a, b = sample(one, safe), sample(other, safe)
    if "shift" in name and "int" in other:
        b = b % 7
    if name == "floor_divide":
        # There NumPy is not what the standard says: a test of its own is below.
        a = a[np.isfinite(a)]
    agree(name, a[:, None], b[None, :], rtol=1e-6 if "complex" in one + other else 0)
    agree(name, a, b[1:2].reshape(()), rtol=1e-6 if "complex" in one + other else 0)


def test_infinities_divided() -> None:
    x = xp.asarray([np.inf, -np.inf, np.inf, np.inf, np.inf])
    y = xp.asarray([2.0, 2.0, -2.0, np.inf, np.nan])
    found = xp.floor_divide(x, y).numpy()
    np.testing.assert_array_equal(found, [np.inf, -np.inf, -np.inf, np.nan, np.nan])


@pytest.mark.parametrize("scalar", [True, 2, 2.5, 1j])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", ["__add__", "__rmul__", "__eq__", "__pow__", "__sub__"]
)
def test_scalars(name: str, dtype: str, scalar: Any) -> None:
    array = sample(dtype, True)

    def of(namespace: Any) -> Any:
        found = getattr(namespace.asarray(array), name)(scalar)
        if found is NotImplemented:
            raise TypeError
        return found

    compare(name, outcome(lambda: of(xp)), outcome(lambda: of(strict)), 1e-6)


shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
numeric = st.sampled_from(DTYPES[1:])
INTEGRAL = st.sampled_from(["int8", "int16", "int32", "int64", "uint8"])
FLOATING = st.sampled_from(["float32", "float64", "complex64", "complex128"])
anything = st.sampled_from(DTYPES)
floating = st.sampled_from(["float32", "float64"])


@st.composite
def arrays(draw: Any, dtypes: Any = numeric, shape: Any = shapes) -> Any:
    dtype = draw(dtypes)
    sizes = draw(shape)
    count = int(np.prod(sizes))
    if dtype == "bool":
        values = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    else:
        low = 0 if dtype == "uint8" else -4
        numbers = st.integers(low, 5)
        values = draw(st.lists(numbers, min_size=count, max_size=count))
    return np.array(values, dtype).reshape(sizes)


def axis_of(data: Any, array: Any, none: bool = True) -> Any:
    """Return an axis, perhaps one that is not there; NumPy is lenient on 0-dim ones."""
    if array.ndim == 0:
        return None if none else 5
    found = st.integers(-array.ndim - 1, array.ndim)
    return data.draw(st.none() | found if none else found)


@st.composite
def axes(draw: Any, ndim: int) -> Any:
    if draw(st.booleans()) or ndim == 0:
        return draw(st.sampled_from([None, ()])) if ndim else None
    several = st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim).map(tuple)
    return draw(st.integers(-ndim - 1, ndim) | several)


REDUCTIONS = [
    "sum", "prod", "mean", "std", "var", "max", "min", "all", "any",
    "count_nonzero",
]  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=60)
@given(data=st.data())
def test_reductions(name: str, data: Any) -> None:
    array = data.draw(arrays(anything))
    options: dict[str, Any] = {"axis": data.draw(axes(array.ndim))}
    options["keepdims"] = data.draw(st.booleans())
    if name in ("std", "var"):
        options["correction"] = data.draw(st.sampled_from([0.0, 1.0, 0.5]))
        if array.size == 0:
            return
    if array.dtype == "uint8" and name in ("sum", "prod"):
        # The standard's dtype is uint64, which is not there.
        options["dtype"] = np.dtype("int64")
    agree(name, array, rtol=1e-5, **options)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@settings(max_examples=40)
@given(data=st.data())
def test_places(name: str, data: Any) -> None:
    array = data.draw(arrays(anything))
    axis = axis_of(data, array)
    agree(name, array, axis=axis, keepdims=data.draw(st.booleans()))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@settings(max_examples=40)
@given(data=st.data())
def test_scans(name: str, data: Any) -> None:
    array = data.draw(arrays(anything))
    if array.dtype == "uint8" or array.ndim == 0:
        return
    axis = axis_of(data, array)
    agree(name, array, axis=axis, include_initial=data.draw(st.booleans()), rtol=1e-5)


@pytest.mark.parametrize("name", ["sort", "argsort"])
@settings(max_examples=40)
@given(data=st.data())
def test_sorting(name: str, data: Any) -> None:
    array = data.draw(arrays(anything))
    axis = axis_of(data, array, none=False)
    agree(name, array, axis=axis, descending=data.draw(st.booleans()))


@pytest.mark.parametrize(
    "name", ["unique_all", "unique_counts", "unique_inverse", "unique_values"]
)
@settings(max_examples=30)
@given(array=arrays(anything))
def test_sets(name: str, array: Any) -> None:
    agree(name, array)


def test_each_nan_is_a_value_of_its_own() -> None:
    agree("unique_all", np.array([np.nan, 1.0, np.nan, 0.0]))


small_axis = st.none() | st.integers(-4, 3)
MANIPULATIONS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "expand_dims": lambda draw: {"axis": draw(st.integers(-4, 4))},
    "flip": lambda draw: {"axis": draw(small_axis | st.tuples(st.integers(-3, 2)))},
    "squeeze": lambda draw: {"axis": draw(st.integers(-3, 3))},
    "roll": lambda draw: {"shift": draw(st.integers(-4, 4)), "axis": draw(small_axis)},
    "unstack": lambda draw: {"axis": draw(st.integers(-3, 3))},
    "tril": lambda draw: {"k": draw(st.integers(-2, 2))},
    "triu": lambda draw: {"k": draw(st.integers(-2, 2))},
    "diff": lambda draw: {"axis": draw(st.integers(-3, 2))},
    "matrix_transpose": lambda draw: {},
    "nonzero": lambda draw: {},
}


@pytest.mark.parametrize("name", MANIPULATIONS)
@settings(max_examples=50)
@given(data=st.data())
def test_manipulations(name: str, data: Any) -> None:
    array = data.draw(arrays(numeric if name == "diff" else anything))
    if array.ndim == 0 and name == "squeeze":
        return
    agree(name, array, **MANIPULATIONS[name](data.draw))


@settings(max_examples=40)
@given(array=arrays(anything), copy=st.sampled_from([None, True, False]))
def test_reshape(array: Any, copy: Any) -> None:
    if copy is False and (array.ndim != 1 or array.size == 0):
        return
    agree("reshape", array, (-1,), copy=copy)
    agree("reshape", array, (array.size, 1), copy=copy)


@settings(max_examples=40)
@given(data=st.data())
def test_joins(data: Any) -> None:
    shape = st.just(data.draw(shapes))
    parts = [
        data.draw(arrays(anything, shape)) for _ in range(data.draw(st.integers(1, 3)))
    ]
    for name in ("concat", "stack"):
        agree(name, parts, axis=data.draw(st.integers(-4, 3)))
    agree("concat", parts, axis=None)


@settings(max_examples=40)
@given(data=st.data())
def test_repetitions(data: Any) -> None:
    array = data.draw(arrays(anything))
    agree("tile", array, tuple(data.draw(st.lists(st.integers(0, 2), max_size=4))))
    axis = axis_of(data, array)
    agree("repeat", array, data.draw(st.integers(0, 3)), axis=axis)


@settings(max_examples=40)
@given(data=st.data())
def test_taking(data: Any) -> None:
    shape = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)
    array = data.draw(arrays(anything, shape))
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    size = array.shape[axis]
    places = data.draw(st.lists(st.integers(0, size - 1), max_size=4))
    agree("take", array, np.array(places, "int64"), axis=axis)
    lines = np.zeros(array.shape, "int64")
    agree("take_along_axis", array, lines, axis=axis)


@settings(max_examples=60)
@given(data=st.data())
def test_products(data: Any) -> None:
    kind = data.draw(st.sampled_from([INTEGRAL, FLOATING]))
    a, b = data.draw(arrays(kind)), data.draw(arrays(kind))
    agree("matmul", a, b, rtol=1e-5)
    if a.ndim and b.ndim:
        agree("vecdot", a, b, rtol=1e-5)
    agree("tensordot", a, b, axes=data.draw(st.integers(0, 2)), rtol=1e-5)


@settings(max_examples=60)
@given(data=st.data())
def test_where_and_clip(data: Any) -> None:
    a, b = data.draw(arrays(anything)), data.draw(arrays(anything))
    mask = data.draw(arrays(st.just("bool")))
    agree("where", mask, a, b)
    if a.dtype.kind in "iuf":
        agree("clip", a, 1, 3)
        agree("clip", a, max=2)


@settings(max_examples=40)
@given(
    x=arrays(floating, hnp.array_shapes(max_dims=1, max_side=5)), y=arrays(floating),
    side=st.sampled_from(["left", "right"]),
)  # fmt: skip
def test_searching(x: Any, y: Any, side: str) -> None:
    agree("searchsorted", np.sort(x), y, side=side)


CREATIONS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("arange", (5,), {}),
    ("arange", (1, 6, 2), {}),
    ("arange", (5, 0, -2), {}),
    ("arange", (0.0, 1.0, 0.25), {"dtype": np.dtype("float64")}),
    ("arange", (3,), {"dtype": np.dtype("float32")}),
    ("eye", (3,), {"dtype": np.dtype("int32")}),
    ("eye", (2, 4), {"k": 1, "dtype": np.dtype("float32")}),
    ("full", ((2, 2), 3), {}),
    ("full", ((), True), {}),
    ("full", ((2,), 1.5), {"dtype": np.dtype("float32")}),
    ("linspace", (0, 1, 5), {"dtype": np.dtype("float64")}),
    ("linspace", (0, 1, 5), {"dtype": np.dtype("float32"), "endpoint": False}),
    ("linspace", (0, 1, 0), {"dtype": np.dtype("float64")}),
    ("ones", ((2, 3),), {"dtype": np.dtype("int8")}),
    ("zeros", (3,), {"dtype": np.dtype("complex64")}),
    ("zeros_like", (np.ones((2, 2)),), {"dtype": np.dtype("int64")}),
    ("ones_like", (np.ones((2, 2), "int8"),), {}),
    ("full_like", (np.ones((2, 2)), 3.0), {}),
    ("meshgrid", (np.arange(2), np.arange(3)), {}),
    ("meshgrid", (np.arange(2), np.arange(3)), {"indexing": "ij"}),
    ("broadcast_to", (np.ones((1, 2)), (3, 2)), {}),
    ("broadcast_arrays", (np.ones((1, 2)), np.ones((3, 1))), {}),
    ("permute_dims", (np.ones((2, 3, 4)), (2, 0, 1)), {}),
    ("moveaxis", (np.ones((2, 3, 4)), 0, -1), {}),
    ("moveaxis", (np.ones((2, 3, 4)), (0, 1), (2, 0)), {}),
    ("astype", (np.array([1.5, -2.5]), np.dtype("int32")), {}),
    ("astype", (np.array([1 + 1j]), np.dtype("float64")), {}),
    ("astype", (np.array([0, 2]), np.dtype("bool")), {}),
    ("asarray", ([[1, 2], [3, 4]],), {}),
    ("asarray", ([True, False],), {}),
    ("asarray", ([1, 2.5],), {"dtype": np.dtype("float32")}),
    ("isin", (np.array([1, 2]), np.array([2, 5])), {}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), CREATIONS)
def test_creation(name: str, args: Any, kwargs: Any) -> None:
    agree(name, *args, **kwargs)


def test_the_same_names_are_there() -> None:
    left_out = {"uint16", "uint32", "uint64", "linalg", "fft"}
    names = {n for n in dir(strict) if n[0].islower() and "flags" not in n}
    assert names - left_out <= set(dir(xp))


def test_signatures() -> None:
    """Names, kinds and defaults of parameters are the standard's."""
    for name, theirs in vars(strict).items():
        # The strict namespace is of a later version, in which these differ.
        if name in ("expand_dims", "astype", "from_dlpack"):
            continue
        if not inspect.isfunction(theirs) or "flags" in name or name.startswith("_"):
            continue
        assert parameters(getattr(xp, name)) == parameters(theirs), name


def parameters(function: Any) -> list[tuple[str, Any, str]]:
    found = inspect.signature(function).parameters.values()
    return [(p.name.lstrip("_"), p.kind, repr(p.default)) for p in found]


@pytest.mark.parametrize(("one", "other"), [*itertools.product(DTYPES, DTYPES)])
def test_promotion(one: str, other: str) -> None:
    def of(namespace: Any) -> Any:
        return namespace.result_type(getattr(namespace, one), getattr(namespace, other))

    ours, theirs = outcome(lambda: of(xp)), outcome(lambda: of(strict))
    assert isinstance(ours, Exception) == isinstance(theirs, Exception)
    if not isinstance(ours, Exception):
        assert str(ours).rpartition(".")[2] == str(theirs).rpartition(".")[2]
    for kind in ("numeric", "integral", "real floating", "bool"):
        assert xp.isdtype(getattr(xp, one), kind) == strict.isdtype(
            getattr(strict, one), kind
        )
