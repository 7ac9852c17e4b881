"""Replacement of NaN and infinities."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.rules import select
from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._functions import Choice, choosing
from tracegrad.ops._pointwise import pointwise
from tracegrad.ops.predicates import isfinite

_LARGEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float.fromhex("0x1.fffffep127"),
    "float64": float.fromhex("0x1.fffffffffffffp1023"),
}
"""The largest number of each floating dtype.

Source: IEEE 754-2019, table 3.5.
"""


@pointwise(
    name="nan_to_num",
    numpy={
        "float": (
            "np.where(np.isnan({input}), {nan}, "
            "np.where(np.isposinf({input}), {posinf}, "
            "np.where(np.isneginf({input}), {neginf}, {input})))"
        ),
        "complex": "tg_nonfinite_parts(np, {input}, {nan}, {posinf}, {neginf})",
    },
    c={
        "float": (
            "{input} != {input} ? {nan} : !isinf({input}) ? {input} "
            ": {input} > 0 ? {posinf} : {neginf}"
        )
    },
    reference=lambda input, **_: input,
    examples=lambda rng: [
        ((rng.normal(size=(3, 4)),), {"nan": 0.0, "posinf": 1.0, "neginf": -1.0})
    ],
    public=False,
    method=False,
    inplace=False,
)
def replace_nonfinite(
    input: Tensor, nan: float, posinf: float, neginf: float
) -> Tensor:
    """Elements with NaN and the infinities replaced."""


replace_nonfinite.derivative(input=select(lambda input: isfinite(input)))


@choosing("nan_to_num")
def _nan_to_num(
    input: Any,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Choice:
    """Replace NaN and the infinities.

    Parameters
    ----------
    input : Tensor
    nan, posinf, neginf : number, optional
        0, and the largest and the smallest number of the dtype.
    """
    if input.dtype.kind in ("bool", "int"):
        return Choice(OPERATORS["clone"], (input,), {"contiguous": False})
    largest = _LARGEST[input.dtype.to_real().name]
    return Choice(
        replace_nonfinite,
        (input,),
        {
            "nan": float(0 if nan is None else nan),
            "posinf": float(largest if posinf is None else posinf),
            "neginf": float(-largest if neginf is None else neginf),
        },
    )
