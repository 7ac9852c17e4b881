"""What holds for every operator: each check raises AssertionError where it does not.

The checks are functions of the operator, so that they can themselves be tested with
a wrong one (`test_checks.py`).
"""

import inspect
import math
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
    leaves,
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
    (base,) = _pointwise_samples(operator, dtype)
    found = [base]
    for shape in ((), (0,), (2, 0), (1,), (5,)):
        operands = tuple(drawn(operator, n, dtype, rng, shape) for n in names)
        found.append(Sample(operands, base.attributes))
    for layout in layouts(base.operands[0]):
        found.append(base.mapped(lambda a, k=layout: layouts(a)[k]))
    for index in range(1, len(names)):
        scalar = base.operands[index].flat[0].item()
        found.append(_with(base, index, scalar))
        found.append(_with(base, index, base.operands[index][0, 0, ...]))
        found.append(_with(base, index, base.operands[index][:, :1]))
        found.append(_with(base, index, base.operands[index].T.copy().T))
    return found


def _pointwise_samples(operator: OpDef, dtype: DType) -> list[Sample]:
    if operator.examples is None:
        return samples(operator, dtype)
    rng = generator(operator)
    names = operator.facts["pointwise"].names
    _, attributes = operator.examples(rng)[0]
    return [Sample(tuple(drawn(operator, n, dtype, rng) for n in names), attributes)]


def _with(sample: Sample, index: int, operand: Any) -> Sample:
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
        specs = operator.abstract(*map(_spec, given), **attributes)
    else:
        specs = abstract_composite(operator, tuple(map(_spec, given)), attributes)
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


def _spec(operand: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_spec, operand))
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
        attributes = {p.name: p.default for p in operator.attributes}
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
    (sample,) = _pointwise_samples(operator, dtype)
    for index in range(len(sample.operands)):
        for part in ((0,), (slice(None), slice(0, 1)), (0, 0)):
            small = np.asarray(sample.operands[index][part])
            spread = np.ascontiguousarray(np.broadcast_to(small, (3, 4)))
            found = call(
                operator, tensors(_with(sample, index, small)), sample.attributes
            )
            full = call(
                operator, tensors(_with(sample, index, spread)), sample.attributes
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


# -- derivatives ----------------------------------------------------------------------


def is_differentiable(operator: OpDef) -> bool:
    """Return whether an operand has a derivative that is stated to exist."""
    if operator.body is not None:
        sample = samples(operator)[0]
        found = results(call(operator, tensors(sample), sample.attributes))
        return any(r.dtype.kind in ("float", "complex") for r in found)
    kinds = {rule.kind for rule in operator.vjp_rules.values()}
    return bool(kinds - {"none"}) and not operator.is_random


def gradient_dtypes(operator: OpDef) -> list[DType]:
    """Return the dtypes in which derivatives are checked."""
    wanted = [tg.float64, tg.complex128]
    return [d for d in wanted if is_defined(operator, d)]


def _loss(operator: OpDef, operands: list[Any], sample: Sample) -> Any:
    """Return a real number made of the results."""
    rng = np.random.default_rng(7)
    total: Any = None
    for result in results(call(operator, operands, sample.attributes)):
        if result.dtype.kind not in ("float", "complex"):
            continue
        weight = rng.uniform(0.5, 1.5, result._array.shape)
        if result.is_complex():
            weight = weight + 1j * rng.uniform(0.5, 1.5, result._array.shape)
        part = (result * wrap(weight.astype(result._array.dtype))).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    return total


def _gradients(
    operator: OpDef, sample: Sample, create_graph: bool = False
) -> tuple[list[Tensor], list[Any]]:
    operands = tensors(sample, requires_grad=True)
    wanted = leaves(operands)
    loss = _loss(operator, operands, sample)
    if loss is None or not loss.requires_grad:
        return wanted, [None for _ in wanted]
    found = tg.autograd.grad(loss, wanted, create_graph=create_graph, allow_unused=True)
    return wanted, list(found)


def numeric_gradient(function: Callable[[], float], array: Any) -> Any:
    """Return the gradient of `function` by an array, by central differences."""
    gradient = np.zeros_like(array)
    step = 1e-6
    directions = (1.0, 1j) if array.dtype.kind == "c" else (1.0,)
    for place in np.ndindex(array.shape):
        before = array[place]
        for direction in directions:
            array[place] = before + step * direction
            above = function()
            array[place] = before - step * direction
            below = function()
            gradient[place] += direction * (above - below) / (2 * step)
        array[place] = before
    return gradient


def check_vjp(operator: OpDef) -> None:
    """Gradients are those of finite differences, in the operand's shape and dtype."""
    for dtype in gradient_dtypes(operator):
        for sample in samples(operator, dtype):
            sample = sample.mapped(np.copy)
            wanted, found = _gradients(operator, sample)
            for leaf, gradient in zip(wanted, found, strict=True):
                expected = numeric_gradient(
                    lambda s=sample: float(_loss(operator, tensors(s), s).item()),
                    leaf._array,
                )
                _check_gradient(operator, leaf, gradient, expected)


def _check_gradient(
    operator: OpDef, leaf: Tensor, gradient: Tensor | None, expected: Any
) -> None:
    if gradient is None:
        np.testing.assert_allclose(expected, 0, atol=1e-7)
        return
    assert gradient._array.shape == leaf._array.shape, operator.name
    assert gradient.dtype is leaf.dtype, operator.name
    np.testing.assert_allclose(gradient._array, expected, rtol=2e-6, atol=2e-8)


def push(
    operator: OpDef,
    operands: tuple[Any, ...],
    tangents: list[Any],
    attributes: dict[str, Any],
) -> list[Any]:
    """Return the results' tangents by the operator's JVP rules, None where it is 0."""
    total: list[Any] | None = None
    for index, tangent in enumerate(tangents):
        if tangent is None:
            continue
        part = results(_pushed(operator, index, operands, tangent, attributes))
        if total is None:
            total = part
            continue
        pairs = zip(total, part, strict=True)
        total = [a + b for a, b in pairs]
    assert total is not None
    return total


def _pushed(
    operator: OpDef,
    index: int,
    operands: tuple[Any, ...],
    tangent: Any,
    attributes: dict[str, Any],
) -> Any:
    name = operator.operands[index].name
    if name in operator.linear_in:
        mixed = [*operands[:index], tangent, *operands[index + 1 :]]
        return operator.apply(mixed, attributes)
    values = dict(attributes)
    for operand, value in zip(operator.operands, operands, strict=True):
        values[operand.name] = value
        values[operand.name + "_spec"] = _shape_and_dtype(value)
    values["out"] = operator.apply(operands, attributes)
    return operator.jvp_rules[name].push(tangent, values)


def _shape_and_dtype(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_shape_and_dtype, value))
    return (
        (value._array.shape, value._array.dtype) if isinstance(value, Tensor) else None
    )


def has_jvp(operator: OpDef) -> bool:
    """Return whether each operand that has a VJP has a JVP too."""
    stated = {*operator.linear_in, *operator.jvp_rules}
    return set(operator.vjp_rules) <= stated


def check_jvp(operator: OpDef) -> None:
    """The JVP is the directional derivative by finite differences."""
    assert has_jvp(operator), f"{operator.name}: some operand has a VJP and no JVP"
    for dtype in gradient_dtypes(operator):
        for sample in samples(operator, dtype):
            _check_one_jvp(operator, sample.mapped(np.copy))


def _check_one_jvp(operator: OpDef, sample: Sample) -> None:
    rng = np.random.default_rng(3)
    operands, attributes = parsed(operator, tensors(sample), sample.attributes)
    tangents = [
        _tangent(o, rng) if p.name in operator.vjp_rules else None
        for p, o in zip(operator.operands, operands, strict=True)
    ]
    if all(t is None for t in tangents):
        return
    found = push(operator, operands, tangents, attributes)
    step = 1e-6
    moved = [
        arrays(operator.apply(_moved(operands, tangents, s * step), attributes))
        for s in (1, -1)
    ]
    for tangent, above, below in zip(found, *moved, strict=True):
        if above.dtype.kind not in "fc":
            continue
        expected = (above - below) / (2 * step)
        spread = np.broadcast_to(_array_of(tangent), expected.shape)
        np.testing.assert_allclose(spread, expected, rtol=2e-6, atol=2e-8)


def _array_of(tangent: Any) -> Any:
    return np.zeros(()) if tangent is None else tangent._array


def _moved(operands: tuple[Any, ...], tangents: list[Any], step: float) -> list[Any]:
    return [
        o if t is None else _plus(o, t, step)
        for o, t in zip(operands, tangents, strict=True)
    ]


def _plus(operand: Any, tangent: Any, step: float) -> Any:
    if isinstance(operand, tuple):
        pairs = zip(operand, tangent, strict=True)
        return tuple(_plus(o, t, step) for o, t in pairs)
    return wrap(operand._array + step * tangent._array)


def _tangent(operand: Any, rng: np.random.Generator) -> Any:
    if isinstance(operand, tuple):
        parts = tuple(_tangent(part, rng) for part in operand)
        return None if any(part is None for part in parts) else parts
    if not isinstance(operand, Tensor) or operand.dtype.kind not in (
        "float",
        "complex",
    ):
        return None
    values = rng.uniform(0.5, 1.5, operand._array.shape)
    if operand.is_complex():
        values = values + 1j * rng.uniform(0.5, 1.5, operand._array.shape)
    return wrap(values.astype(operand._array.dtype))


def check_second(operator: OpDef) -> None:
    """Gradients of gradients are those of finite differences of gradients."""
    for dtype in gradient_dtypes(operator):
        for sample in samples(operator, dtype):
            _check_one_second(operator, sample.mapped(np.copy))


def _projection(gradients: list[Any]) -> Any:
    """Return a real number made of gradients."""
    rng = np.random.default_rng(11)
    total: Any = None
    for gradient in gradients:
        if gradient is None:
            continue
        weight = rng.uniform(0.5, 1.5, gradient._array.shape)
        part = (gradient * wrap(weight.astype(gradient._array.dtype))).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    return total


def _check_one_second(operator: OpDef, sample: Sample) -> None:
    wanted, first = _gradients(operator, sample, create_graph=True)
    projection = _projection(first)
    if projection is None:
        return
    second: Any = [None for _ in wanted]
    if projection.requires_grad:
        second = tg.autograd.grad(projection, wanted, allow_unused=True)

    def project() -> float:
        return float(_projection(_gradients(operator, sample)[1]).item())

    for leaf, gradient in zip(wanted, second, strict=True):
        expected = numeric_gradient(project, leaf._array)
        _check_gradient(operator, leaf, gradient, expected)


def check_saved(operator: OpDef) -> None:
    """Backward keeps exactly what the rules of the tracked operands name."""
    for sample in samples(operator, gradient_dtypes(operator)[0]):
        given, attributes = parsed(operator, tensors(sample), sample.attributes)
        for index, operand in enumerate(operator.operands):
            if operand.name in operator.vjp_rules and _is_float(given[index]):
                _check_one_saved(operator, index, given, attributes)


def _check_one_saved(
    operator: OpDef, index: int, given: tuple[Any, ...], attributes: dict[str, Any]
) -> None:
    tracked = list(given)
    tracked[index] = wrap(given[index]._array).requires_grad_()
    entry = results(operator.apply(tracked, attributes))[0].grad_fn
    if entry is None or getattr(entry, "plan", None) is None:
        return
    named = set(operator.vjp_rules[operator.operands[index].name].names)
    kept = [
        o.name
        for o, value in zip(operator.operands, tracked, strict=True)
        if o.name in named and isinstance(value, Tensor | tuple)
    ]
    assert len(entry.saved) == len(kept) + ("out" in named)


def _is_float(operand: Any) -> bool:
    return isinstance(operand, Tensor) and operand.dtype.kind == "float"


def check_gradient_dtypes(operator: OpDef) -> None:
    """Every operand's gradient has its dtype and shape, also after broadcasting."""
    facts = operator.facts["pointwise"]
    rng = generator(operator)
    (base,) = _pointwise_samples(operator, tg.float64)
    for index, name in enumerate(facts.names):
        for dtype in (tg.float16, tg.float32, tg.float64):
            if not is_defined(operator, dtype) or name not in operator.vjp_rules:
                continue
            small = drawn(operator, name, dtype, rng, (1, 4))
            if small.dtype.kind != "f":
                continue
            operands = tensors(_with(base, index, small))
            operands[index].requires_grad_()
            if not _accepts(operator, operands):
                continue
            result = call(operator, operands, base.attributes)
            if not result.requires_grad:
                continue
            (gradient,) = tg.autograd.grad(
                result, operands[index], wrap(np.ones_like(result._array))
            )
            assert gradient.dtype is dtype
            assert gradient.shape == (1, 4)
            assert math.isfinite(float(np.abs(gradient._array).max()))


def _accepts(operator: OpDef, operands: list[Any]) -> bool:
    try:
        operator.abstract(
            *map(_spec, operands), **{p.name: p.default for p in operator.attributes}
        )
    except tg.errors.DTypeError:
        return False
    return True
