"""What stands in the dispatcher under autocast: casts operands, then applies."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, final

from tracegrad.amp.lists import FLOAT32, LOWER, POLICIES, WIDEST
from tracegrad.dispatch.bind import bind, expand
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import no_autocast, thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, float32, float64, promote_types


@final
class Casting:
    """Chooses dtypes by operator and device.

    Parameters
    ----------
    dtypes : dict of str to DType
        The lower precision by kind of device, where autocast is on.
    cache : dict or None
        Where weights that were cast are kept, until the outermost block ends.

    Attributes
    ----------
    key : hashable
        What it does.
    """

    def __init__(self, dtypes: dict[str, DType], cache: dict[Any, Any] | None) -> None:
        self.dtypes = dtypes
        self._cache = cache
        self.key: Hashable = tuple(
            sorted((kind, dtype.name) for kind, dtype in dtypes.items())
        )

    def bind(
        self, operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        """Apply an operator on operands of the dtypes that its list says."""
        kind = _device_kind(operands)
        policy = None
        if kind in self.dtypes:
            policy = POLICIES[kind].get(_name(operator, attributes))
        if policy is None and operator.body is not None and not operator.vjp_rules:
            # Its parts are looked at one by one.
            return expand(operator, operands, attributes)
        if policy is not None:
            operands = self._cast_all(operands, kind, policy)
        with no_autocast():
            return bind(operator, operands, attributes)

    def _cast_all(self, operands: Sequence[Any], kind: str, policy: str) -> list[Any]:
        if policy == LOWER:
            return [
                self._each(operand, self.dtypes[kind], kind) for operand in operands
            ]
        if policy == FLOAT32:
            return [self._each(operand, float32, kind) for operand in operands]
        if policy == WIDEST:
            widest = _widest(operands, self.dtypes[kind])
            return [self._each(operand, widest, kind) for operand in operands]
        return list(operands)

    def _each(self, operand: Any, dtype: DType, kind: str) -> Any:
        if operand.__class__ is tuple:
            return tuple(self._each(part, dtype, kind) for part in operand)
        if not isinstance(operand, Tensor) or operand.dtype is dtype:
            return operand
        if not _is_eligible(operand) or operand.device.type != kind:
            return operand
        return self._cast(operand, dtype)

    def _cast(self, tensor: Tensor, dtype: DType) -> Any:
        if not self._is_kept(tensor, dtype):
            return _cast(tensor, dtype)
        assert self._cache is not None
        # A recording does not use what was cast outside of it, nor tapes what was not.
        key = (id(tensor), dtype, thread.grad_enabled, id(thread.recorder))
        found = self._cache.get(key)
        if found is None:
            # The tensor too, so that its identity stays its own.
            found = self._cache[key] = (tensor, _cast(tensor, dtype))
        return found[1]

    def _is_kept(self, tensor: Tensor, dtype: DType) -> bool:
        return (
            self._cache is not None
            and tensor.dtype is float32
            and dtype is not float32
            and tensor.requires_grad
            and tensor.is_leaf
            and not tensor._is_view()
        )


def _cast(tensor: Tensor, dtype: DType) -> Any:
    with no_autocast():
        return bind(OPERATORS["cast"], (tensor,), {"dtype": dtype})


def _name(operator: OpDef, attributes: dict[str, Any]) -> str:
    """Return the name in the lists: padding is listed by its mode."""
    if operator.name == "pad":
        return f"pad:{attributes['mode']}"
    return operator.name


def _device_kind(operands: Sequence[Any]) -> str:
    for operand in operands:
        parts = operand if operand.__class__ is tuple else (operand,)
        for part in parts:
            if isinstance(part, Tensor):
                return "cpu" if part.is_meta else part.device.type
    return ""


def _is_eligible(tensor: Tensor) -> bool:
    return tensor.dtype.is_floating_point and tensor.dtype is not float64


def _widest(operands: Sequence[Any], lower: DType) -> DType:
    found = lower
    for operand in operands:
        parts = operand if operand.__class__ is tuple else (operand,)
        for part in parts:
            if isinstance(part, Tensor) and part.dtype.is_floating_point:
                found = promote_types(found, part.dtype)
    return found
