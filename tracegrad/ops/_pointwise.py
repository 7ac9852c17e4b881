"""The pointwise family: a scalar expression, applied to each element.

What is true of every member (broadcasting, promotion, casts, strides, kernels) is
stated here once; a definition says only what is its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np

from tracegrad.dispatch import fast
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.surface import define
from tracegrad.dtypes import (
    DType,
    bfloat16,
    bool_,
    dtype_of_scalar,
    float16,
    float32,
    from_numpy_dtype,
    get_default_dtype,
    result_type_of,
)
from tracegrad.errors import DTypeError, ShapeError
from tracegrad.sizes import broadcast_shapes
from tracegrad.spec import ScalarSpec, TensorSpec, elementwise_strides

# An operand as promotion sees it: its dtype, and 2 for a tensor with dimensions,
# 1 for a 0-dim tensor, 0 for a Python number.
Typed: TypeAlias = tuple[DType, int]
# The dtype each operand is cast to, and the result's.
Types: TypeAlias = tuple[tuple[DType, ...], DType]
Promotion: TypeAlias = Callable[[str, tuple[Typed, ...], DType | None], Types]
Texts: TypeAlias = str | Mapping[str, str]


# -- promotion ------------------------------------------------------------------


def common(operands: tuple[Typed, ...]) -> DType:
    """Return the promoted dtype of `operands`."""
    return result_type_of(
        [d for d, rank in operands if rank == 2],
        [d for d, rank in operands if rank == 1],
        [d for d, rank in operands if rank == 0],
    )


def arithmetic(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype and keep it."""
    dtype = common(operands)
    return (dtype,) * len(operands), dtype


def floating(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype, the default float for integers."""
    dtype = common(operands)
    if dtype.kind in ("bool", "int"):
        dtype = get_default_dtype()
    return (dtype,) * len(operands), dtype


def comparing(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype and answer with a bool."""
    dtype = common(operands)
    return (dtype,) * len(operands), bool_


def integral(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Accept integers and bools only."""
    dtype = common(operands)
    if dtype.kind not in ("bool", "int"):
        raise DTypeError(f"{name} takes integers and bools, not {dtype.name}")
    return (dtype,) * len(operands), dtype


def real_part(name: str, operands: tuple[Typed, ...], _: DType | None) -> Types:
    """Compute in the promoted dtype; the result of a complex one is real."""
    dtype = common(operands)
    return (dtype,) * len(operands), dtype.to_real()


def no_bool(promotion: Promotion) -> Promotion:
    """Refuse operands that are all bool, as PyTorch does for ``-``."""

    def promote(name: str, operands: tuple[Typed, ...], to: DType | None) -> Types:
        if all(d is bool_ for d, _ in operands):
            raise DTypeError(
                f"{name} of bool tensors is not defined; use logical_xor or ~"
            )
        return promotion(name, operands, to)

    return promote


# -- facts ----------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Pointwise:
    """What the family knows of one operator.

    Attributes
    ----------
    numpy, c : mapping from dtype class to expression
        Classes are ``bool``, ``uint``, ``int``, ``float``, ``complex`` and ``any``.
        Operands and attributes stand in braces. In C, ``{f}`` is the suffix of
        float functions and ``{T}`` the type's name.
    promote : callable
    domain : tuple of float
        Where tests draw operands from.
    """

    names: tuple[str, ...]
    attributes: tuple[str, ...]
    numpy: Mapping[str, str]
    c: Mapping[str, str]
    promote: Promotion
    domain: tuple[float, float]
    types_cache: dict[Any, Types] = field(default_factory=dict)
    kernels: dict[Any, Callable[..., Any]] = field(default_factory=dict)

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

    def text(self, dtype: DType) -> str:
        """Return NumPy's expression for operands of a compute dtype.

        Raises
        ------
        DTypeError
            If the operator is not defined for it.
        """
        found = text_for(self.numpy, compute_dtype(dtype))
        if found is None:
            raise DTypeError(f"not defined for {dtype.name}")
        return found


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


# -- kernels --------------------------------------------------------------------


def _typed(operand: Any) -> Typed:
    if isinstance(operand, bool | int | float | complex):
        return dtype_of_scalar(operand), 0
    return from_numpy_dtype(operand.dtype), 2 if operand.ndim else 1


def _make_kernel(name: str, facts: Pointwise) -> Callable[..., Any]:
    def kernel(xp: Any, *arrays: Any, **attributes: Any) -> Any:
        to = attributes.get("dtype")
        operand_types, result = facts.types(name, tuple(map(_typed, arrays)), to)
        function = _function_for(name, facts, operand_types[-1], xp)
        cast = [
            cast_array(xp, a, compute_dtype(d))
            for a, d in zip(arrays, operand_types, strict=True)
        ]
        value = function(xp, *cast, **attributes)
        return convert(xp, xp.asarray(value), result)

    return kernel


def _function_for(
    name: str, facts: Pointwise, dtype: DType, xp: Any
) -> Callable[..., Any]:
    found = facts.kernels.get(dtype)
    if found is None:
        text = text_for(facts.numpy, compute_dtype(dtype))
        if text is None:
            raise DTypeError(f"{name} is not defined for {dtype.name}")
        found = facts.kernels[dtype] = _compiled(name, facts, text)
    return found


def _compiled(name: str, facts: Pointwise, text: str) -> Callable[..., Any]:
    """Return the expression as a function of the namespace and the operands."""
    parameters = ", ".join(("np", *facts.names, *facts.attributes))
    plain = re.sub(r"\{(\w+)\}", r"\1", text)
    source = f"lambda {parameters}: {plain}"
    function: Callable[..., Any] = eval(  # noqa: S307 - our own definition
        compile(source, f"<tracegrad operator {name}>", "eval"), {"__builtins__": {}}
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
    return array.astype(wanted)


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


# -- abstract eval --------------------------------------------------------------


def typed_spec(spec: Any) -> Typed:
    """Return what promotion sees of a spec or a Python number."""
    if isinstance(spec, TensorSpec):
        return spec.dtype, 2 if spec.ndim else 1
    if isinstance(spec, ScalarSpec):
        return dtype_of_scalar({"bool": True, "int": 1, "float": 1.0}.get(spec.kind, 1j)), 0
    return dtype_of_scalar(spec), 0


def _make_abstract(name: str, facts: Pointwise) -> Callable[..., TensorSpec]:
    def abstract(*specs: Any, **attributes: Any) -> TensorSpec:
        to = attributes.get("dtype")
        types, result = facts.types(name, tuple(map(typed_spec, specs)), to)
        if text_for(facts.numpy, compute_dtype(types[-1])) is None:
            raise DTypeError(f"{name} is not defined for {types[-1].name}")
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
        raise ShapeError(f"{name}: {error}") from None


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
    c: Texts,
    promote: Promotion = arithmetic,
    domain: tuple[float, float] = (-3.0, 3.0),
    inplace: bool = True,
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
    domain : tuple of float
        Where the operator is defined and smooth, for its tests.
    inplace : bool
        Whether there is an in-place form.
    **properties
        Of `OpDef`: ``commutative``, ``method``, …
    """

    def wrap(function: Callable[..., Any]) -> OpDef:
        operator = OpDef(function, "pointwise", inplace=inplace, **properties)
        facts = Pointwise(
            tuple(p.name for p in operator.operands),
            tuple(p.name for p in operator.attributes),
            {"any": numpy} if isinstance(numpy, str) else numpy,
            {"any": c} if isinstance(c, str) else c,
            promote,
            domain,
        )
        operator.facts["pointwise"] = facts
        operator.kernel = _make_kernel(operator.name, facts)
        operator.abstract = _make_abstract(operator.name, facts)
        return define(operator, _fast_form(operator, facts))

    return wrap


def _fast_form(operator: OpDef, facts: Pointwise) -> Callable[..., Any] | None:
    """Return the common-path function where one float ufunc is all there is."""
    text = text_for(facts.numpy, float32)
    if text is None or facts.attributes or facts.promote not in (arithmetic, floating):
        return None
    ufunc = single_ufunc(text, facts.names)
    if ufunc is None:
        return None
    if len(facts.names) == 2:
        return fast.binary(operator, ufunc)
    return fast.unary(operator, ufunc) if len(facts.names) == 1 else None
