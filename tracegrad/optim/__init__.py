"""Optimizers and schedules of their step size: PyTorch's `optim`."""

from tracegrad.optim import lr_scheduler
from tracegrad.optim.adagrad import Adagrad
from tracegrad.optim.adam import Adam, AdamW
from tracegrad.optim.optimizer import Optimizer
from tracegrad.optim.rmsprop import RMSprop
from tracegrad.optim.sgd import SGD

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Optimizer",
    "RMSprop",
    "lr_scheduler",
]
