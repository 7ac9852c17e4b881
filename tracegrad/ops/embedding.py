"""Rows of a table, and rows with a single 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentValueError, DTypeError, ShapeError
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._indices import check_indices, check_integers
from tracegrad.ops.comparison import ne
from tracegrad.ops.creation import filled
from tracegrad.ops.gathering import scatter
from tracegrad.ops.picking import added_at
from tracegrad.ops.shaping import zeros_of
from tracegrad.ops.views import reshape
from tracegrad.spec import TensorSpec


def _embedding_abstract(
    weight: TensorSpec, indices: TensorSpec, padding_idx: int | None
) -> TensorSpec:
    check_integers("embedding", indices)
    if weight.ndim != 2:
        raise ShapeError(f"embedding: the weight must be a matrix, not {weight.ndim}-d")
    shape = (*indices.shape, weight.shape[1])
    return TensorSpec(weight.dtype, shape, (), weight.device)


def _embedding_kernel(
    xp: Any, weight: Any, indices: Any, padding_idx: int | None
) -> Any:
    check_indices("embedding", indices, weight.shape[0], 0, 0)
    return xp.take(weight, indices, axis=0)


@primitive(
    "gather",
    abstract=_embedding_abstract,
    kernel=_embedding_kernel,
    linear_in=("weight",),
    may_raise=True,
    method=False,
    examples=lambda rng: [
        ((rng.standard_normal((3, 2)), np.array([[0, 2], [2, 2]])), {}),
        ((rng.standard_normal((3, 2)), np.array([0, 1, 1]), 2), {}),
    ],
)
def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int | None = None
) -> Tensor:
    """Rows of a matrix; the row `padding_idx` gets no gradient."""


def _embedding_vjp(
    ct: Tensor, indices: Tensor, weight_spec: Any, padding_idx: int | None
) -> Tensor:
    if padding_idx is not None:
        chosen = ne(indices, padding_idx)
        ct = ct.masked_select_or_zero(chosen.unsqueeze(-1))  # type: ignore[attr-defined]
    rows = reshape(ct, indices.numel(), weight_spec[0][1])
    return added_at(zeros_of(weight_spec, ct), reshape(indices, -1), rows, 0)  # type: ignore[no-any-return]


embedding.vjp(weight=_embedding_vjp)


@composite(
    public=False,
    method=False,
    examples=lambda rng: [((np.array([[0, 2], [1, 1]]), 3), {})],
)
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Rows of zeros with a 1 at the index that the input names, int64."""
    if input.dtype.name != "int64":
        raise DTypeError(f"one_hot takes int64, not {input.dtype.name}")
    count = num_classes
    if count == -1:
        count = int(input.max().item()) + 1 if input.numel() else 0  # type: ignore[attr-defined]
    if count <= 0 and input.numel() == 0:
        raise ArgumentValueError("one_hot: an empty tensor has no number of classes")
    zeros = filled((*input._array.shape, count), 0, input.dtype, input.device)
    return scatter(zeros, -1, input.unsqueeze(-1), 1)  # type: ignore[attr-defined, no-any-return]
