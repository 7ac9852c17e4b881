"""What holds for every operator: each check raises AssertionError where it does not.

The checks are functions of the operator, so that they can themselves be tested with
a wrong one (`test_checks.py`).
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import tracegrad as tg
from tests.ops.samples import (
    Sample,
    arrays,
    call,
    drawn,
    dtypes_of,
    generator,
    is_defined,
    parsed,
    results,
    samples,
    tensors,
)
from tracegrad.dispatch.bind import abstract_composite
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.tensor import Tensor, spec_of, wrap
from tracegrad.dtypes import DType
from tracegrad.ops._pointwise import single_ufunc, text_for
from tracegrad.spec import TensorSpec

# -- values -------------------------------------------------------------------------


def reference_of(operator: OpDef) -> Callable[..., Any]:
    """Return a function of arrays that says independently what the operator computes.

    It is the one that the definition states, of Python numbers; or NumPy's of the
    same name; or the one NumPy function that the definition consists of.
    """
    stated = operator.facts.get("reference")
    if stated is not None:
        return np.vectorize(stated, otypes=None)
    named = getattr(np, operator.name, None)
    if callable(named):
        return named
    facts = operator.facts.get("pointwise")
    text = text_for(facts.numpy, tg.float64) if facts else None
    ufunc = single_ufunc(text or "", facts.names) if facts else None
    assert ufunc is not None, (
        f"{operator.name}: NumPy has no function of this name; state `reference=`"
    )
    return ufunc


def value_dtype(operator: OpDef) -> DType:
    """Return the dtype that values are checked in."""
    for dtype in (tg.float64, tg.complex128, tg.int64, tg.dtypes.bool_):
        if is_defined(operator, dtype):
            return dtype
    raise AssertionError(f"{operator.name} is defined for no dtype")


def check_value(operator: OpDef) -> None:
    """The values are those of the reference, in double and in single precision."""
    if operator.family != "pointwise" and "reference" not in operator.facts:
        return
    reference = reference_of(operator)
    dtype = value_dtype(operator)
    narrow = {tg.float64: tg.float32, tg.complex128: tg.complex64}.get(dtype, dtype)
    for wanted, tolerance in ((dtype, 2e-14), (narrow, 3e-6)):
        for sample in samples(operator, wanted):
            given = [np.asarray(o) for o in sample.operands]
            wide = [g.astype(dtype.numpy) if g.dtype.kind in "fc" else g for g in given]
            expected = np.asarray(reference(*wide, **_own_attributes(sample)))
            (found,) = arrays(call(operator, tensors(sample), sample.attributes))
            np.testing.assert_allclose(
                found.astype(expected.dtype),
                expected,
                rtol=tolerance,
                atol=tolerance / 10,
            )


def _own_attributes(sample: Sample) -> dict[str, Any]:
    return {k: v for k, v in sample.attributes.items() if not isinstance(v, DType)}


# -- specs --------------------------------------------------------------------------


def layouts(array: Any) -> dict[str, Any]:
    """Return arrays of the same values in other layouts of memory."""
    spread = np.zeros(tuple(2 * s for s in array.shape), array.dtype)
    gaps = spread[tuple(slice(None, None, 2) for _ in array.shape)]
    gaps[...] = array
    return {
        "rows": array.copy(),
        "columns": np.asfortranarray(array),
        "gaps": gaps,
        "reversed": array[..., ::-1].copy()[..., ::-1],
        "expanded": np.broadcast_to(array[:1], array.shape),
    }


def check_spec(operator: OpDef) -> None:
    """The results have the dtype, shape and strides that abstract eval says."""
    for dtype in dtypes_of(operator):
        for sample in _shaped(operator, dtype):
            _check_one_spec(operator, sample)


def _shaped(operator: OpDef, dtype: DType) -> list[Sample]:
    """Return samples in several shapes and layouts, scalars among them."""
    if "pointwise" not in operator.facts:
        return samples(operator, dtype)
    rng = generator(operator)
    names = operator.facts["pointwise"].names
    (base,) = pointwise_samples(operator, dtype)
    found = [base]
    for shape in ((), (0,), (2, 0), (1,), (5,)):
        operands = tuple(drawn(operator, n, dtype, rng, shape) for n in names)
        found.append(Sample(operands, base.attributes))
    for layout in layouts(base.operands[0]):
        found.append(base.mapped(lambda a, k=layout: layouts(a)[k]))
    for index in range(1, len(names)):
        scalar = base.operands[index].flat[0].item()
        found.append(with_operand(base, index, scalar))
        found.append(with_operand(base, index, base.operands[index][0, 0, ...]))
        found.append(with_operand(base, index, base.operands[index][:, :1]))
        found.append(with_operand(base, index, base.operands[index].T.copy().T))
    return found


def pointwise_samples(operator: OpDef, dtype: DType) -> list[Sample]:
    """Return samples of a pointwise operator, one array for each operand."""
    if operator.examples is None:
        return samples(operator, dtype)
    rng = generator(operator)
    names = operator.facts["pointwise"].names
    _, attributes = operator.examples(rng)[0]
    return [Sample(tuple(drawn(operator, n, dtype, rng) for n in names), attributes)]


def with_operand(sample: Sample, index: int, operand: Any) -> Sample:
    """Return the sample with another operand at a place."""
    operands = list(sample.operands)
    operands[index] = (
        np.asarray(operand) if isinstance(operand, np.generic) else operand
    )
    return Sample(tuple(operands), sample.attributes)


def _check_one_spec(operator: OpDef, sample: Sample) -> None:
    operands = tensors(sample)
    found = results(call(operator, operands, sample.attributes))
    given, attributes = parsed(operator, operands, sample.attributes)
    if operator.body is None:
        specs = operator.abstract(*map(spec_of_operand, given), **attributes)
    else:
        specs = abstract_composite(
            operator, tuple(map(spec_of_operand, given)), attributes
        )
    expected = list(specs) if isinstance(specs, tuple) else [specs]
    for have, want in zip(found, expected, strict=True):
        what = f"{operator.name} of {[_described(o) for o in operands]}"
        assert have.dtype is want.dtype, what
        if operator.facts.get("dynamic_size"):
            assert have.ndim == want.ndim, what
            continue
        assert have._array.shape == want.shape, what
        if have.numel() > 0:
            assert _significant(spec_of(have)) == _significant(want), what


def _significant(spec: TensorSpec) -> tuple[int, ...]:
    """Return the strides of dimensions longer than 1; the others say nothing."""
    pairs = zip(spec.strides, spec.shape, strict=True)
    return tuple(step for step, size in pairs if size != 1)


def spec_of_operand(operand: Any) -> Any:
    """Return an operand with specs for tensors."""
    if isinstance(operand, tuple):
        return tuple(map(spec_of_operand, operand))
    return spec_of(operand) if isinstance(operand, Tensor) else operand


def _described(operand: Any) -> str:
    return str(spec_of(operand)) if isinstance(operand, Tensor) else repr(operand)


def check_refusal(operator: OpDef) -> None:
    """Abstract eval refuses the dtypes that the kernel refuses."""
    facts = operator.facts["pointwise"]
    for dtype in tg.dtypes.ALL:
        if is_defined(operator, dtype) or dtype is tg.bfloat16:
            continue
        operands = [wrap(np.ones((2,), dtype.numpy)) for _ in facts.names]
        attributes = {
            p.name: 1 if p.default is inspect.Parameter.empty else p.default
            for p in operator.attributes
        }
        for attempt in (
            lambda o=operands, a=attributes: operator.abstract(*map(spec_of, o), **a),
            lambda o=operands, a=attributes: operator.call(*o, **a),
        ):
            _check_raises(operator, attempt, dtype)


def _check_raises(operator: OpDef, attempt: Callable[[], Any], dtype: DType) -> None:
    try:
        attempt()
    except tg.errors.DTypeError as error:
        said = str(error)
    else:
        raise AssertionError(f"{operator.name} took {dtype.name}")
    assert operator.name in said


# -- layouts and broadcasting ---------------------------------------------------------


def check_layouts(operator: OpDef) -> None:
    """Values do not depend on the layout of the operands in memory."""
    # Except of those whose meaning is the layout (as_strided).
    if "logical" in operator.facts:
        return
    for sample in samples(operator, value_dtype(operator)):
        for name in layouts(np.zeros((2, 2))):
            laid = sample.mapped(lambda a, k=name: layouts(a)[k] if a.ndim else a)
            _check_one_layout(operator, laid, name)


def _check_one_layout(operator: OpDef, laid: Sample, name: str) -> None:
    plain = laid.mapped(np.ascontiguousarray)
    expected = arrays(call(operator, tensors(plain), plain.attributes))
    try:
        found = arrays(call(operator, tensors(laid), laid.attributes))
    except tg.errors.ShapeError:
        assert operator.is_view, f"{operator.name} refuses {name}"
        return
    for have, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-14, atol=1e-15, err_msg=name)


def check_broadcast(operator: OpDef) -> None:
    """Operands of smaller shapes act as if repeated; a number as a 0-dim tensor."""
    dtype = value_dtype(operator)
    (sample,) = pointwise_samples(operator, dtype)
    for index in range(len(sample.operands)):
        for part in ((0,), (slice(None), slice(0, 1)), (0, 0)):
            small = np.asarray(sample.operands[index][part])
            spread = np.ascontiguousarray(np.broadcast_to(small, (3, 4)))
            found = call(
                operator, tensors(with_operand(sample, index, small)), sample.attributes
            )
            full = call(
                operator,
                tensors(with_operand(sample, index, spread)),
                sample.attributes,
            )
            assert found.shape == full.shape or len(sample.operands) == 1
            np.testing.assert_allclose(
                np.broadcast_to(found._array, full._array.shape),
                full._array,
                rtol=1e-14,
            )


# -- forms --------------------------------------------------------------------------


def check_forms(operator: OpDef) -> None:
    """Function, method, in-place form and ``out=`` give one result."""
    for sample in samples(operator, value_dtype(operator)):
        (expected, *more) = results(call(operator, tensors(sample), sample.attributes))
        if more or not operator.operands:
            return
        public = getattr(tg, operator.name, operator.call)
        if operator.public:
            _same(public(*tensors(sample), **sample.attributes), expected)
            out = wrap(np.empty(expected.shape, expected._array.dtype))
            if not operator.is_view and _takes_out(operator, public):
                given = public(*tensors(sample), **sample.attributes, out=out)
                assert given is out
                _same(out, expected)
        first, *rest = tensors(sample)
        if operator.method and operator.operands[0].kind == "tensor":
            _same(getattr(first, operator.name)(*rest, **sample.attributes), expected)
        if operator.inplace and expected.dtype is first.dtype:
            target, *rest = tensors(sample.mapped(np.copy))
            given = getattr(target, operator.name + "_")(*rest, **sample.attributes)
            assert given is target
            _same(target, expected)


def _takes_out(operator: OpDef, public: Callable[..., Any]) -> bool:
    """Return whether the public form has ``out=``; a plain operator's has."""
    stated = "out" in inspect.signature(public).parameters
    return stated or public is operator.call


def _same(found: Tensor, expected: Tensor) -> None:
    assert found.dtype is expected.dtype
    np.testing.assert_array_equal(found._array, expected._array)


def check_purity(operator: OpDef) -> None:
    """Operands are unchanged; results are fresh memory, unless of a view."""
    for sample in samples(operator, value_dtype(operator)):
        before = sample.mapped(np.copy)
        operands = tensors(sample)
        found = arrays(call(operator, operands, sample.attributes))
        for have, was in zip(_flat(sample), _flat(before), strict=True):
            np.testing.assert_array_equal(have, was)
            if not operator.is_view and not operator.may_alias:
                assert not any(np.shares_memory(have, f) for f in found)


def _flat(sample: Sample) -> list[Any]:
    found: list[Any] = []
    sample.mapped(lambda a: found.append(a))
    return found
