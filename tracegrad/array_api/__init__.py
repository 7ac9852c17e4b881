"""The Python array API standard, version 2024.12, on tracegrad tensors.

https://data-apis.org/array-api/2024.12/. Its arrays are Tensors, so that gradients
flow; type promotion, keyword names and special cases are the standard's. The dtypes
uint16, uint32 and uint64 are not there.

Examples
--------
>>> import tracegrad as tg
>>> import tracegrad.array_api as xp
>>> x = xp.asarray([3.0, 4.0])
>>> xp.sqrt(xp.sum(x * x))
tensor(5.)
>>> tg.grad(lambda x: xp.sqrt(xp.sum(x * x)))(x)
tensor([0.6000, 0.8000])
"""

import math as _math
from importlib import import_module as _import_module
from typing import Any as _Any

import tracegrad as _tg
from tracegrad.array_api import arrays as _arrays
from tracegrad.array_api import elementwise as _elementwise
from tracegrad.array_api.creation import *  # noqa: F403 - the standard's names
from tracegrad.array_api.data_types import astype as astype
from tracegrad.array_api.data_types import bool as bool
from tracegrad.array_api.data_types import can_cast as can_cast
from tracegrad.array_api.data_types import complex64 as complex64
from tracegrad.array_api.data_types import complex128 as complex128
from tracegrad.array_api.data_types import finfo as finfo
from tracegrad.array_api.data_types import float32 as float32
from tracegrad.array_api.data_types import float64 as float64
from tracegrad.array_api.data_types import iinfo as iinfo
from tracegrad.array_api.data_types import int8 as int8
from tracegrad.array_api.data_types import int16 as int16
from tracegrad.array_api.data_types import int32 as int32
from tracegrad.array_api.data_types import int64 as int64
from tracegrad.array_api.data_types import isdtype as isdtype
from tracegrad.array_api.data_types import result_type as result_type
from tracegrad.array_api.data_types import uint8 as uint8
from tracegrad.array_api.info import (
    __array_namespace_info__ as __array_namespace_info__,
)
from tracegrad.array_api.linear_algebra import *  # noqa: F403
from tracegrad.array_api.linear_algebra import matmul as _matmul
from tracegrad.array_api.manipulation import *  # noqa: F403
from tracegrad.array_api.reductions import *  # noqa: F403
from tracegrad.array_api.sorting import *  # noqa: F403

__array_api_version__ = "2024.12"
Array, namespace_for = _arrays.Array, _arrays.namespace_for
e, inf, nan, pi = _math.e, _math.inf, _math.nan, _math.pi
newaxis = None

globals().update(_elementwise.FUNCTIONS)
_arrays.install(_elementwise.FUNCTIONS | {"matmul": _matmul})


# The extensions are there when tracegrad has what they stand on.
_EXTENSIONS = {"linalg": ("linalg", "svd"), "fft": ("fft", "irfftn")}


def _has_extension(name: str) -> _Any:
    module, needed = _EXTENSIONS[name]
    return hasattr(getattr(_tg, module, None), needed)


def __getattr__(name: str) -> _Any:
    if name in _EXTENSIONS and _has_extension(name):
        return _import_module(f"tracegrad.array_api.{name}")
    raise AttributeError(
        f"the array API namespace has no {name!r}; tracegrad itself has more"
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *filter(_has_extension, _EXTENSIONS)})
