"""PyTorch-shaped eager tensors with autograd, and a compiler that a person can read."""

from tracegrad import autograd as autograd
from tracegrad import ops as _ops
from tracegrad.autograd import enable_grad as enable_grad
from tracegrad.autograd import inference_mode as inference_mode
from tracegrad.autograd import is_grad_enabled as is_grad_enabled
from tracegrad.autograd import is_inference_mode_enabled as is_inference_mode_enabled
from tracegrad.autograd import no_grad as no_grad
from tracegrad.autograd import set_grad_enabled as set_grad_enabled
from tracegrad.config import config as config
from tracegrad.device import Device as Device
from tracegrad.device import device as device
from tracegrad.dispatch.generator import Generator as Generator
from tracegrad.dispatch.generator import default_generator as default_generator
from tracegrad.dispatch.operator import FUNCTIONS as _FUNCTIONS
from tracegrad.dispatch.operator import OPERATORS as _OPERATORS
from tracegrad.dispatch.tensor import Parameter as Parameter
from tracegrad.dispatch.tensor import Tensor as Tensor
from tracegrad.dtypes import *  # noqa: F403
from tracegrad.sizes import Size as Size

__version__ = "0.1.0.dev0"

globals().update({op.name: op.call for op in _OPERATORS.values() if op.public})
globals().update({f.name: f.function for f in _FUNCTIONS.values()})
