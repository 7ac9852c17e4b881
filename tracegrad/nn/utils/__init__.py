"""Tools for parameters: clipping of gradients, one vector of all, parametrizations."""

from tracegrad.nn.utils import parametrizations, parametrize, rnn
from tracegrad.nn.utils.clipping import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from tracegrad.nn.utils.convert import parameters_to_vector, vector_to_parameters
from tracegrad.nn.utils.norm_hooks import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from tracegrad.nn.utils.skipping import skip_init

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
