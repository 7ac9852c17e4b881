"""`jvp`: forward mode for users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.autograd.forward import push_forward
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError, GradientError
from tracegrad.func.trees import flatten
from tracegrad.ops.shaping import zeros_of


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return the result of `func` and its change along `tangents`.

    Parameters
    ----------
    func : callable
        From tensors, or nestings of them, to the same.
    primals, tangents : tuple
        The point and the direction: one entry for each argument, of one form.
    strict : bool
        Raise where a result does not depend on the primals.
    has_aux : bool
        Whether `func` returns ``(result, aux)``; then `aux` comes third.

    Raises
    ------
    GradientError
        If a tangent does not fit its primal, or `strict` and a result is constant.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import jvp
    >>> jvp(lambda x: x * x, (tg.tensor([1.0, 2.0]),), (tg.tensor([1.0, 0.0]),))
    (tensor([1., 4.]), tensor([2., 0.]))
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise ArgumentTypeError("jvp: primals and tangents must be tuples")
    leaves, build = flatten(primals)
    directions, _ = flatten(tangents)
    if len(leaves) != len(directions):
        raise GradientError(
            f"jvp: there are {len(leaves)} primals and {len(directions)} tangents"
        )
    for leaf in (*leaves, *directions):
        if not isinstance(leaf, Tensor):
            raise ArgumentTypeError(f"jvp takes tensors, not {type(leaf).__name__}")

    def flat(*args: Any) -> Any:
        return func(*build(args))

    result, level = push_forward(flat, leaves, dict(enumerate(directions)))
    aux = None
    if has_aux:
        result, aux = result
    outputs, build_result = flatten(result)
    pushed = []
    for out in outputs:
        tangent = level.value_of(out)
        if tangent is None and strict:
            raise GradientError("jvp: a result does not depend on the primals")
        spec = (out._array.shape, out._array.dtype)
        pushed.append(zeros_of(spec, out) if tangent is None else tangent)
    found = (result, build_result(pushed))
    return (*found, aux) if has_aux else found
