"""Embedding: a table of vectors, looked up by number."""

from __future__ import annotations

from typing import Any

from tracegrad import no_grad
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError, NotSupportedError
from tracegrad.nn import functional, init
from tracegrad.nn.modules.linear import empty_parameter
from tracegrad.nn.modules.module import Module


class Embedding(Module):
    """A table of vectors, looked up by number.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        How many vectors there are, and how long they are.
    padding_idx : int, optional
        A row that starts as zeros and gets no gradient.
    max_norm, norm_type, scale_grad_by_freq, sparse
        Not available.
    device : Device or str, optional
    dtype : DType, optional

    Attributes
    ----------
    weight : Parameter, shape (num_embeddings, embedding_dim)
        Normal draws at first.

    Raises
    ------
    ArgumentError
        If `padding_idx` is out of range.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if max_norm is not None or scale_grad_by_freq or sparse:
            raise NotSupportedError(
                "Embedding: max_norm, scale_grad_by_freq and sparse are not available"
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        if _weight is None:
            shape = (num_embeddings, embedding_dim)
            self.weight = empty_parameter(shape, device, dtype)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)
        self.weight.requires_grad_(not _freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                row: Any = self.weight
                row[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Return an embedding that looks up in a given table."""
        rows, columns = embeddings.shape
        absent = (max_norm, norm_type, scale_grad_by_freq, sparse)
        return cls(rows, columns, padding_idx, *absent, embeddings, freeze)

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows of `input`'s numbers, shape (..., embedding_dim)."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the sizes, and the padding row if there is one."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text


def _row(padding_idx: int | None, count: int) -> int | None:
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise ArgumentError(
            f"Embedding: padding_idx {padding_idx} is out of range for {count} rows"
        )
    return padding_idx % count
