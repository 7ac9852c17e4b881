"""Functional transforms: from functions of tensors to their derivatives and batches."""

from tracegrad.func.forward import jvp
from tracegrad.func.jacobians import hessian, jacfwd, jacrev
from tracegrad.func.reverse import grad, grad_and_value, value_and_grad, vjp
from tracegrad.func.stateless import functional_call
from tracegrad.func.vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "value_and_grad",
    "vjp",
    "vmap",
]
