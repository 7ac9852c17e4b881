"""Operators whose left operand would take a changing number's value in C.

Python asks the right operand first only if its class is derived from the left one's: a
stand-in for an int is not asked in ``0.5 * n``, ``True * n`` or ``2.0 == n``, nor any
stand-in beside an array. So the right operand is looked at before the operator is.
"""

import ast
import sys
import types
from typing import Any

from tracegrad.capture import attributes
from tracegrad.capture.numbers import (
    Computed,
    IntStandIn,
    StandIn,
    looked_at,
    pin_within,
    plain,
    stand_in,
)

METHODS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor",
    ast.BitAnd: "and", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le",
    ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_COMPARISONS = frozenset(f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
_MISSING: Any = object()


class LeftOperands:
    """Left operands, kept until their right ones are there.

    One is known by the user's frame and by the place of its operator, since operands
    may call the same function again, or raise.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], Any] = {}

    def keep(self, value: Any, place: int) -> None:
        """Keep the left operand of the operator at `place`."""
        self._kept[_of_user_frame(place)] = value

    def take(self, place: int) -> Any:
        """Return the left operand of the operator at `place`, if it is known."""
        return self._kept.pop(_of_user_frame(place), _MISSING)


def _of_user_frame(place: int) -> tuple[int, int]:
    """Return a key for an operator in the frame that called the caller's caller."""
    return id(sys._getframe(3)), place


def beside(left: Any, right: Any, method: str) -> Any:
    """Return what to put right of the operator for `right`.

    Parameters
    ----------
    left, right : object
        The operands; `left` is no tensor.
    method : str
        The operator's special method, such as ``__mul__``.
    """
    if not isinstance(right, StandIn):
        if method in _COMPARISONS or type(left) in (str, bytes):
            pin_within(right)
        return right
    kind = type(left)
    if kind is int or isinstance(left, StandIn) or _is_in_python(kind, method):
        return right
    if kind is float and method not in _COMPARISONS and isinstance(right, IntStandIn):
        return _as_float(right)
    return right if kind is float and type(plain(right)) is float else looked_at(right)


def _is_in_python(kind: type, method: str) -> bool:
    return isinstance(attributes.class_value(kind, method), types.FunctionType)


def _as_float(number: Any) -> Any:
    """Return an int's stand-in as one for a float, which a float's operator needs."""
    if number.owner is None:
        return plain(number)
    number.uses += 1
    value = float(plain(number))
    return stand_in(value, Computed(float, (number.source,)), number.owner)
