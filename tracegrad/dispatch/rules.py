"""Derivative rules: what a definition states, and how tape and JVP read it.

A rule is a function whose parameter names say what it needs. The same function
serves the eager tape, double backward, graph derivation and forward mode, because
it is written with operators.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, final

from tracegrad.errors import GradientError


def rule_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameter names of a rule."""
    return tuple(inspect.signature(function).parameters)


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
        return _PULL[self.kind](self, ct, values)

    def push(self, t: Any, values: Mapping[str, Any]) -> Any:
        """Return the result's tangent for the operand's tangent `t`."""
        return _PUSH[self.kind](self, t, values)

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Call the function with what it names."""
        return self.function(*[values[name] for name in self.names])


def times(derivative: Callable[..., Any]) -> Rule:
    """State that the derivative is a factor: a function of operands and ``out``."""
    return Rule("times", derivative, rule_names(derivative))


def select(mask: Callable[..., Any]) -> Rule:
    """State that the derivative is 1 where a mask holds and 0 elsewhere.

    The cotangent is selected, not multiplied, so that 0 times inf makes no NaN.
    """
    return Rule("select", mask, rule_names(mask))


def pair(derivatives: Callable[..., Any]) -> Rule:
    """State the two Wirtinger derivatives ``(dz, dz_conj)`` of a complex operand.

    Source: Wirtinger calculus as in Kreutz-Delgado, "The Complex Gradient
    Operator and the CR-Calculus" (2009), equations 31 to 33.
    """
    return Rule("pair", derivatives, rule_names(derivatives))


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


def conjugate(factor: Any) -> Any:
    """Return the complex conjugate of a Tensor or a Python number."""
    if isinstance(factor, complex):
        return factor.conjugate()
    return factor.conj() if getattr(factor, "is_complex", bool)() else factor


def _pull_times(rule: Rule, ct: Any, values: Mapping[str, Any]) -> Any:
    return ct * conjugate(rule.evaluate(values))


def _push_times(rule: Rule, t: Any, values: Mapping[str, Any]) -> Any:
    return t * rule.evaluate(values)


def _select(rule: Rule, ct: Any, values: Mapping[str, Any]) -> Any:
    return ct.masked_select_or_zero(rule.evaluate(values))


def _pull_pair(rule: Rule, ct: Any, values: Mapping[str, Any]) -> Any:
    dz, dz_conj = rule.evaluate(values)
    return ct * conjugate(dz) + conjugate(ct) * dz_conj


def _push_pair(rule: Rule, t: Any, values: Mapping[str, Any]) -> Any:
    dz, dz_conj = rule.evaluate(values)
    return t * dz + conjugate(t) * dz_conj


def _zero(rule: Rule, ct: Any, values: Mapping[str, Any]) -> Any:
    return ct.zeros_like()


def _pull_own(rule: Rule, ct: Any, values: Mapping[str, Any]) -> Any:
    return rule.function(
        *[ct if name in ("ct", "cts") else values[name] for name in rule.names]
    )


def _push_own(rule: Rule, t: Any, values: Mapping[str, Any]) -> Any:
    return rule.function(*[t if name == "t" else values[name] for name in rule.names])


def _refuse(rule: Rule, ct: Any, values: Mapping[str, Any]) -> Any:
    return rule.function()


_Application = Callable[[Rule, Any, Mapping[str, Any]], Any]

_PULL: dict[str, _Application] = {
    "times": _pull_times,
    "select": _select,
    "pair": _pull_pair,
    "identity": lambda rule, ct, values: ct,
    "negative": lambda rule, ct, values: -ct,
    "zero": _zero,
    "none": _refuse,
    "vjp": _pull_own,
}
_PUSH: dict[str, _Application] = {
    "times": _push_times,
    "select": _select,
    "pair": _push_pair,
    "identity": lambda rule, t, values: t,
    "negative": lambda rule, t, values: -t,
    "zero": _zero,
    "none": _refuse,
    "jvp": _push_own,
}
