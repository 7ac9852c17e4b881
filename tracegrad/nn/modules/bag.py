"""EmbeddingBag: sums, means and maxima of rows of a table."""

from __future__ import annotations

from typing import Any

from tracegrad import no_grad
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import NotSupportedError
from tracegrad.nn import functional, init
from tracegrad.nn.modules.linear import empty_parameter
from tracegrad.nn.modules.module import Module
from tracegrad.nn.modules.sparse import _row


class EmbeddingBag(Module):
    """`functional.embedding_bag` as a layer.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
    max_norm, norm_type, scale_grad_by_freq, sparse
        Not available.
    mode : str
        ``"sum"``, ``"mean"`` or ``"max"``.
    include_last_offset : bool
    padding_idx : int, optional
        A row that counts as not there.
    device : Device or str, optional
    dtype : DType, optional

    Attributes
    ----------
    weight : Parameter, shape (num_embeddings, embedding_dim)
        Normal draws at first.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if max_norm is not None or scale_grad_by_freq or sparse:
            raise NotSupportedError(
                "EmbeddingBag: max_norm, scale_grad_by_freq, sparse are not available"
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.mode = mode
        self.include_last_offset = include_last_offset
        self.padding_idx = _row(padding_idx, num_embeddings)
        if _weight is None:
            shape = (num_embeddings, embedding_dim)
            self.weight = empty_parameter(shape, device, dtype)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                table: Any = self.weight
                table[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Return bags over a given table."""
        rows, columns = embeddings.shape
        bag = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        bag.weight.requires_grad_(not freeze)
        return bag

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Return one row for each bag, shape (bags, embedding_dim)."""
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Return the sizes and the mode."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return f"{text}, mode={self.mode!r}"
