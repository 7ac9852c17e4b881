"""Special functions, under PyTorch's names.

Left out: ``airy_ai``, which no program of the survey uses.
"""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS

_HERE = (
    "bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t "
    "chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w entr erfcx "
    "hermite_polynomial_h hermite_polynomial_he i0e i1 i1e laguerre_polynomial_l "
    "legendre_polynomial_p log_ndtr modified_bessel_i0 modified_bessel_i1 "
    "modified_bessel_k0 modified_bessel_k1 ndtr ndtri scaled_modified_bessel_k0 "
    "scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w spherical_bessel_j0 xlog1py zeta"
)
_ELSEWHERE = {
    name: name
    for name in (
        "digamma",
        "erf",
        "erfc",
        "erfinv",
        "exp2",
        "expm1",
        "i0",
        "log1p",
        "log_softmax",
        "logit",
        "logsumexp",
        "polygamma",
        "round",
        "sinc",
        "softmax",
        "xlogy",
    )
} | {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
}


def _public(name: str) -> Any:
    if name in OPERATORS and OPERATORS[name].public:
        return OPERATORS[name].call
    return FUNCTIONS[name].function


__all__ = sorted([*_HERE.split(), *_ELSEWHERE])

globals().update({name: OPERATORS[f"special_{name}"].call for name in _HERE.split()})
globals().update({name: _public(given) for name, given in _ELSEWHERE.items()})
