"""Every pair of dtypes and ranks, for every element-wise operator: PyTorch's answer.

``python -m tests.ops.promotion_cases`` asks PyTorch and writes the table anew.
"""

import json
import warnings
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "data" / "promotion_torch_2_13_0.json"

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
NUMBERS = {"bool": True, "int": 1, "float": 1.0, "complex": 1 + 0j}
UNARY = [
    "neg",
    "abs",
    "sign",
    "sgn",
    "reciprocal",
    "square",
    "sqrt",
    "rsqrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sinc",
    "erf",
    "erfc",
    "erfinv",
    "sigmoid",
    "logit",
    "floor",
    "ceil",
    "trunc",
    "round",
    "frac",
    "logical_not",
    "bitwise_not",
    "isnan",
    "isinf",
    "isfinite",
    "isposinf",
    "isneginf",
    "isreal",
    "signbit",
    "nan_to_num",
    "real",
    "imag",
    "conj",
    "angle",
    "deg2rad",
    "rad2deg",
    "relu",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "float_power",
    "atan2",
    "hypot",
    "copysign",
    "logaddexp",
    "xlogy",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "where",
    "clamp_min",
    "clamp",
    "add_",
    "sub_",
    "mul_",
    "div_",
    "pow_",
    "remainder_",
    "bitwise_and_",
    "floor_divide_",
]
REFUSED = "-"
# One letter per dtype in the table; complex32 exists in PyTorch only.
LETTERS = {
    "bool": "b", "uint8": "u", "int8": "1", "int16": "2", "int32": "4", "int64": "8",
    "float16": "h", "bfloat16": "g", "float32": "f", "float64": "d", "complex32": "E",
    "complex64": "F", "complex128": "D",
}  # fmt: skip

Operand = tuple[str, str]
"""A dtype or a kind of number, and ``t`` (tensor), ``0`` (0-dim) or ``n`` (number)."""


def unary_cases() -> list[tuple[str, Operand]]:
    """Return the operand of every case of one operand."""
    return [(name, (d, rank)) for name in UNARY for d in DTYPES for rank in "t0"]


def binary_cases() -> list[tuple[Operand, Operand]]:
    """Return the pairs of operands, of which at least one is a tensor."""
    tensors = [(d, rank) for d in DTYPES for rank in "t0"]
    numbers = [(kind, "n") for kind in NUMBERS]
    pairs = [(a, b) for a in tensors for b in tensors + numbers]
    return pairs + [(n, t) for n in numbers for t in tensors]


def made(library: Any, operand: Operand) -> Any:
    """Return an operand in the library."""
    name, rank = operand
    if rank == "n":
        return NUMBERS[name]
    return library.tensor([1, 1] if rank == "t" else 1, dtype=getattr(library, name))


def applied(library: Any, name: str, operands: list[Any]) -> str:
    """Return the result's dtype, or that the library refuses."""
    try:
        result = _call(library, name, operands)
    except (RuntimeError, TypeError, AttributeError):
        return REFUSED
    return LETTERS[str(result.dtype).partition(".")[2]]


def _call(library: Any, name: str, operands: list[Any]) -> Any:
    if name.endswith("_"):
        return getattr(operands[0], name)(*operands[1:])
    if name == "where":
        return library.where(library.tensor(True), *operands)
    if name == "clamp":
        return library.clamp(operands[0], operands[1], operands[1])
    return getattr(library, name)(*operands)


def answers(library: Any) -> dict[str, str]:
    """Return for each operator its answers in order, a letter each."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in UNARY:
            cases = [o for n, o in unary_cases() if n == name]
            given = [applied(library, name, [made(library, o)]) for o in cases]
            found[name] = "".join(given)
        for name in BINARY:
            found[name] = "".join(
                applied(library, name, [made(library, o) for o in pair])
                for pair in binary_cases()
            )
    return found


if __name__ == "__main__":
    import torch

    TABLE.write_text(json.dumps(answers(torch), indent=0) + "\n", encoding="utf-8")
