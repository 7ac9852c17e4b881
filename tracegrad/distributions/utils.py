"""Helpers of distributions, with PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import tracegrad as tg
from tracegrad.errors import ArgumentError

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Return tensors and numbers as tensors of one shape.

    Raises
    ------
    ArgumentError
        If one is neither.
    """
    if not all(isinstance(v, tg.Tensor | Number) for v in values):
        raise ArgumentError(
            "Input arguments must all be instances of Number, "
            "torch.Tensor or objects implementing __torch_function__."
        )
    tensors = [v for v in values if isinstance(v, tg.Tensor)]
    kinds: dict[str, Any] = {"dtype": tg.get_default_dtype()}
    if tensors:
        kinds = {"dtype": tensors[0].dtype, "device": tensors[0].device}
    made = [v if isinstance(v, tg.Tensor) else tg.tensor(v, **kinds) for v in values]
    return tuple(tg.broadcast_tensors(*made))


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Return the probabilities that log odds, or log probabilities, stand for."""
    return tg.sigmoid(logits) if is_binary else tg.softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Return probabilities kept off 0 and 1 by the dtype's precision."""
    eps = tg.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Return the log odds of probabilities, or their logarithms."""
    clamped = clamp_probs(probs)
    if is_binary:
        return tg.log(clamped) - tg.log1p(-clamped)
    return tg.log(clamped)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return the elements of the lower triangle, row by row."""
    n = mat.shape[-1]
    rows, columns = tg.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Return the lower triangular matrix of the elements, row by row."""
    size = 1
    while tg.tril_indices(size, size, diag).shape[1] < vec.shape[-1]:
        size += 1
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    rows, columns = tg.tril_indices(size, size, diag)
    matrix[..., rows, columns] = vec
    return matrix


def sum_rightmost(value: Any, dim: int) -> Any:
    """Return the sum over the last `dim` dimensions."""
    if dim == 0:
        return value
    return value.reshape((*value.shape[: value.dim() - dim], -1)).sum(-1)


class lazy_property:  # noqa: N801 - PyTorch's name
    """An attribute that is computed when first asked for (decorator)."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Compute the value, and keep it in the instance."""
        if instance is None:
            return self
        with tg.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
