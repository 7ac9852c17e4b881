"""PyTorch-shaped eager tensors with autograd, and a compiler that a person can read.

Importing the package loads eager mode. The compiler's floors, `nn` and `optim` load
when they are first asked for.
"""

import math as _math
from importlib import import_module as _import_module
from typing import Any as _Any

from tracegrad import autograd as autograd
from tracegrad import errors as errors
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
from tracegrad.dispatch import copying as _copying
from tracegrad.dispatch.generator import Generator as Generator
from tracegrad.dispatch.generator import default_generator as default_generator
from tracegrad.dispatch.memory_format import channels_last as channels_last
from tracegrad.dispatch.memory_format import channels_last_3d as channels_last_3d
from tracegrad.dispatch.memory_format import contiguous_format as contiguous_format
from tracegrad.dispatch.memory_format import preserve_format as preserve_format
from tracegrad.dispatch.operator import FUNCTIONS as _FUNCTIONS
from tracegrad.dispatch.operator import OPERATORS as _OPERATORS
from tracegrad.dispatch.printing import set_printoptions as set_printoptions
from tracegrad.dispatch.tensor import Parameter as Parameter
from tracegrad.dispatch.tensor import Tensor as Tensor
from tracegrad.dtypes import ALIASES as _ALIASES
from tracegrad.dtypes import ALL as _ALL_DTYPES
from tracegrad.dtypes import DType as _DType
from tracegrad.dtypes import get_default_dtype as get_default_dtype
from tracegrad.dtypes import promote_types as promote_types
from tracegrad.dtypes import set_default_dtype as set_default_dtype
from tracegrad.interop import watch as _watch
from tracegrad.numeric_limits import finfo as finfo
from tracegrad.numeric_limits import iinfo as iinfo
from tracegrad.ops.old_spellings import strided as strided
from tracegrad.sizes import Size as Size

__version__ = "0.1.0.dev0"

e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi

globals().update({op.name: op.call for op in _OPERATORS.values() if op.public})
globals().update({f.name: f.function for f in _FUNCTIONS.values()})
globals().update({d.name: d for d in _ALL_DTYPES} | _ALIASES)
dtype = _DType

# Name: the module that holds it, and its name there ("" for the module itself).
_LAZY = {
    "amp": ("tracegrad.amp", ""),
    "autocast": ("tracegrad.amp", "autocast"),
    "clear_autocast_cache": (
        "tracegrad.amp.autocast_mode",
        "clear_autocast_cache",
    ),
    "cuda": ("tracegrad.cuda", ""),
    "codegen": ("tracegrad.codegen", ""),
    "data": ("tracegrad.data", ""),
    "distributions": ("tracegrad.distributions", ""),
    "fft": ("tracegrad.fft", ""),
    "func": ("tracegrad.func", ""),
    "accelerator": ("tracegrad.accelerator", ""),
    "ir": ("tracegrad.ir", ""),
    "load": ("tracegrad.serialization", "load"),
    "array_api": ("tracegrad.array_api", ""),
    "backends": ("tracegrad.backends", ""),
    "grad": ("tracegrad.func", "grad"),
    "value_and_grad": ("tracegrad.func", "value_and_grad"),
    "library": ("tracegrad.library", ""),
    "linalg": ("tracegrad.linalg", ""),
    "nn": ("tracegrad.nn", ""),
    "optim": ("tracegrad.optim", ""),
    "passes": ("tracegrad.passes", ""),
    "return_types": ("tracegrad.return_types", ""),
    "multiprocessing": ("tracegrad.multiprocessing", ""),
    "profiler": ("tracegrad.profiler", ""),
    "save": ("tracegrad.serialization", "save"),
    "serialization": ("tracegrad.serialization", ""),
    "special": ("tracegrad.special", ""),
    "testing": ("tracegrad.testing", ""),
    "get_autocast_dtype": ("tracegrad.amp", "get_autocast_dtype"),
    "is_autocast_cache_enabled": ("tracegrad.amp", "is_autocast_cache_enabled"),
    "is_autocast_enabled": ("tracegrad.amp", "is_autocast_enabled"),
    "set_autocast_cache_enabled": ("tracegrad.amp", "set_autocast_cache_enabled"),
    "set_autocast_dtype": ("tracegrad.amp", "set_autocast_dtype"),
    "set_autocast_enabled": ("tracegrad.amp", "set_autocast_enabled"),
    "trace": ("tracegrad.api", "trace"),
    "utils": ("tracegrad.utils", ""),
}


def _array_namespace(self: Tensor, *, api_version: str | None = None) -> object:
    """Return the namespace of the Python array API standard for this tensor."""
    namespace: object = _import_module("tracegrad.array_api").namespace_for(api_version)
    return namespace


# Attached here: the namespace stands above the Tensor, and loads when asked for.
Tensor.__array_namespace__ = _array_namespace  # type: ignore[attr-defined]


def __getattr__(name: str) -> _Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'tracegrad' has no attribute {name!r}")
    module_name, attribute = _LAZY[name]
    module = _import_module(module_name)
    found = getattr(module, attribute) if attribute else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


_watch()
