"""Distances, randomized activations and the losses of several classes as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.nn import functional
from tracegrad.nn.modules.loss import _Loss
from tracegrad.nn.modules.module import Module


class CosineSimilarity(Module):
    """`functional.cosine_similarity` as a layer.

    Parameters
    ----------
    dim : int
    eps : float
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosines."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)  # type: ignore[no-any-return]


class PairwiseDistance(Module):
    """`functional.pairwise_distance` as a layer.

    Parameters
    ----------
    p, eps : float
    keepdim : bool
    """

    def __init__(
        self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
    ) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)  # type: ignore[no-any-return]


class RReLU(Module):
    """`functional.rrelu` as a layer.

    Parameters
    ----------
    lower, upper : float
    inplace : bool
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with drawn slopes below zero."""
        return functional.rrelu(
            input, self.lower, self.upper, self.training, self.inplace
        )

    def extra_repr(self) -> str:
        """Return the bounds."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"lower={self.lower}, upper={self.upper}{inplace}"


class FeatureAlphaDropout(Module):
    """`functional.feature_alpha_dropout` as a layer.

    Parameters
    ----------
    p : float
    inplace : bool
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with channels dropped."""
        return functional.feature_alpha_dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}, inplace={self.inplace}"


class MultiLabelMarginLoss(_Loss):
    """`functional.multilabel_margin_loss` as a layer.

    Parameters
    ----------
    reduction : str
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.multilabel_margin_loss(
            input, target, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_Loss):
    """`functional.multilabel_soft_margin_loss` as a layer.

    Parameters
    ----------
    weight : Tensor, shape (classes,), optional
    reduction : str
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.multilabel_soft_margin_loss(
            input, target, self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_Loss):
    """`functional.multi_margin_loss` as a layer.

    Parameters
    ----------
    p : int
    margin : float
    weight : Tensor, shape (classes,), optional
    reduction : str
    """

    weight: Tensor | None

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        self.p = p
        self.margin = margin
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.multi_margin_loss(
            input,
            target,
            self.p,
            self.margin,
            self.weight,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`functional.triplet_margin_with_distance_loss` as a layer.

    Parameters
    ----------
    distance_function : callable, optional
    margin : float
    swap : bool
    reduction : str
    """

    def __init__(
        self,
        *,
        distance_function: Callable[..., Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
