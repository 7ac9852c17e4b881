"""PyTorch's CPU random streams, with NumPy only: one engine and one routine per draw.

Eager mode, generated NumPy code and generated C code draw through these routines, so
that a seed gives the same values in each and in PyTorch. Every routine takes the engine
first, returns a fresh array in C order, and advances the engine exactly as PyTorch's
kernel does. A tensor that is not contiguous is filled in the order of its memory:
`memory_order` tells which.

Other devices draw by counting: `Philox` is their engine, `counted` has their routines.
"""

import sys
from types import ModuleType
from typing import Any

from tracegrad.random_streams import counted
from tracegrad.random_streams.bernoulli import bernoulli, bernoulli_each, dropout_mask
from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.integers import randint, random_integers, randperm
from tracegrad.random_streams.inversion import cauchy, choices, geometric, log_normal
from tracegrad.random_streams.normal import normal
from tracegrad.random_streams.philox import Philox
from tracegrad.random_streams.placement import memory_order
from tracegrad.random_streams.rejection import binomial, gamma, poisson
from tracegrad.random_streams.uniform import exponential, uniform

__all__ = [
    "MT19937",
    "Philox",
    "bernoulli",
    "bernoulli_each",
    "binomial",
    "cauchy",
    "choices",
    "draws_of",
    "dropout_mask",
    "exponential",
    "gamma",
    "geometric",
    "log_normal",
    "memory_order",
    "normal",
    "poisson",
    "randint",
    "random_integers",
    "randperm",
    "uniform",
]


def draws_of(engine: Any) -> ModuleType:
    """Return the module with the draw routines of an engine."""
    return counted if engine.__class__ is Philox else sys.modules[__name__]
