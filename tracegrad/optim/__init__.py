"""Optimizers and schedules of their step size: PyTorch's `optim`."""

from tracegrad.optim import lr_scheduler, swa_utils
from tracegrad.optim.adadelta import Adadelta
from tracegrad.optim.adafactor import Adafactor
from tracegrad.optim.adagrad import Adagrad
from tracegrad.optim.adam import Adam, AdamW
from tracegrad.optim.adamax import Adamax
from tracegrad.optim.asgd import ASGD
from tracegrad.optim.lbfgs import LBFGS
from tracegrad.optim.muon import Muon
from tracegrad.optim.nadam import NAdam
from tracegrad.optim.optimizer import Optimizer
from tracegrad.optim.radam import RAdam
from tracegrad.optim.rmsprop import RMSprop
from tracegrad.optim.rprop import Rprop
from tracegrad.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
