"""Floor 3: the tape's engine, grad modes, and the methods of Tensor that need them."""

from tracegrad.autograd.anomaly import detect_anomaly
from tracegrad.autograd.gradients import backward, grad
from tracegrad.autograd.modes import enable_grad, is_grad_enabled, no_grad

__all__ = [
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "no_grad",
]
