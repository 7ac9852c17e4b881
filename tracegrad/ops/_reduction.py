"""The reduction family: dimensions are folded away by an associative operation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.surface import define
from tracegrad.dtypes import (
    DType,
    bfloat16,
    float16,
    float32,
    float64,
    from_numpy_dtype,
)
from tracegrad.errors import ArgumentTypeError, IndexRangeError, ShapeError
from tracegrad.ops._pointwise import convert
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class Reduction:
    """What the family knows of one operator.

    Attributes
    ----------
    numpy : str
        An expression of ``{x}``, ``{axis}`` and ``{keepdims}``.
    combine : str
        The C expression that joins the accumulator ``{a}`` and an element ``{b}``.
    start : callable
        ``start(dtype)`` gives the neutral element as a Python number.
    result_dtype : callable
        ``result_dtype(dtype)``.
    columns : str or None
        A faster expression of ``{ones}`` (a vector) and ``{x}``, for the columns of
        a small matrix of floats.
    """

    numpy: str
    combine: str
    start: Callable[[DType], Any]
    result_dtype: Callable[[DType], DType]
    columns: str | None = None

    def dtype(self, operand: DType, wanted: DType | None) -> DType:
        """Return the result's dtype: the attribute of that name, or what follows."""
        return wanted or self.result_dtype(operand)

    def takes_columns(
        self, shape: Shape, dims: tuple[int, ...], keepdim: bool, dtype: DType
    ) -> bool:
        """Return whether `columns` is the way to reduce a matrix of this shape.

        BLAS computes a larger one with several threads, and the result would depend
        on how many. Source: OpenBLAS, ``interface/gemv.c``.
        """
        if self.columns is None or len(shape) != 2 or dims != (0,) or keepdim:
            return False
        if dtype is not float32 and dtype is not float64:
            return False
        size = shape[0] * shape[1]
        return 0 < size <= _ONE_THREAD  # type: ignore[operator, no-any-return]


_ONE_THREAD = 9215


def canonical_dims(name: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions to reduce, sorted and counted from the front.

    None and an empty list mean all of them.

    Raises
    ------
    IndexRangeError
        If a dimension is out of range.
    ShapeError
        If one is named twice.
    """
    if dim is None or dim == ():
        return tuple(range(ndim))
    dims = dim if isinstance(dim, tuple) else (dim,)
    found = [canonical_dim(name, d, ndim) for d in dims]
    if len(set(found)) != len(found):
        raise ShapeError(f"{name}: dimension named twice in {list(dims)}")
    return tuple(sorted(found))


def canonical_dim(name: str, dim: Any, ndim: int) -> int:
    """Return `dim` counted from the front.

    Raises
    ------
    IndexRangeError
        If it is out of range; a 0-dim tensor accepts 0 and -1.
    ArgumentTypeError
        If it is no integer.
    """
    index: int = dim if isinstance(dim, int) else _as_integer(name, dim)
    limit = max(ndim, 1)
    if not -limit <= index < limit:
        raise IndexRangeError(
            f"{name}: dimension {index} is out of range for {ndim} dimensions "
            f"(from {-limit} to {limit - 1})"
        )
    return index % limit


def _as_integer(name: str, dim: Any) -> int:
    try:
        return operator.index(dim)
    except TypeError:
        raise ArgumentTypeError(
            f"{name}: a dimension must be an integer, not {dim!r}"
        ) from None


def reduced_shape(shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Shape:
    """Return the shape after reducing `dims`."""
    if keepdim:
        return tuple(1 if i in dims else s for i, s in enumerate(shape))
    return tuple(s for i, s in enumerate(shape) if i not in dims)


def _canonical(operator_name: str) -> Callable[..., dict[str, Any]]:
    def canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
        dims = canonical_dims(operator_name, attributes["dim"], operands[0].ndim)
        if operands[0].ndim == 0:
            dims = ()
        return attributes | {"dim": dims}

    return canonical


def accumulate_dtype(dtype: DType) -> DType:
    """Return the dtype sums are carried in: float32 for the half types."""
    return float32 if dtype is float16 or dtype is bfloat16 else dtype


def _make_kernel(name: str, facts: Reduction) -> Callable[..., Any]:
    plain = facts.numpy.replace("{x}", "x").replace("{axis}", "axis")
    plain = plain.replace("{keepdims}", "keepdims")
    code = compile(
        f"lambda np, x, axis, keepdims: {plain}", f"<tracegrad operator {name}>", "eval"
    )
    function = eval(code, {"__builtins__": {}})
    columns = _columns_of(name, facts)

    def kernel(
        xp: Any, input: Any, dim: tuple[int, ...], keepdim: bool, **attributes: Any
    ) -> Any:
        result = facts.dtype(from_numpy_dtype(input.dtype), attributes.get("dtype"))
        carried = accumulate_dtype(result)
        if facts.takes_columns(input.shape, dim, keepdim, carried):
            value = columns(xp, convert(xp, input, carried), len(input))
            return convert(xp, value, result)
        value = function(xp, convert(xp, input, carried), dim, keepdim)
        return xp.ascontiguousarray(convert(xp, xp.asarray(value), result)).reshape(
            reduced_shape(input.shape, dim, keepdim)
        )

    return kernel


def _make_lean(facts: Reduction) -> Callable[..., Any]:
    """Return what gives the ufunc's reduction alone, for rows that lie in order."""
    method, _, rest = facts.numpy.partition("(")
    plain = rest == "{x}, axis={axis}, keepdims={keepdims})"

    def lean(
        arrays: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Callable[..., Any] | None:
        (x,), dim, keepdim = arrays, attributes["dim"], attributes["keepdim"]
        own = from_numpy_dtype(x.dtype)
        result = facts.dtype(own, attributes.get("dtype"))
        ordered = x.flags.c_contiguous and accumulate_dtype(result) is result is own
        if not plain or not ordered or not method.endswith(".reduce"):
            return None
        if facts.takes_columns(x.shape, dim, keepdim, own):
            return None
        reduce = getattr(np, method.removeprefix("np.").removesuffix(".reduce")).reduce
        axis = None if len(dim) == x.ndim else dim
        return lambda x: reduce(x, axis, None, None, keepdim)

    return lean


def _columns_of(name: str, facts: Reduction) -> Callable[..., Any]:
    text = (facts.columns or "None").replace("{x}", "x")
    text = text.replace("{ones}", "np.ones(count, x.dtype)")
    code = compile(
        f"lambda np, x, count: {text}", f"<tracegrad operator {name}>", "eval"
    )
    return eval(code, {"__builtins__": {}})  # type: ignore[no-any-return]


def _make_abstract(facts: Reduction) -> Callable[..., TensorSpec]:
    def abstract(
        input: TensorSpec, dim: tuple[int, ...], keepdim: bool, **attributes: Any
    ) -> TensorSpec:
        result = facts.dtype(input.dtype, attributes.get("dtype"))
        shape = reduced_shape(input.shape, dim, keepdim)
        return TensorSpec(result, shape, (), input.device)

    return abstract


def reduction(
    *,
    numpy: str,
    combine: str,
    start: Callable[[DType], Any],
    result_dtype: Callable[[DType], DType],
    columns: str | None = None,
    **properties: Any,
) -> Callable[[Callable[..., Any]], OpDef]:
    """Define a reduction (decorator); see `Reduction` for the parameters."""

    def wrap(function: Callable[..., Any]) -> OpDef:
        operator = OpDef(function, "reduction", **properties)
        facts = Reduction(numpy, combine, start, result_dtype, columns)
        operator.facts["reduction"] = facts
        operator.facts["canonical"] = _canonical(operator.name)
        operator.kernel = _make_kernel(operator.name, facts)
        operator.facts["lean"] = _make_lean(facts)
        operator.abstract = _make_abstract(facts)
        return define(operator)

    return wrap
