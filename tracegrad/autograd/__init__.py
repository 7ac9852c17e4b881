"""Floor 3: the tape's engine, grad modes, and the methods of Tensor that need them."""

from tracegrad.autograd import function as function
from tracegrad.autograd import functional as functional
from tracegrad.autograd import pairs as pairs
from tracegrad.autograd import recompute as recompute
from tracegrad.autograd import tensor_methods as tensor_methods
from tracegrad.autograd.anomaly import detect_anomaly
from tracegrad.autograd.function import Function
from tracegrad.autograd.gradcheck import gradcheck, gradgradcheck
from tracegrad.autograd.gradients import backward, grad
from tracegrad.autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "Function",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]
