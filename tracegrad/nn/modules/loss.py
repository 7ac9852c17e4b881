"""Losses: thin modules over `functional`."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.nn import functional
from tracegrad.nn.modules.module import Module
from tracegrad.nn.old_reductions import reduction_of


class _Loss(Module):
    """What losses share.

    Parameters
    ----------
    size_average, reduce
        Old names of `reduction`.
    reduction : str
        ``"none"``, ``"mean"`` or ``"sum"``.
    """

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class L1Loss(_Loss):
    """Mean absolute difference.

    Parameters
    ----------
    reduction : str
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.l1_loss(
            input,
            target,
            reduction=self.reduction,
        )


class MSELoss(_Loss):
    """Mean squared difference.

    Parameters
    ----------
    reduction : str
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.mse_loss(
            input,
            target,
            reduction=self.reduction,
        )


class SmoothL1Loss(_Loss):
    """Squared difference where it is below `beta`, absolute beyond.

    Parameters
    ----------
    reduction : str
    beta : float
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.smooth_l1_loss(
            input,
            target,
            reduction=self.reduction,
            beta=self.beta,
        )


class HuberLoss(_Loss):
    """Squared difference where it is below `delta`, linear beyond.

    Parameters
    ----------
    reduction : str
    delta : float
    """

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
    ) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.huber_loss(
            input,
            target,
            reduction=self.reduction,
            delta=self.delta,
        )


class CrossEntropyLoss(_Loss):
    """Negative log likelihood of classes, from logits.

    Parameters
    ----------
    weight : Tensor, optional
    ignore_index : int
    reduction : str
    label_smoothing : float
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_Loss):
    """Negative log likelihood of classes, from log probabilities.

    Parameters
    ----------
    weight : Tensor, optional
    ignore_index : int
    reduction : str
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class BCELoss(_Loss):
    """Cross entropy of yes and no, from probabilities.

    Parameters
    ----------
    weight : Tensor, optional
    reduction : str
    """

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
        return functional.binary_cross_entropy(
            input,
            target,
            weight=self.weight,
            reduction=self.reduction,
        )


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of yes and no, from logits.

    Parameters
    ----------
    weight : Tensor, optional
    reduction : str
    pos_weight : Tensor, optional
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.binary_cross_entropy_with_logits(
            input,
            target,
            weight=self.weight,
            reduction=self.reduction,
            pos_weight=self.pos_weight,
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence, from log probabilities.

    Parameters
    ----------
    reduction : str
    log_target : bool
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.kl_div(
            input,
            target,
            reduction=self.reduction,
            log_target=self.log_target,
        )


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of a Poisson distribution.

    Parameters
    ----------
    log_input : bool
    full : bool
    eps : float
    reduction : str
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: float = 1e-08,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.poisson_nll_loss(
            input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of a normal distribution.

    Parameters
    ----------
    full : bool
    eps : float
    reduction : str
    """

    def __init__(
        self,
        *,
        full: bool = False,
        eps: float = 1e-06,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        """Return the loss."""
        return functional.gaussian_nll_loss(
            input,
            target,
            var,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class HingeEmbeddingLoss(_Loss):
    """Loss of distances with labels 1 and -1.

    Parameters
    ----------
    margin : float
    reduction : str
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.hinge_embedding_loss(
            input,
            target,
            margin=self.margin,
            reduction=self.reduction,
        )


class SoftMarginLoss(_Loss):
    """Logistic loss of labels 1 and -1.

    Parameters
    ----------
    reduction : str
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.soft_margin_loss(
            input,
            target,
            reduction=self.reduction,
        )


class MarginRankingLoss(_Loss):
    """Loss of two scores and which should be larger.

    Parameters
    ----------
    margin : float
    reduction : str
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.margin_ranking_loss(
            input1,
            input2,
            target,
            margin=self.margin,
            reduction=self.reduction,
        )


class CosineEmbeddingLoss(_Loss):
    """Loss of the angle of two vectors, with labels 1 and -1.

    Parameters
    ----------
    margin : float
    reduction : str
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.cosine_embedding_loss(
            input1,
            input2,
            target,
            margin=self.margin,
            reduction=self.reduction,
        )


class TripletMarginLoss(_Loss):
    """Loss of distances to a like and an unlike example.

    Parameters
    ----------
    margin : float
    p : float
    eps : float
    swap : bool
    reduction : str
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-06,
        swap: bool = False,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss."""
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )
