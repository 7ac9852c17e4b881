"""Orthogonal polynomials, whose number is a tensor too. They have no gradient."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops import _special_helpers as _special_helpers
from tracegrad.ops._families import Decorator
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops._promotion import floating


def _family(
    start: tuple[int, int], rule: tuple[int, ...], shifted: bool = False
) -> Decorator:
    """Define a family of polynomials by its recurrence (decorator)."""
    numbers = ", ".join(f"{number}.0" for number in (*start, *rule))
    variable = "2.0 * {input} - 1.0" if shifted else "{input}"
    text = f"tg_three_terms(np, {variable}, {{n}}, {numbers})"

    def reference(input: float, n: float) -> float:
        x = 2 * input - 1 if shifted else input
        return float(_by_recursion(x, int(n), start, rule))

    return pointwise(
        numpy={"float": text},
        reference=reference,
        promote=floating,
        domain=(0.0, 4.0),
        public=False,
        method=False,
        inplace=False,
    )


def _by_recursion(
    x: float, n: int, start: tuple[int, int], rule: tuple[int, ...]
) -> float:
    """Return polynomial number `n` by those before it, for tests."""
    if n < 2:
        return start[0] * x + start[1] if n else 1.0
    a, b, c, d, e, f = rule
    k = n - 1
    last, before = (_by_recursion(x, m, start, rule) for m in (k, k - 1))
    sunk = (e * k if e else 1) * before
    return (((a + b * k) * x + c + d * k) * last - sunk) / (f * k + 1)


@_family((1, 0), (2, 0, 0, 0, 0, 0))
def special_chebyshev_polynomial_t(input: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomial of the first kind number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((2, 0), (2, 0, 0, 0, 0, 0))
def special_chebyshev_polynomial_u(input: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomial of the second kind number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((2, -1), (2, 0, 0, 0, 0, 0))
def special_chebyshev_polynomial_v(input: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomial of the third kind number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((2, 1), (2, 0, 0, 0, 0, 0))
def special_chebyshev_polynomial_w(input: Tensor, n: Tensor) -> Tensor:
    """Chebyshev polynomial of the fourth kind number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((1, 0), (2, 0, 0, 0, 0, 0), shifted=True)
def special_shifted_chebyshev_polynomial_t(input: Tensor, n: Tensor) -> Tensor:
    """Shifted Chebyshev polynomial of the first kind number `n` of each element.

    Source: NIST DLMF 18.1.2.
    """


@_family((2, 0), (2, 0, 0, 0, 0, 0), shifted=True)
def special_shifted_chebyshev_polynomial_u(input: Tensor, n: Tensor) -> Tensor:
    """Shifted Chebyshev polynomial of the second kind number `n` of each element.

    Source: NIST DLMF 18.1.2.
    """


@_family((2, -1), (2, 0, 0, 0, 0, 0), shifted=True)
def special_shifted_chebyshev_polynomial_v(input: Tensor, n: Tensor) -> Tensor:
    """Shifted Chebyshev polynomial of the third kind number `n` of each element.

    Source: NIST DLMF 18.1.2.
    """


@_family((2, 1), (2, 0, 0, 0, 0, 0), shifted=True)
def special_shifted_chebyshev_polynomial_w(input: Tensor, n: Tensor) -> Tensor:
    """Shifted Chebyshev polynomial of the fourth kind number `n` of each element.

    Source: NIST DLMF 18.1.2.
    """


@_family((2, 0), (2, 0, 0, 0, 2, 0))
def special_hermite_polynomial_h(input: Tensor, n: Tensor) -> Tensor:
    """Physicists' Hermite polynomial number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((1, 0), (1, 0, 0, 0, 1, 0))
def special_hermite_polynomial_he(input: Tensor, n: Tensor) -> Tensor:
    """Probabilists' Hermite polynomial number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((-1, 1), (-1, 0, 1, 2, 1, 1))
def special_laguerre_polynomial_l(input: Tensor, n: Tensor) -> Tensor:
    """Laguerre polynomial number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """


@_family((1, 0), (1, 2, 0, 0, 1, 1))
def special_legendre_polynomial_p(input: Tensor, n: Tensor) -> Tensor:
    """Legendre polynomial number `n` of each element.

    Source: NIST DLMF 18.9.2.
    """
