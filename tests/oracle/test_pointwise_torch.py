"""Values, dtypes, derivatives and exceptions of element-wise operators: PyTorch's."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.oracle import pointwise_cases as cases

torch = pytest.importorskip("torch")
functional = pytest.importorskip("torch.nn.functional")

FINITE = tuple(x for x in cases.HARD if np.isfinite(x) and abs(x) < 1e29)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def theirs(name: str) -> Callable[..., Any]:
    found = getattr(torch, name, None)
    return getattr(functional, name) if found is None else found


def points(name: str, dtype: str = "float64") -> list[Any]:
    if name in cases.BINARY:
        return [np.array(p, dtype) for p in cases.PAIRS]
    return [np.array(cases.HARD, dtype)]


def both(name: str, arrays: list[Any]) -> tuple[Any, Any, list[Any], list[Any]]:
    """Return the results of both libraries, and their operands."""
    wanted = arrays[0].dtype.kind in "fc"
    t = [torch.tensor(a, requires_grad=wanted) for a in arrays]
    g = [tg.tensor(a, requires_grad=wanted) for a in arrays]
    return theirs(name)(*t), getattr(tg, name)(*g), t, g


def as_array(tensor: Any) -> Any:
    if isinstance(tensor, tg.Tensor):
        return tensor.detach().numpy()
    return tensor.detach().resolve_conj().numpy(force=True)


def check(found: Any, expected: Any, rtol: float, signed: bool = False) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-300)
    if signed and found.dtype.kind == "f":
        zeros = expected == 0
        np.testing.assert_array_equal(
            np.signbit(found[zeros]), np.signbit(expected[zeros])
        )


# -- values -------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*cases.UNARY, *cases.BINARY])
def test_value(name: str) -> None:
    expected, found, _, _ = both(name, points(name))
    assert found.requires_grad == expected.requires_grad
    signed = name not in cases.SIGN_OF_ZERO
    check(as_array(found), as_array(expected), 1e-12, signed)


@pytest.mark.parametrize("name", [*cases.UNARY, *cases.BINARY])
def test_float32_value(name: str) -> None:
    if name in cases.FLOAT32_VALUES:
        arrays = [np.array([0.3, 1.5, -0.7], "float32")] * (1 + (name in cases.BINARY))
    else:
        # Where a result is denormal, the two differ in its last bits.
        arrays = [np.clip(a, -80, 80) for a in points(name, "float32")]
    expected, found, _, _ = both(name, arrays)
    check(as_array(found), as_array(expected), 4e-6, name not in cases.SIGN_OF_ZERO)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name", [n for n in cases.UNARY + cases.BINARY if n not in ("erfinv", "isclose")]
)
def test_half_value(name: str, dtype: str) -> None:
    ours, torchs = getattr(tg, dtype), getattr(torch, dtype)
    values = np.array([0.3, 1.5, 2.25, 0.7, 0.99, 1.0], "float32")
    other = np.array([0.6, 1.5, 0.5, 2.0, 1.0, 1.25], "float32")
    arrays = [values, other] if name in cases.BINARY else [values]
    found = getattr(tg, name)(*[tg.tensor(a).to(ours) for a in arrays])
    expected = theirs(name)(*[torch.tensor(a).to(torchs) for a in arrays])
    assert str(found.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]
    unit = 2.0**-10 if dtype == "float16" else 2.0**-7
    np.testing.assert_allclose(
        as_array(found.double()), as_array(expected.double()), rtol=1.01 * unit
    )


@pytest.mark.parametrize("name", cases.INTEGER)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_integer_value(name: str, dtype: str) -> None:
    if dtype == "bool" and name.endswith("shift"):
        return
    values = np.array([0, 1, 2, 7, 100, 127], dtype)
    other = np.array([1, 1, 7, 8, 3, 100], dtype)
    expected, found, _, _ = both(name, [values, other])
    check(as_array(found), as_array(expected), 0)


@pytest.mark.parametrize("name", cases.ALIASES)
def test_alias(name: str) -> None:
    arrays = [np.array([0.3, 0.7, 1.0])]
    two = [
        "arctan2",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "not_equal",
        "clip",
    ]
    if name in two or name.startswith(("less", "greater")):
        arrays.append(np.array([0.5, 0.7, 2.0]))
    if name == "arccosh":
        arrays = [np.array([1.5, 2.0])]
    expected, found, _, _ = both(name, arrays)
    check(as_array(found), as_array(expected), 1e-12)


# -- derivatives ----------------------------------------------------------------------


def gradient(result: Any, operand: Any) -> Any:
    """Return the gradient of the sum, or None; an exception as its class."""
    library = tg if isinstance(operand, tg.Tensor) else torch
    if not result.requires_grad:
        return None
    total = result.sum()
    total = total.real if total.is_complex() else total
    try:
        (found,) = library.autograd.grad(
            total, operand, create_graph=True, allow_unused=True
        )
    except RuntimeError:
        return RuntimeError
    return found


def compare_gradients(found: Any, expected: Any, rtol: float) -> None:
    if expected is RuntimeError or found is RuntimeError:
        assert found is expected
        return
    if expected is None or found is None:
        given = expected if found is None else found
        assert given is None or not np.nan_to_num(as_array(given)).any()
        return
    check(as_array(found), as_array(expected), rtol)


@pytest.mark.parametrize("name", [*cases.UNARY, *cases.BINARY])
def test_first_derivative(name: str) -> None:
    arrays = points(name)
    if name in cases.FIRST:
        arrays = _away(arrays)
    expected, found, t, g = both(name, arrays)
    tolerance = 1e-6 if name in ("sinc", "hardsigmoid") else 1e-10
    for ours, torchs in zip(g, t, strict=True):
        compare_gradients(gradient(found, ours), gradient(expected, torchs), tolerance)


@pytest.mark.parametrize("name", [*cases.UNARY, *cases.BINARY])
def test_second_derivative(name: str) -> None:
    arrays = points(name)
    if name in cases.SECOND:
        arrays = _away(arrays)
    expected, found, t, g = both(name, arrays)
    for first, second in np.ndindex(len(t), len(t)):
        theirs_first = gradient(expected, t[first])
        ours_first = gradient(found, g[first])
        if theirs_first in (None, RuntimeError) or ours_first is None:
            continue
        theirs_second = gradient(theirs_first, t[second])
        if theirs_second is RuntimeError:
            continue
        compare_gradients(gradient(ours_first, g[second]), theirs_second, 1e-6)


def _away(arrays: list[Any]) -> list[Any]:
    """Return ordinary points: not 0, not equal, not large."""
    grid = np.array([0.3, -0.7, 1.3, -2.1, 0.9])
    if len(arrays) == 1:
        return [grid]
    other = np.array([0.4, 1.1, -0.8])
    return [np.repeat(grid, 3), np.tile(other, 5)]


@pytest.mark.parametrize("bounds", [(0.0, 2.0), (None, 1.0), (-0.5, None), (2.0, 1.0)])
def test_clamp(bounds: tuple[Any, Any]) -> None:
    arrays = points("exp")
    t, g = torch.tensor(arrays[0], requires_grad=True), tg.tensor(arrays[0])
    g.requires_grad_()
    expected, found = torch.clamp(t, *bounds), tg.clamp(g, *bounds)
    check(as_array(found), as_array(expected), 0)
    # PyTorch 2.13 has 1 at a bound, 2.14 and tracegrad 0.
    at_bound = np.isin(arrays[0], [b for b in bounds if b is not None])
    ours, torchs = as_array(gradient(found, g)), as_array(gradient(expected, t))
    np.testing.assert_array_equal(ours[~at_bound], torchs[~at_bound])
    assert not ours[at_bound].any()


def test_clamp_by_tensors() -> None:
    values = np.array([-1.0, 0.5, 3.0, np.nan, 1.0])
    low, high = (
        np.array([0.0, 0.0, 2.0, 0.0, np.nan]),
        np.array([1.0, 1.0, 1.0, 1.0, 2]),
    )
    for arrays in ([values, low, high], [values, np.array(0.0), np.array(2.0)]):
        t = [torch.tensor(a, requires_grad=True) for a in arrays]
        g = [tg.tensor(a, requires_grad=True) for a in arrays]
        expected, found = torch.clamp(*t), tg.clamp(*g)
        check(as_array(found), as_array(expected), 0)
        for ours, torchs in zip(g, t, strict=True):
            compare_gradients(gradient(found, ours), gradient(expected, torchs), 0)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, -0.5, 2.0, 2.5, 0.0])
def test_pow_of_a_number(exponent: float) -> None:
    arrays = points("exp")
    if exponent == -0.5:
        # As rsqrt, whose slope at -0.0 and -inf is not that of pow.
        arrays = [arrays[0][arrays[0] > 0]]
    t, g = torch.tensor(arrays[0], requires_grad=True), tg.tensor(arrays[0])
    g.requires_grad_()
    expected, found = t**exponent, g**exponent
    check(as_array(found), as_array(expected), 1e-12, signed=True)
    compare_gradients(gradient(found, g), gradient(expected, t), 1e-12)
    expected, found = 2.5**t, 2.5**g
    check(as_array(found), as_array(expected), 1e-12)
    compare_gradients(gradient(found, g), gradient(expected, t), 1e-12)


@pytest.mark.parametrize("name", cases.COMPLEX)
def test_complex(name: str) -> None:
    values = np.array([0.5 + 0.3j, -1.2 + 0.7j, 2.0 - 1.5j, -0.3 - 0.4j, 1j])
    if name == "sgn":
        values = np.append(values, 0)
    expected, found, (t,), (g,) = both(name, [values])
    check(as_array(found), as_array(expected), 1e-12)
    first, torchs = gradient(found, g), gradient(expected, t)
    compare_gradients(first, torchs, 1e-10)
    if name != "sgn" and first.requires_grad and torchs.requires_grad:
        compare_gradients(gradient(first, g), gradient(torchs, t), 1e-9)


@pytest.mark.parametrize("name", cases.COMPLEX_PAIRS)
@pytest.mark.parametrize("other", [np.float64, np.complex128])
def test_complex_pair(name: str, other: Any) -> None:
    values = np.array([0.5 + 0.3j, -1.2 + 0.7j, 2.0 - 1.5j])
    second = np.array([0.7 + 0.1j, 1.5 - 0.3j, 2.0 + 1j])
    second = second.real.copy() if other is np.float64 else second
    for arrays in ([values, second], [second, values]):
        expected, found, t, g = both(name, arrays)
        check(as_array(found), as_array(expected), 1e-12)
        for ours, torchs in zip(g, t, strict=True):
            compare_gradients(gradient(found, ours), gradient(expected, torchs), 1e-10)


def test_complex_literal() -> None:
    values = np.array([0.5 + 0.3j, -1.2 + 0.7j])
    t, g = torch.tensor(values, requires_grad=True), tg.tensor(values)
    g.requires_grad_()
    for expected, found in (
        (t * (2 + 3j), g * (2 + 3j)),
        ((1 - 2j) / t, (1 - 2j) / g),
        (t ** (1 + 1j), g ** (1 + 1j)),
    ):
        check(as_array(found), as_array(expected), 1e-12)
        compare_gradients(gradient(found, g), gradient(expected, t), 1e-12)


def test_complex_from_parts() -> None:
    parts = [np.array([0.5, -1.2, np.inf]), np.array([0.3, np.nan, 2.0])]
    for name in ("complex", "polar"):
        # The derivative of polar divides by the length in PyTorch.
        parts = [p[:2] for p in parts] if name == "polar" else parts
        t = [torch.tensor(p, requires_grad=True) for p in parts]
        g = [tg.tensor(p, requires_grad=True) for p in parts]
        expected, found = theirs(name)(*t), getattr(tg, name)(*g)
        check(as_array(found), as_array(expected), 1e-12)
        for ours, torchs in zip(g, t, strict=True):
            compare_gradients(gradient(found, ours), gradient(expected, torchs), 1e-12)


# -- three operands -------------------------------------------------------------------


@pytest.mark.parametrize("value", [1, 2.5, -1])
@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_addc(name: str, value: float) -> None:
    arrays = [np.array([1.0, -2.0]), np.array([0.5, 3.0]), np.array([2.0, -1.5])]
    t = [torch.tensor(a, requires_grad=True) for a in arrays]
    g = [tg.tensor(a, requires_grad=True) for a in arrays]
    expected = theirs(name)(*t, value=value)
    found = getattr(tg, name)(*g, value=value)
    check(as_array(found), as_array(expected), 1e-15)
    for ours, torchs in zip(g, t, strict=True):
        compare_gradients(gradient(found, ours), gradient(expected, torchs), 1e-14)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_lerp(weight: float) -> None:
    arrays = [np.array([1.0, -2.0, 1e16]), np.array([0.5, 3.0, 1.0])]
    t = [torch.tensor(a, requires_grad=True) for a in arrays]
    g = [tg.tensor(a, requires_grad=True) for a in arrays]
    for w in (weight, "tensor"):
        tw = torch.tensor(np.array([weight] * 3)) if w == "tensor" else weight
        gw = tg.tensor(np.array([weight] * 3)) if w == "tensor" else weight
        expected, found = torch.lerp(*t, tw), tg.lerp(*g, gw)
        check(as_array(found), as_array(expected), 1e-15)
        for ours, torchs in zip(g, t, strict=True):
            compare_gradients(gradient(found, ours), gradient(expected, torchs), 1e-15)


@pytest.mark.parametrize("alpha", [1, 2, -0.5])
@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
def test_alpha(name: str, alpha: float) -> None:
    arrays = [np.array([1.0, -2.0]), np.array([0.5, 3.0])]
    t = [torch.tensor(a, requires_grad=True) for a in arrays]
    g = [tg.tensor(a, requires_grad=True) for a in arrays]
    expected = theirs(name)(*t, alpha=alpha)
    found = getattr(tg, name)(*g, alpha=alpha)
    check(as_array(found), as_array(expected), 0)
    for ours, torchs in zip(g, t, strict=True):
        compare_gradients(gradient(found, ours), gradient(expected, torchs), 0)


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, -1, -2])
def test_round(decimals: int) -> None:
    values = np.array([1.005, 2.675, -0.5, 1.5, 2.5, 1234.5678, np.nan, np.inf, -0.0])
    expected = torch.round(torch.tensor(values), decimals=decimals)
    found = tg.round(tg.tensor(values), decimals=decimals)
    check(as_array(found), as_array(expected), 0, signed=True)


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_div_modes(mode: str | None) -> None:
    arrays = [
        np.array([-7.0, 7.0, -7.0, 7.0, 0.3]),
        np.array([2.0, -2.0, -2.0, 2.0, 0.1]),
    ]
    for dtype in ("float64", "float32", "int64", "int8", "uint8"):
        given = [np.abs(a) if dtype == "uint8" else a for a in arrays]
        given = [np.where(a == 0, 1, a).astype(dtype) for a in given]
        given[1] = np.where(given[1] == 0, 1, given[1]).astype(dtype)
        expected = torch.div(*map(torch.tensor, given), rounding_mode=mode)
        found = tg.div(*map(tg.tensor, given), rounding_mode=mode)
        check(as_array(found), as_array(expected), 1e-6)
    t, g = torch.tensor(arrays[0], requires_grad=True), tg.tensor(arrays[0])
    g.requires_grad_()
    expected, found = (
        torch.div(t, 2, rounding_mode=mode),
        tg.div(g, 2, rounding_mode=mode),
    )
    compare_gradients(gradient(found, g), gradient(expected, t), 0)


def test_where_at_a_singular_point() -> None:
    def unsafe(lib: Any, x: Any) -> Any:
        return lib.where(x > 0, lib.sqrt(x), 0.0)

    def safe(lib: Any, x: Any) -> Any:
        return lib.where(x > 0, lib.sqrt(lib.where(x > 0, x, 1.0)), 0.0)

    values = np.array([-1.0, 4.0, 0.0])
    for program in (unsafe, safe):
        t, g = torch.tensor(values, requires_grad=True), tg.tensor(values)
        g.requires_grad_()
        compare_gradients(
            gradient(program(tg, g), g), gradient(program(torch, t), t), 0
        )


# -- casts ----------------------------------------------------------------------------

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
]


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_cast(source: str, target: str) -> None:
    values = np.array([0, 1, 2, 100, 127], "float64")
    given = values.astype(source)
    if source in ("float16", "float32", "float64"):
        given = np.array([0.5, -1.0, 2.7, -2.7, 100.0, -0.0], source)
    expected = torch.tensor(given).to(getattr(torch, target))
    found = tg.tensor(given).to(getattr(tg, target))
    check(as_array(found), as_array(expected), 0)


@pytest.mark.parametrize("target", ["int64", "int32", "int16", "int8", "uint8", "bool"])
def test_cast_of_what_does_not_fit(target: str) -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20])
    expected = torch.tensor(values).to(getattr(torch, target))
    found = tg.tensor(values).to(getattr(tg, target))
    check(as_array(found), as_array(expected), 0)


def test_cast_methods() -> None:
    for name in [
        "bool",
        "byte",
        "char",
        "short",
        "int",
        "long",
        "half",
        "float",
        "double",
        "cfloat",
        "cdouble",
    ]:
        values = np.array([0.0, 1.0, 2.0])
        expected, found = (
            getattr(torch.tensor(values), name)(),
            getattr(tg.tensor(values), name)(),
        )
        assert found.dtype.name == str(expected.dtype).partition(".")[2]
    x, y = tg.tensor([1.0]), torch.tensor([1.0])
    assert x.type() == y.type()
    assert x.type("torch.DoubleTensor").dtype is tg.float64
    assert x.type(tg.int64).dtype is tg.int64
    assert x.type_as(tg.tensor([1])).dtype is tg.int64
    assert x.to(tg.float32) is x
    assert x.float() is x
    assert x.to("cpu") is x
    assert x.to(x, copy=True) is not x


# -- errors ---------------------------------------------------------------------------

REFUSALS: dict[str, Callable[[Any, Any], Any]] = {
    "integer // 0": lambda lib, f: lib.tensor([1]) // 0,
    "integer % 0": lambda lib, f: lib.tensor([1]) % 0,
    "fmod by 0": lambda lib, f: lib.fmod(lib.tensor([1]), 0),
    "div trunc by 0": lambda lib, f: lib.div(lib.tensor([1]), 0, rounding_mode="trunc"),
    "integer ** -1": lambda lib, f: lib.tensor([2]) ** -1,
    "no bound": lambda lib, f: lib.clamp(lib.tensor([1.0])),
    "rounding mode": lambda lib, f: lib.div(lib.tensor([1.0]), 2, rounding_mode="x"),
    "condition": lambda lib, f: lib.where(lib.tensor([1.0]), 1, 2),
    "lerp dtypes": lambda lib, f: lib.lerp(
        lib.tensor([1.0]), lib.tensor([1.0], dtype=lib.float64), 0.5
    ),
    "approximate": lambda lib, f: f.gelu(lib.tensor([1.0]), approximate="x"),
    "reduction": lambda lib, f: f.mse_loss(
        lib.tensor([1.0]), lib.tensor([2.0]), reduction="x"
    ),
    "label": lambda lib, f: f.cross_entropy(lib.zeros(2, 3), lib.tensor([0, 5])),
    "negative label": lambda lib, f: f.cross_entropy(
        lib.zeros(2, 3), lib.tensor([0, -1])
    ),
    "labels' shape": lambda lib, f: f.cross_entropy(
        lib.zeros(2, 3), lib.tensor([0, 1, 2])
    ),
    "labels' dtype": lambda lib, f: f.cross_entropy(
        lib.zeros(2, 3), lib.tensor([0.0, 1.0])
    ),
    "bce shapes": lambda lib, f: f.binary_cross_entropy(
        lib.tensor([0.2]), lib.tensor([1.0, 2.0])
    ),
    "bce beyond 1": lambda lib, f: f.binary_cross_entropy(
        lib.tensor([2.0]), lib.tensor([1.0])
    ),
    "bce of NaN": lambda lib, f: f.binary_cross_entropy(
        lib.tensor([float("nan")]), lib.tensor([1.0])
    ),
    "softmax of integers": lambda lib, f: lib.softmax(lib.tensor([1]), 0),
    "softmax dim": lambda lib, f: lib.softmax(lib.tensor([1.0]), 3),
    "text": lambda lib, f: lib.exp("a"),
    "text added": lambda lib, f: lib.tensor([1.0]) + "a",
    "None added": lambda lib, f: lib.tensor([1.0]) + None,
    "None compared": lambda lib, f: lib.tensor([1.0]) < None,
    "shapes": lambda lib, f: lib.ones(2) + lib.ones(3),
    "in place into an integer": lambda lib, f: lib.tensor([1]).add_(1.5),
    "div in place": lambda lib, f: lib.tensor([1]).div_(2),
    "imag of a real": lambda lib, f: lib.imag(lib.tensor([1.0])),
    "parts' dtypes": lambda lib, f: lib.complex(
        lib.tensor([1.0]), lib.tensor([1.0], dtype=lib.float64)
    ),
    "isclose dtypes": lambda lib, f: lib.isclose(lib.tensor([1.0]), lib.tensor([1])),
    "odd glu": lambda lib, f: f.glu(lib.ones(3)),
    "hardtanh bounds": lambda lib, f: f.hardtanh(lib.tensor([1.0]), 2, 1),
    "huber delta": lambda lib, f: f.huber_loss(
        lib.tensor([1.0]), lib.tensor([2.0]), delta=-1.0
    ),
    "celu alpha": lambda lib, f: f.celu(lib.tensor([1.0]), 0.0),
    "prelu slopes": lambda lib, f: f.prelu(lib.ones(2, 3), lib.ones(2)),
    "larger result in place": lambda lib, f: lib.ones(1).add_(lib.ones(3)),
    "bits of floats": lambda lib, f: lib.bitwise_and(lib.tensor([1.0]), 1),
    "floor of complex": lambda lib, f: lib.floor(lib.tensor([1j])),
    "order of complex": lambda lib, f: lib.tensor([1j]) < 1,
    "minus bool": lambda lib, f: -lib.tensor([True]),
    "bool minus bool": lambda lib, f: lib.tensor([True]) - lib.tensor([True]),
    "float alpha": lambda lib, f: lib.add(lib.tensor([1]), lib.tensor([1]), alpha=1.5),
    "decimals of integers": lambda lib, f: lib.round(lib.tensor([1]), decimals=1),
    "backward of //": lambda lib, f: (
        (lib.ones(1, requires_grad=True) // 2).sum().backward()
    ),
    "out and grad": lambda lib, f: lib.exp(
        lib.ones(1, requires_grad=True), out=lib.ones(1)
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str) -> None:
    program = REFUSALS[name]
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        program(torch, functional)
    # PyTorch's own subclasses of RuntimeError are implementation, not meaning.
    kind = theirs.type
    kind = RuntimeError if issubclass(kind, NotImplementedError) else kind
    with pytest.raises(kind):
        program(tg, tg)


def test_comparison_with_anything() -> None:
    x = tg.tensor([1.0])
    nothing = None
    assert (x == nothing) is False
    assert (x != nothing) is True
    assert (x == "a") is False
