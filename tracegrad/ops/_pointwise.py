"""The pointwise family: a scalar expression, applied to each element.

What is true of every member (broadcasting, promotion, casts, strides, kernels) is
stated here once; a definition says only what is its own.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np

from tracegrad.dispatch import fast
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.surface import define
from tracegrad.dtypes import (
    DType,
    bfloat16,
    dtype_of_kind,
    dtype_of_scalar,
    float16,
    float32,
    float64,
    from_numpy_dtype,
    get_default_dtype,
)
from tracegrad.errors import (
    DivisionError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops._c_helpers import C_HELPERS
from tracegrad.ops._numpy_helpers import HELPERS, helper_source
from tracegrad.ops._promotion import Promotion, Typed, Types, arithmetic, comparing
from tracegrad.sizes import broadcast_shapes
from tracegrad.spec import ScalarSpec, TensorSpec, abs_size, elementwise_strides

Texts: TypeAlias = str | Mapping[str, str]
_DIVIDED_BY_ZERO = (DivisionError, "an integer was divided by zero")
Domain: TypeAlias = tuple[float, float] | Mapping[str, tuple[float, float]]


# -- facts ----------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Pointwise:
    """What the family knows of one operator.

    Attributes
    ----------
    names, attributes : tuple of str
        The operands and the attributes, in order.
    numpy, c : mapping from dtype class to expression
        Classes are ``bool``, ``uint``, ``int``, ``float``, ``complex`` and ``any``,
        of the dtype that the last operand is computed in. Operands and attributes
        stand in braces. In C, ``{T}`` is the type, ``{U}`` the unsigned type of the
        same width, ``{t}`` the dtype's code (``f32``) and ``{f}`` the suffix of
        float functions; the value of an expression is stored in a variable of the
        result's type, which narrows it. A class without a C text is not fused.
    promote : callable
    domain : tuple of float, or a mapping from operands to such
        Where tests draw operands from.
    fails : mapping from dtype class to expression
        Where an element has no result (NumPy and C read it alike); the operator
        then raises `refusal`.
    refusal : tuple of (class, str)
        The exception and what it says after the operator's name.
    narrow_literals : bool
        Whether a Python number is rounded to a half type before it is used, as
        comparisons do; elsewhere it takes part in float32.
    c_helpers, numpy_helpers : tuple of str
        Functions that the texts call, named without the dtype; see
        `tracegrad.ops._c_helpers` and `tracegrad.ops._numpy_helpers`.
    numpy_zero : mapping from operands to expressions like `numpy`
        What is computed faster where that operand is the number 0.
    """

    names: tuple[str, ...]
    attributes: tuple[str, ...]
    numpy: Mapping[str, str]
    c: Mapping[str, str]
    promote: Promotion
    domain: Domain
    fails: Mapping[str, str]
    refusal: tuple[type[Exception], str]
    narrow_literals: bool
    c_helpers: tuple[str, ...]
    numpy_helpers: tuple[str, ...]
    numpy_zero: Mapping[str, Texts] = field(default_factory=dict)
    types_cache: dict[Any, Types] = field(default_factory=dict)

    @property
    def c_helper_texts(self) -> dict[str, str]:
        """The C texts of `c_helpers`, with their placeholders."""
        return {name: C_HELPERS[name] for name in self.c_helpers}

    @property
    def numpy_helper_texts(self) -> dict[str, str]:
        """The sources of `numpy_helpers`, by name, each after what it needs."""
        found: dict[str, str] = {}
        for name in self.numpy_helpers:
            found |= helper_source(name)
        return found

    def failure(self, dtype: DType) -> str | None:
        """Return the expression of what the operator refuses, for a compute dtype."""
        return text_for(self.fails, compute_dtype(dtype))

    def types(
        self, name: str, operands: tuple[Typed, ...], dtype: DType | None = None
    ) -> Types:
        """Return the operands' compute dtypes and the result dtype.

        `dtype` is the attribute of that name, for the operators that have one.
        """
        key = (operands, get_default_dtype(), dtype)
        found = self.types_cache.get(key)
        if found is None:
            found = self.types_cache[key] = self.promote(name, operands, dtype)
        return found

    def types_of(
        self, name: str, operands: Iterable[Any], dtype: DType | None = None
    ) -> Types:
        """Return the types for operands given as specs or Python numbers."""
        return self.types(name, tuple(map(typed_spec, operands)), dtype)

    def text(self, dtype: DType, operands: Sequence[Any] = ()) -> str:
        """Return NumPy's expression for a compute dtype, and these operands.

        Raises
        ------
        DTypeError
            If the operator is not defined for it.
        """
        computed = compute_dtype(dtype)
        found = text_for(self.numpy, computed)
        if found is None:
            raise UnsupportedDTypeError(f"not defined for {dtype.name}")
        for name, texts in self.numpy_zero.items():
            if operands and is_plus_zero(operands[self.names.index(name)]):
                found = text_for(_by_class(texts), computed) or found
        return found


def is_plus_zero(operand: Any) -> bool:
    """Return whether an operand is a Python number, and 0 but not -0.0."""
    if operand.__class__ is not int and operand.__class__ is not float:
        return False
    return bool(operand == 0 and math.copysign(1.0, operand) > 0)


def text_for(texts: Mapping[str, str], dtype: DType) -> str | None:
    """Return the expression for a dtype's class, or None if there is none."""
    kind = "uint" if dtype.name == "uint8" else dtype.kind
    for wanted in (kind, "int" if kind == "uint" else kind, "any"):
        if wanted in texts:
            return texts[wanted]
    return None


def compute_dtype(dtype: DType) -> DType:
    """Return the dtype an operator computes in: float32 for the half types."""
    return float32 if dtype is float16 or dtype is bfloat16 else dtype


def helpers_in(texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the helper functions that expressions call.

    Examples
    --------
    >>> helpers_in({"any": "tg_sign_{t}({input})"})
    ('tg_sign',)
    """
    found = [n for text in texts.values() for n in re.findall(r"\btg_[a-z0-9_]+", text)]
    return tuple(dict.fromkeys(name.rstrip("_") for name in found))


# -- kernels --------------------------------------------------------------------


def _typed(operand: Any) -> Typed:
    if isinstance(operand, bool | int | float | complex):
        return dtype_of_scalar(operand), 0
    return from_numpy_dtype(operand.dtype), 2 if operand.ndim else 1


@final
@dataclass(frozen=True, slots=True)
class _Call:
    """How operands of certain dtypes are computed with.

    Attributes
    ----------
    function : callable
        The NumPy expression.
    check : callable or None
        Says where an element has no result.
    casts : tuple of DType or None
        What each operand is cast to, None where it is that already.
    result : DType
    stored : dtype
        NumPy's of the result.
    dtype : DType
        What the last operand is computed in.
    """

    function: Callable[..., Any]
    check: Callable[..., Any] | None
    casts: tuple[DType | None, ...]
    result: DType
    stored: Any
    dtype: DType


def _make_kernel(name: str, facts: Pointwise) -> Callable[..., Any]:
    calls: dict[Any, _Call] = {}
    signature = _signature_or_zero if facts.numpy_zero else _signature

    def kernel(xp: Any, *arrays: Any, **attributes: Any) -> Any:
        to = attributes.get("dtype")
        key = (to, get_default_dtype(), *map(signature, arrays))
        call = calls.get(key)
        if call is None:
            call = calls[key] = _resolved(name, facts, arrays, to)
        given = [
            a if d is None else _computable(xp, a, d, facts.narrow_literals)
            for a, d in zip(arrays, call.casts, strict=True)
        ]
        if call.check is not None and xp.any(call.check(xp, *given, **attributes)):
            error, message = facts.refusal
            raise error(f"{name}: {message}")
        value = call.function(xp, *given, **attributes)
        if value.__class__ is not np.ndarray:
            value = xp.asarray(value)
        if value.dtype != call.stored:
            value = convert(xp, value, call.result)
        # A result is fresh, also where the expression is the operand itself.
        return fresh(xp, value, call.result) if value is arrays[0] else value

    return kernel


def _make_lean(name: str, facts: Pointwise) -> Callable[..., Any]:
    """Return what gives the expression alone, for operands that need no more."""

    def lean(
        arrays: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Callable[..., Any] | None:
        call = _resolved(name, facts, arrays, attributes.get("dtype"))
        if call.check is not None or not all(map(_is_easy, arrays, call.casts)):
            return None
        if facts.numpy_zero and sum(map(_is_number, arrays)) > 1:
            # What is faster beside a 0 wants an array as the other operand.
            return None
        text = facts.text(call.dtype, arrays)
        ufunc = single_ufunc(text, facts.names) if not attributes else None
        function = ufunc or functools.partial(call.function, np, **attributes)
        casts = tuple(
            None if d is None or _is_number(a) else d.numpy
            for a, d in zip(arrays, call.casts, strict=True)
        )
        if any(d is not None for d in casts):
            function = _casting(function, casts)
        with np.errstate(all="ignore"):
            value = np.asarray(function(*arrays))
        shares = any(value is a for a in arrays)
        return None if shares or value.dtype != call.stored else function

    return lean


def _casting(
    function: Callable[..., Any], casts: tuple[Any, ...]
) -> Callable[..., Any]:
    def run(*arrays: Any) -> Any:
        pairs = zip(arrays, casts, strict=True)
        return function(*[a if d is None else a.astype(d) for a, d in pairs])

    return run


def _is_number(operand: Any) -> bool:
    return operand.__class__ is float or operand.__class__ is int


def _is_easy(operand: Any, dtype: DType | None) -> bool:
    """Return whether NumPy alone makes of an operand what the operator does."""
    if dtype is None:
        return True
    if dtype.kind != "float" or dtype.itemsize == 2:
        return False
    if isinstance(operand, bool | int | float | complex):
        return _is_number(operand)
    return operand.dtype in (float32.numpy, float64.numpy)


def _signature(operand: Any) -> Any:
    """Return what the dtypes of a call depend on: a number's class, or two facts."""
    cls = operand.__class__
    if cls is int or cls is float or cls is bool or cls is complex:
        return cls
    return operand.dtype, operand.ndim == 0


def _signature_or_zero(operand: Any) -> Any:
    return "0" if is_plus_zero(operand) else _signature(operand)


def _resolved(
    name: str, facts: Pointwise, arrays: tuple[Any, ...], to: DType | None
) -> _Call:
    operand_types, result = facts.types(name, tuple(map(_typed, arrays)), to)
    dtype = operand_types[-1]
    if text_for(facts.numpy, compute_dtype(dtype)) is None:
        raise UnsupportedDTypeError(f"{name} is not defined for {dtype.name}")
    text = facts.text(dtype, arrays)
    failing = text_for(facts.fails, dtype)
    return _Call(
        _compiled(name, facts, text),
        None if failing is None else _compiled(name, facts, failing),
        tuple(map(_cast_for, arrays, operand_types)),
        result,
        result.numpy,
        dtype,
    )


def _cast_for(operand: Any, dtype: DType) -> DType | None:
    """Return what an operand must be cast to, None if it is that already."""
    computed = compute_dtype(dtype)
    is_number = isinstance(operand, bool | int | float | complex)
    ready = not is_number and operand.dtype == computed.numpy and computed is dtype
    return None if ready else dtype


def _computable(xp: Any, operand: Any, dtype: DType, narrow_literals: bool) -> Any:
    if narrow_literals and isinstance(operand, bool | int | float | complex):
        operand = xp.asarray(wrapped_scalar(operand, dtype))
    computed = compute_dtype(dtype)
    if computed is not dtype and not isinstance(operand, bool | int | float | complex):
        # To the narrow type first: a wider operand has no more digits than it.
        operand = cast_array(xp, operand, dtype)
    return cast_array(xp, operand, computed)


def _compiled(name: str, facts: Pointwise, text: str) -> Callable[..., Any]:
    """Return the expression as a function of the namespace and the operands."""
    parameters = ", ".join(("np", *facts.names, *facts.attributes))
    plain = re.sub(r"\{(\w+)\}", r"\1", text)
    source = f"lambda {parameters}: {plain}"
    helpers = {helper: HELPERS[helper] for helper in facts.numpy_helpers}
    function: Callable[..., Any] = eval(
        compile(source, f"<tracegrad operator {name}>", "eval"),
        {"__builtins__": {}, **helpers},
    )
    return function


def convert(xp: Any, array: Any, dtype: DType) -> Any:
    """Return `array` as `dtype` by the one total definition of conversions.

    Real from complex drops the imaginary part. A float becomes a narrow integer
    through a wider one, so that -1.0 is 255 in uint8 on every machine.
    """
    wanted = dtype.numpy
    if array.dtype == wanted:
        return array
    kind = array.dtype.kind
    if kind == "c" and dtype.kind not in ("complex", "bool"):
        array, kind = array.real, "f"
    if kind not in "biuc" and dtype.kind == "int" and dtype.itemsize < 4:
        array = array.astype("int64" if dtype.name == "uint8" else "int32")
    return fresh(xp, array, dtype) if 0 in array.strides else array.astype(wanted)


def fresh(xp: Any, array: Any, dtype: DType) -> Any:
    """Return a copy in the order of memory that element-wise results have.

    NumPy's own copies put expanded dimensions innermost, its ufuncs do not.
    """
    if 0 not in array.strides:
        return array.astype(dtype.numpy, copy=True)
    spec = TensorSpec(dtype, array.shape, array.strides)
    strides = elementwise_strides(spec.shape, [spec])
    order = sorted(range(array.ndim), key=lambda axis: (-abs_size(strides[axis]), axis))
    result = xp.empty([array.shape[axis] for axis in order], dtype.numpy)
    result = result.transpose([order.index(axis) for axis in range(array.ndim)])
    result[...] = array
    return result


def cast_array(xp: Any, value: Any, dtype: DType) -> Any:
    """Return an array or Python number as an array of `dtype`; integers wrap."""
    if isinstance(value, bool | int | float | complex):
        return xp.asarray(wrapped_scalar(value, dtype))
    return convert(xp, value, dtype)


def wrapped_scalar(value: complex, dtype: DType) -> Any:
    """Return a Python number as a NumPy scalar of `dtype`; integers wrap."""
    if dtype.kind == "int" and isinstance(value, int):
        bits = 8 * dtype.itemsize
        value = int(value) & ((1 << bits) - 1)
        if dtype.signed and value >> (bits - 1):
            value -= 1 << bits
    return dtype.numpy.type(value)


def as_precise_as(like: Any, x: Any) -> Any:
    """Return an operand in the dtype of `like`, for a rule that applies a function.

    A function of an integer would be of the default float, however precise the
    result is.
    """
    if x.__class__ in (bool, int, float, complex):
        return like.zeros_like() + x
    return x if x.dtype is like.dtype else OPERATORS["cast"](x, like.dtype)


# -- abstract eval --------------------------------------------------------------


def typed_spec(spec: Any) -> Typed:
    """Return what promotion sees of a spec or a Python number."""
    if isinstance(spec, TensorSpec):
        return spec.dtype, 2 if spec.ndim else 1
    if isinstance(spec, ScalarSpec):
        return dtype_of_kind(spec.kind), 0
    return dtype_of_scalar(spec), 0


def _make_abstract(name: str, facts: Pointwise) -> Callable[..., TensorSpec]:
    def abstract(*specs: Any, **attributes: Any) -> TensorSpec:
        to = attributes.get("dtype")
        types, result = facts.types(name, tuple(map(typed_spec, specs)), to)
        if text_for(facts.numpy, compute_dtype(types[-1])) is None:
            raise UnsupportedDTypeError(f"{name} is not defined for {types[-1].name}")
        tensors = [s for s in specs if isinstance(s, TensorSpec)]
        shape = _broadcast(name, tensors)
        device = tensors[0].device if tensors else None
        strides = elementwise_strides(shape, tensors)
        if device is None:
            return TensorSpec(result, shape, strides)
        return TensorSpec(result, shape, strides, device)

    return abstract


def _broadcast(name: str, specs: list[TensorSpec]) -> Any:
    try:
        return broadcast_shapes(*[s.shape for s in specs])
    except ShapeError as error:
        raise ShapeError(f"{name}: {error.args[0]}") from None


# -- the decorator --------------------------------------------------------------

_UFUNC = re.compile(r"np\.(\w+)\((\{\w+\}(?:, \{\w+\})*)\)$")


def single_ufunc(text: str, names: tuple[str, ...]) -> Any:
    """Return the ufunc if `text` is one call of it on the operands in order."""
    match = _UFUNC.match(text)
    if match is None or match[2] != ", ".join(f"{{{n}}}" for n in names):
        return None
    found = getattr(np, match[1])
    return found if isinstance(found, np.ufunc) else None


def pointwise(
    *,
    numpy: Texts,
    c: Texts | None = None,
    promote: Promotion = arithmetic,
    domain: Domain = (-3.0, 3.0),
    fails: Texts | None = None,
    refusal: tuple[type[Exception], str] = _DIVIDED_BY_ZERO,
    inplace: bool = True,
    numpy_zero: Mapping[str, Texts] | None = None,
    **properties: Any,
) -> Callable[[Callable[..., Any]], OpDef]:
    """Define a pointwise operator (decorator).

    Parameters
    ----------
    numpy, c : str or mapping
        The expression in the namespace ``np`` and in the C family, one for all
        dtypes or one per dtype class.
    promote : callable
        How operand and result dtypes follow from the operands.
    domain : tuple of float, or a mapping
        Where the operator is defined and smooth, for its tests.
    fails : str or mapping, optional
        Where an element has no result.
    refusal : tuple of (class, str)
        What is raised there.
    inplace : bool
        Whether there is an in-place form.
    numpy_zero : mapping, optional
        For an operand, what is faster than `numpy` where that is the number 0.
    **properties
        Of `OpDef`: ``commutative``, ``method``, …
    """

    def wrap(function: Callable[..., Any]) -> OpDef:
        may_raise = fails is not None
        operator = OpDef(
            function, "pointwise", inplace=inplace, may_raise=may_raise, **properties
        )
        numpy_texts, c_texts = _by_class(numpy), _by_class(c)
        zero_texts = [_by_class(texts) for texts in (numpy_zero or {}).values()]
        called = [n for texts in (numpy_texts, *zero_texts) for n in helpers_in(texts)]
        facts = Pointwise(
            tuple(p.name for p in operator.operands),
            tuple(p.name for p in operator.attributes),
            numpy_texts,
            c_texts,
            promote,
            domain,
            _by_class(fails),
            refusal,
            promote is comparing,
            helpers_in(c_texts),
            tuple(dict.fromkeys(called)),
            numpy_zero or {},
        )
        operator.facts["pointwise"] = facts
        operator.kernel = _make_kernel(operator.name, facts)
        operator.facts["lean"] = _make_lean(operator.name, facts)
        operator.abstract = _make_abstract(operator.name, facts)
        return define(operator, _fast_form(operator, facts))

    return wrap


def _by_class(texts: Texts | None) -> Mapping[str, str]:
    if texts is None:
        return {}
    return {"any": texts} if isinstance(texts, str) else texts


def _fast_form(operator: OpDef, facts: Pointwise) -> Callable[..., Any] | None:
    """Return the common-path function where one float ufunc is all there is."""
    text = text_for(facts.numpy, float32)
    count = len(facts.names)
    if text is None or facts.attributes or count > 2:
        return None
    ufunc = single_ufunc(text, facts.names)
    if ufunc is None:
        return None
    plain = facts.promote(operator.name, ((float32, 2),) * count, None)
    if plain != ((float32,) * count, float32):
        return None
    return fast.binary(operator, ufunc) if count == 2 else fast.unary(operator, ufunc)
