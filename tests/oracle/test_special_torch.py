"""Special functions: PyTorch's values and derivatives; a few ulp of mpmath's."""

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")
mpmath = pytest.importorskip("mpmath")

HARD = np.array(
    (
        np.nan, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 6.0, -6.0, 7.9, 8.0, -8.0,
        1.5, 2.5, 3.7, 1e-3, -1e-3, 30.0, -30.0, 100.0, -100.0, 0.9999,
    )
)  # fmt: skip
SMOOTH = ("i0", "i0e", "i1", "i1e", "erfcx", "ndtr", "log_ndtr", "ndtri", "entr")
FLAT = (
    "modified_bessel_i0",
    "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0",
)  # fmt: skip
# PyTorch's differ from mpmath's by up to 1e-6 around 6.
WAVES = {
    "bessel_j0": lambda x: mpmath.besselj(0, x),
    "bessel_j1": lambda x: mpmath.besselj(1, x),
    "bessel_y0": lambda x: mpmath.bessely(0, x),
    "bessel_y1": lambda x: mpmath.bessely(1, x),
}
ALIASES = ("digamma", "psi", "gammaln", "expit", "logit", "erf", "sinc", "exp2")
POLYNOMIALS = tuple(
    [f"{p}chebyshev_polynomial_{k}" for p in ("", "shifted_") for k in "tuvw"]
    + ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"]
    + ["legendre_polynomial_p"]
)
# Multiples of 2**-52 allowed against mpmath between 0.01 and 30.
EXACT = {
    "i0": lambda x: mpmath.besseli(0, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "i0e": lambda x: mpmath.besseli(0, x) * mpmath.exp(-x),
    "i1e": lambda x: mpmath.besseli(1, x) * mpmath.exp(-x),
    "scaled_modified_bessel_k0": lambda x: mpmath.besselk(0, x) * mpmath.exp(x),
    "scaled_modified_bessel_k1": lambda x: mpmath.besselk(1, x) * mpmath.exp(x),
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
}


def check(name, *arrays, rtol=1e-11, atol=1e-13):
    expected = getattr(torch.special, name)(*map(torch.tensor, arrays)).numpy()
    found = getattr(tg.special, name)(*map(tg.tensor, arrays)).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def pairs():
    return [a.ravel() for a in np.meshgrid(HARD, HARD)]


def test_names() -> None:
    theirs = {n for n in torch.special.__all__ if not n.startswith("_")}
    assert theirs - set(dir(tg.special)) == {"airy_ai"}


@pytest.mark.parametrize("name", [*SMOOTH, *FLAT, *ALIASES])
def test_value(name: str) -> None:
    check(name, HARD)
    check(name, HARD.astype("float32"), rtol=1e-5, atol=1e-6)
    check(name, np.array([1, 2, 3]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_first_and_second_derivative(name: str) -> None:
    points = np.array([0.1, 0.3, 0.5, 0.9])
    grads = []
    for lib in (torch, tg):
        x = lib.tensor(points, requires_grad=True)
        y = getattr(lib.special, name)(x).sum()
        (first,) = lib.autograd.grad(y, x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x)
        grads.append((first.detach().numpy(), second.numpy()))
    np.testing.assert_allclose(grads[1][0], grads[0][0], rtol=1e-10)
    np.testing.assert_allclose(grads[1][1], grads[0][1], rtol=1e-9)


def test_tails_of_ndtri() -> None:
    check("ndtri", 10.0 ** -np.arange(1, 300, 7))


def test_two_operands() -> None:
    first, second = pairs()
    check("xlog1py", first, second)
    known = ~np.isnan(first + second)
    check("zeta", first[known], second[known])
    for name in ("gammainc", "gammaincc"):
        check(name, first[known], second[known], rtol=1e-8)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "zeta"])
def test_derivative_by_the_second_operand(name: str) -> None:
    found = []
    for lib in (torch, tg):
        x = lib.tensor([0.3, 1.0, 4.0], dtype=lib.float64, requires_grad=True)
        getattr(lib.special, name)(lib.tensor([2.5]), x).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_no_derivative_by_the_first_operand() -> None:
    for lib in (torch, tg):
        x = lib.tensor([1.5], requires_grad=True)
        with pytest.raises(RuntimeError, match="derivative"):
            lib.special.gammainc(x, lib.tensor([1.0])).sum().backward()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 12, 40).astype("float64")
    check(name, rng.uniform(0, 1, 40), numbers, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", EXACT)
def test_a_few_ulp(name: str) -> None:
    points = np.random.default_rng(0).uniform(0.01, 30, 60)
    found = getattr(tg.special, name)(tg.tensor(points)).numpy()
    with mpmath.workdps(40):
        exact = [EXACT[name](mpmath.mpf(float(x))) for x in points]
        errors = [abs(float(f) - e) / abs(e) for f, e in zip(found, exact, strict=True)]
    assert max(errors) < 8 * 2.0**-52


@pytest.mark.parametrize("name", WAVES)
def test_waves(name: str) -> None:
    check(name, HARD, rtol=1e-5, atol=1e-6)
    points = np.random.default_rng(0).uniform(0.01, 100, 100)
    found = getattr(tg.special, name)(tg.tensor(points)).numpy()
    with mpmath.workdps(30):
        exact = [float(WAVES[name](mpmath.mpf(float(x)))) for x in points]
    # They have zeros: the error is measured against the waves' height.
    np.testing.assert_allclose(found, exact, rtol=1e-14, atol=5e-16)


def test_incomplete_gamma_functions() -> None:
    # PyTorch's differ by up to 2e-9 where both operands are large and close.
    rng = np.random.default_rng(0)
    first, second = rng.uniform(0, 200, (2, 60))
    found = tg.special.gammainc(tg.tensor(first), tg.tensor(second)).numpy()
    with mpmath.workdps(30):
        exact = [
            float(mpmath.gammainc(a, 0, x, regularized=True))
            for a, x in zip(first, second, strict=True)
        ]
    np.testing.assert_allclose(found, exact, rtol=1e-12)
