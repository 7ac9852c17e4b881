"""What holds for every kernel pair: it gives what the operator gives without it.

Each check raises AssertionError where it does not hold, as in `checks.py`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tracegrad as tg
from tests.ops.samples import Sample, leaves, parsed, results, samples, tensors
from tracegrad.device import run_quietly
from tracegrad.dispatch.bind import bind, bind_defined
from tracegrad.dispatch.entry import PairEntry, ResultEdge
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.tensor import Tensor, wrap

Bind = Callable[[OpDef, Any, Any], Any]
TOLERANCE = {tg.float64: 1e-11, tg.float32: 2e-5}


def check_pair(operator: OpDef) -> None:
    """Values, gradients and second derivatives are those of the definition."""
    for dtype, tolerance in TOLERANCE.items():
        served = [s for s in samples(operator, dtype) if _serves(operator, s)]
        assert served, f"{operator.name}: its kernel pair serves for no example"
        for sample in served:
            _check_kept(operator, sample)
            _check_planned(operator, sample)
            for tracked in _masks(operator, sample):
                _check_one(operator, sample, tracked, tolerance)


def _serves(operator: OpDef, sample: Sample) -> bool:
    pair = operator.pair
    assert pair is not None
    operands, attributes = parsed(operator, tensors(sample), sample.attributes)
    return pair.takes([*map(_array, operands)], attributes)


def _array(operand: Any) -> Any:
    return operand._array if isinstance(operand, Tensor) else operand


def _masks(operator: OpDef, sample: Sample) -> Iterator[tuple[bool, ...]]:
    """Yield which operands are tracked: all, and each alone."""
    operands, _ = parsed(operator, tensors(sample), sample.attributes)
    able = [isinstance(o, Tensor) and o._array.dtype.kind == "f" for o in operands]
    yield tuple(able)
    for index in range(len(able)):
        if able[index] and sum(able) > 1:
            yield tuple(i == index for i in range(len(able)))


def _check_one(
    operator: OpDef, sample: Sample, tracked: tuple[bool, ...], tolerance: float
) -> None:
    by_pair = _computed(operator, sample, tracked, bind)
    entry = by_pair[0][0].grad_fn
    is_pair = isinstance(_entry(by_pair[0][0]._node), PairEntry)
    assert is_pair, f"{operator.name}: {entry} is no entry of the kernel pair"
    defined = _computed(operator, sample, tracked, bind_defined)
    for one, other in zip(by_pair[0], defined[0], strict=True):
        assert one._array.strides == other._array.strides, operator.name
    names = ("results", "gradients", "gradients to differentiate", "second derivatives")
    for what, found, expected in zip(names, by_pair, defined, strict=True):
        for one, other in zip(found, expected, strict=True):
            _check_same(f"{operator.name}: {what}", one, other, tolerance)


def _check_planned(operator: OpDef, sample: Sample) -> None:
    """A call like one before goes by the pair too, and gives the same."""
    first, again = (
        results(operator.call(*tensors(sample, True), **sample.attributes))
        for _ in range(2)
    )
    for one, other in zip(first, again, strict=True):
        assert isinstance(_entry(other._node), PairEntry), operator.name
        np.testing.assert_array_equal(one._array, other._array)


def _entry(edge: Any) -> Any:
    return edge.entry if isinstance(edge, ResultEdge) else edge


def _check_same(what: str, found: Any, expected: Any, tolerance: float) -> None:
    assert (found is None) == (expected is None), what
    if found is None:
        return
    assert found.dtype is expected.dtype, what
    assert found._array.shape == expected._array.shape, what
    scale = float(np.max(np.abs(expected._array), initial=1.0))
    np.testing.assert_allclose(
        found._array,
        expected._array,
        rtol=tolerance,
        atol=tolerance * scale,
        err_msg=what,
    )


def _computed(
    operator: OpDef, sample: Sample, tracked: tuple[bool, ...], apply: Bind
) -> tuple[list[Any], ...]:
    """Return results, gradients, the same on the tape, and second derivatives."""
    given = tensors(sample.mapped(np.copy))
    operands, attributes = parsed(operator, given, sample.attributes)
    for operand, is_tracked in zip(operands, tracked, strict=True):
        if is_tracked:
            operand.requires_grad_()
    # One is made of another: then a derivative must not count a way twice.
    wanted = leaves(operands)
    scale = wanted[0].mean() if len(wanted) > 1 else 1.0
    mixed = [
        operand * (1 + 0.1 * scale) if t and operand is not wanted[0] else operand
        for operand, t in zip(operands, tracked, strict=True)
    ]
    found = results(apply(operator, mixed, attributes))
    loss = _projected(found)
    first = tg.autograd.grad(loss, wanted, retain_graph=True, allow_unused=True)
    again = tg.autograd.grad(loss, wanted, create_graph=True, allow_unused=True)
    projection: Any = _projected([g for g in again if g is not None])
    second: Any = [None for _ in wanted]
    if projection is not None and projection.requires_grad:
        second = tg.autograd.grad(projection, wanted, allow_unused=True)
    return found, _graph_free(first), _graph_free(again), _zeros_as_none(second)


def _graph_free(gradients: Any) -> list[Any]:
    return [None if g is None else g.detach() for g in gradients]


def _zeros_as_none(gradients: Any) -> list[Any]:
    """Return gradients, None for one that is 0 everywhere: either may be given."""
    return [
        None if g is None or not np.any(np.abs(g._array) > 1e-12) else g
        for g in gradients
    ]


def _projected(values: list[Any]) -> Any:
    """Return a number that is not linear in any of the values."""
    rng = np.random.default_rng(7)
    total: Any = None
    for value in values:
        if value.dtype.kind != "float":
            continue
        weight = rng.uniform(0.5, 1.5, value._array.shape)
        part = (value * value.sin() * wrap(weight.astype(value._array.dtype))).sum()
        total = part if total is None else total + part
    return total


def _check_kept(operator: OpDef, sample: Sample) -> None:
    """What shares memory is named in `reads`, and nothing is written or handed out."""
    pair = operator.pair
    assert pair is not None
    operands, attributes = parsed(operator, tensors(sample), sample.attributes)
    arrays = [_array(o) for o in operands]
    before = [np.copy(a) for a in arrays]
    made = run_quietly(pair.forward, *arrays, **attributes)
    assert made is not None, f"{operator.name}: its pair declines an example"
    value, saved = made
    outputs = [np.asarray(a) for a in (value if isinstance(value, tuple) else (value,))]
    kept = list(_arrays_in(saved, set()))
    memory = dict(zip([p.name for p in operator.operands], arrays, strict=True))
    for name, array in memory.items():
        shared = isinstance(array, np.ndarray) and _shares(array, kept)
        assert not shared or name in pair.reads, f"{operator.name}: reads lacks {name}"
        assert not _shares(array, outputs), f"{operator.name}: a result is an operand"
    shared = any(_shares(o, kept) for o in outputs)
    assert not shared or "out" in pair.reads, f"{operator.name}: reads lacks 'out'"
    able = tuple(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in arrays)
    cts = [np.ones_like(o) for o in outputs]
    held = [np.copy(a) for a in kept]
    found = run_quietly(pair.backward, saved, cts, able)
    for gradient in found:
        taken = isinstance(gradient, np.ndarray) and _shares(gradient, [*kept, *arrays])
        assert not taken, f"{operator.name}: a gradient shares what was saved"
    for one, other in zip([*before, *held], [*arrays, *kept], strict=True):
        np.testing.assert_array_equal(one, other, err_msg=operator.name)
    assert all(np.all(ct == 1) for ct in cts), f"{operator.name}: writes a cotangent"


def _shares(array: Any, others: list[Any]) -> bool:
    if not isinstance(array, np.ndarray):
        return False
    return any(np.may_share_memory(array, other) for other in others)


def _arrays_in(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the arrays in tuples, lists, dictionaries and attributes of an object."""
    if id(value) in seen or isinstance(value, type | str | np.dtype):
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
        return
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple):
        parts = list(value)
    else:
        parts = list(getattr(value, "__dict__", {}).values())
    for part in parts:
        yield from _arrays_in(part, seen)
