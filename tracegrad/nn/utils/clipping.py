"""Gradients made smaller, together or element by element."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tracegrad import no_grad
from tracegrad.dispatch.operator import publish_module as _publish_module
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import GradientError
from tracegrad.ops.creation import zeros
from tracegrad.ops.joining import stack

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _norm(x: Any, order: float) -> Any:
    if order == math.inf:
        return x.abs().amax()
    if order == -math.inf:
        return x.abs().amin()
    if order == 2.0:
        return (x * x.conj()).sum().sqrt() if x.is_complex() else (x * x).sum().sqrt()
    return (x.abs() ** order).sum() ** (1.0 / order)


def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of tensors seen as one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
    norm_type : float
        The order; ``inf`` for the largest magnitude.
    error_if_nonfinite : bool
        Whether to raise if the norm is infinite or NaN.
    foreach : bool, optional
        Accepted for PyTorch's sake; changes nothing.

    Returns
    -------
    Tensor, shape ()

    Raises
    ------
    GradientError
        If the norm is not finite and that is asked for.
    """
    listed = _listed(tensors)
    if not listed:
        return zeros()
    order = float(norm_type)
    with no_grad():
        total: Any = _norm(stack([_norm(x, order) for x in listed]), order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise GradientError(
            f"the total norm of order {order} of the gradients is not finite; "
            "error_if_nonfinite=False scales by it anyway"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensors,
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale gradients so that a given total norm becomes at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    max_norm : float
    total_norm : Tensor, shape ()
    foreach : bool, optional
        Accepted for PyTorch's sake; changes nothing.
    """
    with no_grad():
        ratio: Any = float(max_norm) / (total_norm + 1e-6)  # type: ignore[operator]
        # Multiplied in any case: a condition would read the norm's value.
        factor = ratio.clamp(max=1.0)
        for parameter in _listed(parameters):
            if parameter.grad is not None:
                parameter.grad.mul_(factor)  # type: ignore[attr-defined]


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients so that their norm is at most `max_norm`; return the norm.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    max_norm : float
    norm_type : float
        The order; ``inf`` for the largest magnitude.
    error_if_nonfinite : bool
        Whether to raise if the norm is infinite or NaN.
    foreach : bool, optional
        Accepted for PyTorch's sake; changes nothing.

    Returns
    -------
    Tensor, shape ()
        The norm before.

    Raises
    ------
    GradientError
        If the norm is not finite and that is asked for.

    Notes
    -----
    Source: Pascanu, Mikolov, Bengio, "On the Difficulty of Training Recurrent Neural
    Networks" (2013).
    """
    listed = _listed(parameters)
    grads = [p.grad for p in listed if p.grad is not None]
    total: Tensor = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


def clip_grad_value_(
    parameters: Tensors, clip_value: float, foreach: bool | None = None
) -> None:
    """Bring each element of the gradients into ``[-clip_value, clip_value]``.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
    clip_value : float
    foreach : bool, optional
        Accepted for PyTorch's sake; changes nothing.
    """
    bound = float(clip_value)
    with no_grad():
        for parameter in _listed(parameters):
            if parameter.grad is not None:
                parameter.grad.clamp_(min=-bound, max=bound)  # type: ignore[attr-defined]


_publish_module(globals())
