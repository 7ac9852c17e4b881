"""Softmax and its relatives: composites over rows."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.errors import UnsupportedDTypeError
from tracegrad.ops._families import composite
from tracegrad.ops._pointwise import compute_dtype
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.arithmetic import mul, neg, sub
from tracegrad.ops.casts import as_dtype
from tracegrad.ops.division import div
from tracegrad.ops.exponential import exp, log
from tracegrad.ops.reductions import amax
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.shaping import fit


def _canonical(name: str) -> Any:
    def canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
        dim = canonical_dim(name, attributes["dim"], operands[0].ndim)
        return attributes | {"dim": dim}

    return canonical


def _prepared(name: str, input: Tensor, dtype: DType | None) -> Tensor:
    """Return the rows in the dtype to compute in: float32 for the half types."""
    given = input if dtype is None else as_dtype(input, dtype)
    if given.dtype.kind != "float":
        raise UnsupportedDTypeError(
            f"{name} takes a floating tensor, not {given.dtype.name}; give dtype="
        )
    return as_dtype(given, compute_dtype(given.dtype))


def _shifted(input: Tensor, dim: int) -> Tensor:
    """Return the rows less their largest element: then exp() does not overflow."""
    if input._array.shape and input._array.shape[dim] == 0:
        return input
    return sub(input, amax(input, dim, True))  # type: ignore[no-any-return]


def _examples(rng: Any) -> Any:
    return [
        ((rng.normal(size=(3, 4)),), {"dim": 1}),
        ((rng.normal(size=5),), {"dim": -1}),
    ]


@composite(canonical=_canonical("softmax"), examples=_examples)
def softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Exponentials along a dimension, scaled to sum 1.

    The maximum is subtracted first, so that nothing overflows. A row of -inf only,
    or with inf in it, gives NaN.

    Source: Goodfellow, Bengio, Courville, "Deep Learning", section 4.1.
    """
    wide = _prepared("softmax", input, dtype)
    scaled = exp(_shifted(wide, dim))  # type: ignore[arg-type]
    result = div(scaled, sum_(scaled, dim, True))
    return as_dtype(result, dtype or input.dtype)


def _softmax_vjp(ct: Tensor, out: Tensor, input_spec: Any, dim: int) -> Tensor:
    weighted = mul(ct, out)
    result = sub(weighted, mul(out, sum_(weighted, dim, True)))
    return fit(result, input_spec)


softmax.vjp(input=_softmax_vjp)


@composite(canonical=_canonical("log_softmax"), examples=_examples)
def log_softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Logarithm of the softmax along a dimension, exact where that is tiny.

    Source: Goodfellow, Bengio, Courville, "Deep Learning", section 6.2.2.3.
    """
    wide = _prepared("log_softmax", input, dtype)
    shifted = _shifted(wide, dim)  # type: ignore[arg-type]
    result = sub(shifted, log(sum_(exp(shifted), dim, True)))
    return as_dtype(result, dtype or input.dtype)


def pulled_log_softmax(ct: Tensor, out: Tensor, input_spec: Any, dim: int) -> Tensor:
    """Return the cotangent of the logits, given that of their log-softmax."""
    result = sub(ct, mul(exp(out), sum_(ct, dim, True)))
    return fit(result, input_spec)


log_softmax.vjp(input=pulled_log_softmax)


@composite(canonical=_canonical("softmin"), method=False, examples=_examples)
def softmin(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Softmax of the negative elements."""
    return softmax(neg(input), dim, dtype)  # type: ignore[no-any-return]
