"""Dropout layers: active in training, the identity in evaluation."""

from __future__ import annotations

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError
from tracegrad.nn import functional
from tracegrad.nn.modules.module import Module


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ArgumentError(
                f"dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Return the probability and whether it works in place."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Sets elements to zero at random in training; see `functional.dropout`.

    Parameters
    ----------
    p : float
        The probability that an element is set to zero.
    inplace : bool
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, with elements dropped in training."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Sets channels of shape (length,) to zero at random in training.

    Parameters
    ----------
    p : float
    inplace : bool
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, with channels dropped in training."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Sets channels of shape (height, width) to zero at random in training.

    Parameters
    ----------
    p : float
    inplace : bool
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, with channels dropped in training."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Sets channels of three dimensions to zero at random in training.

    Parameters
    ----------
    p : float
    inplace : bool
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, with channels dropped in training."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Sets elements to SELU's limit at random in training.

    Parameters
    ----------
    p : float
    inplace : bool
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, with elements dropped in training."""
        return functional.alpha_dropout(input, self.p, self.training, self.inplace)
