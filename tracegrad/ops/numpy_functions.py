"""NumPy's functions on tensors: plain NumPy code runs, and differentiates, on them.

NumPy asks its arguments what a function means for them (NEP 13 for ufuncs, NEP 18 for
the others). For those that have operators here the answer is a Tensor, with NumPy's
arguments and defaults: ``axis``, ``keepdims``, ``ddof=0``. For the others it is
NumPy's own, on the values, and an error where a gradient would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, from_numpy_dtype
from tracegrad.errors import ArgumentTypeError, GradientError

# NumPy's ufuncs of another name here.
_RENAMED = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh",
    "conjugate": "conj", "divide": "div", "equal": "eq", "fabs": "abs",
    "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg",
    "not_equal": "ne", "power": "pow", "rint": "round",
    "subtract": "sub",
}  # fmt: skip
_REDUCED = {
    "add": np.sum, "multiply": np.prod, "maximum": np.max, "minimum": np.min,
    "logical_and": np.all, "logical_or": np.any,
}  # fmt: skip
_ACCUMULATED = {"add": np.cumsum, "multiply": np.cumprod}

Implementation = Callable[..., Any]
IMPLEMENTATIONS: dict[Any, Implementation] = {}
"""NumPy's functions, and what they do with tensors."""


def _operator(name: str) -> Callable[..., Any] | None:
    """Return the public function of a name, if there is one."""
    if name in FUNCTIONS:
        return FUNCTIONS[name].function
    found = OPERATORS.get(name)
    return found.call if found is not None and found.public else None


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call the public function of a name."""
    function = _operator(name)
    assert function is not None, name
    return function(*args, **kwargs)


def as_tensor(value: Any) -> Any:
    """Return an array, or a nesting with tensors in it, as a Tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
        return call("stack", [as_tensor(v) for v in value])
    return Tensor.from_numpy(np.asarray(value))  # type: ignore[attr-defined]


def numpy_dtype(dtype: Any) -> DType:
    """Return the dtype that NumPy's, or what stands for one, means."""
    return dtype if isinstance(dtype, DType) else from_numpy_dtype(np.dtype(dtype))


def in_dtype(x: Tensor, dtype: Any) -> Tensor:
    """Return a tensor in a dtype, if there is one given."""
    return x if dtype is None else x.to(numpy_dtype(dtype))  # type: ignore[attr-defined, no-any-return]


def put(out: Any, value: Tensor) -> Any:
    """Return a result, or `out` with the result written into it."""
    if isinstance(out, tuple):
        (out,) = out
    if out is None:
        return value
    if isinstance(out, Tensor):
        return out.copy_(value)  # type: ignore[attr-defined]
    if value.requires_grad:
        raise GradientError(
            "out= is a NumPy array, and the result requires grad, which it would lose"
        )
    np.copyto(out, value.numpy(), casting="same_kind")
    return out


# -- ufuncs --------------------


def array_ufunc(
    self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
) -> Any:
    """Apply a NumPy ufunc to tensors (NEP 13)."""
    out = kwargs.pop("out", None)
    if method == "__call__":
        return put(out, _ufunc_result(ufunc, inputs, kwargs))
    table = {"reduce": _REDUCED, "accumulate": _ACCUMULATED}.get(method, {})
    if ufunc.__name__ not in table:
        raise missing(f"{ufunc.__name__}.{method}")
    kwargs.setdefault("axis", 0)
    return put(out, IMPLEMENTATIONS[table[ufunc.__name__]](*inputs, **kwargs))


def _ufunc_result(
    ufunc: np.ufunc, inputs: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    dtype, where = kwargs.pop("dtype", None), kwargs.pop("where", True)
    for accepted in ("casting", "order", "subok", "signature"):
        kwargs.pop(accepted, None)
    function = _operator(_RENAMED.get(ufunc.__name__, ufunc.__name__))
    if function is None or kwargs or where is not True:
        return _by_numpy(ufunc.__name__, ufunc, tuple(inputs), kwargs)
    return in_dtype(function(*map(_ufunc_operand, inputs)), dtype)


def _ufunc_operand(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return as_tensor(value) if isinstance(value, np.ndarray | list | tuple) else value


# -- functions that are not in the table --------------------


def array_function(
    self: Tensor, function: Any, types: Any, args: Any, kwargs: Any
) -> Any:
    """Apply another NumPy function to tensors (NEP 18)."""
    if not all(issubclass(t, Tensor | np.ndarray) for t in types):
        return NotImplemented
    found = IMPLEMENTATIONS.get(function)
    if found is not None:
        return found(*args, **kwargs)
    module = getattr(function, "__module__", "numpy").removeprefix("numpy").lstrip(".")
    name = f"{module}.{function.__name__}" if module else function.__name__
    return _by_numpy(name, function, args, kwargs)


def _by_numpy(name: str, function: Any, args: Any, kwargs: Any) -> Any:
    """Apply NumPy's own function to the values, where no gradient is lost."""
    tensors: list[Tensor] = []
    args, kwargs = _arrays(args, tensors), _arrays(kwargs, tensors)
    tracked = any(t.requires_grad for t in tensors)
    if tracked or thread.transforms:
        raise missing(name)
    return function(*args, **kwargs)


def missing(name: str) -> ArgumentTypeError:
    """Return the error for a function that has no operator here."""
    return ArgumentTypeError(
        f"np.{name} has no operator here, so that its gradient is not known; write it "
        "with functions that have one, or use tensor.detach().numpy() if no gradient "
        "is wanted"
    )


def _arrays(value: Any, tensors: list[Tensor]) -> Any:
    if isinstance(value, Tensor):
        tensors.append(value)
        return value.numpy(force=True)
    if isinstance(value, list | tuple):
        return type(value)(_arrays(v, tensors) for v in value)
    if isinstance(value, dict):
        return {key: _arrays(v, tensors) for key, v in value.items()}
    return value


Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
