"""Derivative rules: what a definition states, and how tape and JVP read it.

A rule is a function whose parameter names say what it needs. The same function
serves the eager tape, double backward, graph derivation and forward mode, because
it is written with operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from tracegrad.dispatch.parameters import parameter_names
from tracegrad.errors import GradientError


@final
class Rule:
    """The derivative of an operator by one operand.

    Attributes
    ----------
    kind : str
        ``vjp`` or ``jvp`` (a function of ``ct`` or ``t``), or for pointwise
        operators ``times``, ``select``, ``pair`` or ``none``.
    function : callable
    names : tuple of str
        The function's parameters.
    """

    __slots__ = ("function", "kind", "names")

    def __init__(
        self, kind: str, function: Callable[..., Any], names: tuple[str, ...]
    ) -> None:
        self.kind = kind
        self.function = function
        self.names = names

    def pull(self, ct: Any, values: Mapping[str, Any]) -> Any:
        """Return the cotangent of the operand for the result's cotangent `ct`."""
        return self.pull_with(ct, self._arguments(ct, values))

    def push(self, t: Any, values: Mapping[str, Any]) -> Any:
        """Return the result's tangent for the operand's tangent `t`."""
        return _PUSH[self.kind](self, t, self._arguments(t, values))

    def pull_with(self, ct: Any, arguments: Sequence[Any]) -> Any:
        """Do as `pull`, given the function's arguments in order."""
        return _PULL[self.kind](self, ct, arguments)

    def _arguments(self, given: Any, values: Mapping[str, Any]) -> list[Any]:
        return [given if n in GIVEN_NAMES else values[n] for n in self.names]


# What a rule calls the cotangent or tangent that it is given.
GIVEN_NAMES = frozenset({"ct", "cts", "t"})


def times(derivative: Callable[..., Any]) -> Rule:
    """State that the derivative is a factor: a function of operands and ``out``."""
    return Rule("times", derivative, parameter_names(derivative))


def select(mask: Callable[..., Any]) -> Rule:
    """State that the derivative is 1 where a mask holds and 0 elsewhere.

    The cotangent is selected, not multiplied, so that 0 times inf makes no NaN.
    """
    return Rule("select", mask, parameter_names(mask))


def pair(derivatives: Callable[..., Any]) -> Rule:
    """State the two Wirtinger derivatives ``(dz, dz_conj)`` of a complex operand.

    Source: Wirtinger calculus as in Kreutz-Delgado, "The Complex Gradient
    Operator and the CR-Calculus" (2009), equations 31 to 33.
    """
    return Rule("pair", derivatives, parameter_names(derivatives))


def identity() -> Rule:
    """State that the derivative is 1."""
    return Rule("identity", lambda: None, ())


def negative() -> Rule:
    """State that the derivative is -1."""
    return Rule("negative", lambda: None, ())


def zero() -> Rule:
    """State that the derivative is 0 wherever it exists."""
    return Rule("zero", lambda: None, ())


def none(reason: str) -> Rule:
    """State that there is no derivative and asking for one is an error."""

    def refuse() -> Any:
        raise GradientError(reason)

    return Rule("none", refuse, ())


_COMPLEX = frozenset({"c", "complex"})


def conjugate(factor: Any) -> Any:
    """Return the complex conjugate of a Tensor or a Python number."""
    # NumPy's kind, or our dtype's on the meta device.
    array = getattr(factor, "_array", None)
    if array is None:
        return factor.conjugate() if isinstance(factor, complex) else factor
    return factor.conj() if array.dtype.kind in _COMPLEX else factor


def _pull_times(rule: Rule, ct: Any, arguments: Sequence[Any]) -> Any:
    return ct * conjugate(rule.function(*arguments))


def _push_times(rule: Rule, t: Any, arguments: Sequence[Any]) -> Any:
    return t * rule.function(*arguments)


def _select(rule: Rule, ct: Any, arguments: Sequence[Any]) -> Any:
    return ct.masked_select_or_zero(rule.function(*arguments))


def _pull_pair(rule: Rule, ct: Any, arguments: Sequence[Any]) -> Any:
    dz, dz_conj = rule.function(*arguments)
    return ct * conjugate(dz) + conjugate(ct) * dz_conj


def _push_pair(rule: Rule, t: Any, arguments: Sequence[Any]) -> Any:
    dz, dz_conj = rule.function(*arguments)
    return t * dz + conjugate(t) * dz_conj


def _zero(rule: Rule, ct: Any, arguments: Sequence[Any]) -> Any:
    return ct.zeros_like()


def _own(rule: Rule, given: Any, arguments: Sequence[Any]) -> Any:
    return rule.function(*arguments)


_Application = Callable[[Rule, Any, Sequence[Any]], Any]

_PULL: dict[str, _Application] = {
    "times": _pull_times,
    "select": _select,
    "pair": _pull_pair,
    "identity": lambda rule, ct, arguments: ct,
    "negative": lambda rule, ct, arguments: -ct,
    "zero": _zero,
    "none": _own,
    "vjp": _own,
}
_PUSH: dict[str, _Application] = {
    "times": _push_times,
    "select": _select,
    "pair": _push_pair,
    "identity": lambda rule, t, arguments: t,
    "negative": lambda rule, t, arguments: -t,
    "zero": _zero,
    "none": _own,
    "jvp": _own,
}
