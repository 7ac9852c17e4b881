"""Functional transforms: from functions of tensors to their derivatives and batches."""

from tracegrad.func.forward import jvp
from tracegrad.func.reverse import grad, grad_and_value, vjp

__all__ = ["grad", "grad_and_value", "jvp", "vjp"]
