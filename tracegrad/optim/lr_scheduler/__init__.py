"""Schedules of an optimizer's step size."""

from tracegrad.optim.lr_scheduler.base import LRScheduler
from tracegrad.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from tracegrad.optim.lr_scheduler.cyclic import CosineAnnealingWarmRestarts, CyclicLR
from tracegrad.optim.lr_scheduler.one_cycle import OneCycleLR
from tracegrad.optim.lr_scheduler.plateau import ReduceLROnPlateau
from tracegrad.optim.lr_scheduler.smooth import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LinearLR,
    PolynomialLR,
)
from tracegrad.optim.lr_scheduler.stepwise import (
    LambdaLR,
    MultiplicativeLR,
    MultiStepLR,
    StepLR,
)

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
