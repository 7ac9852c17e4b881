"""Random graphs over the registry's operators, valid by construction.

Each node's results are what abstract eval gives; what an operator refuses is tried
again with other operands. Diamonds, several outputs, reductions between pointwise
operators, views and random draws all occur.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from typing import Any, final

import numpy as np

import tracegrad as tg
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import DType, bool_, float16, float32, float64, int32, int64
from tracegrad.errors import TracegradError
from tracegrad.ir import (
    BindGrad,
    Check,
    Graph,
    Value,
    WriteState,
    WriteStorage,
)
from tracegrad.ir.builder import GraphBuilder, result_specs
from tracegrad.location import Location
from tracegrad.sizes import numel
from tracegrad.spec import Spec, StateSpec, TensorSpec

DTYPES = (float32, float32, float32, float64, float16, int64, int32, bool_)
NUMBERS = (2, 0.5, -1.0, 0, 1, 3.0, True)
LARGEST = 96
HARD = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    float("inf"),
    float("-inf"),
    float("nan"),
    1e-42,
    3.5e-310,
)


@final
class RandomGraphs:
    """Makes one random graph after another from a source of randomness."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        # One family is as likely as another, however many operators it has.
        self._families: dict[str, list[OpDef]] = {}
        for operator in OPERATORS.values():
            if _maker_for(operator) is not None:
                self._families.setdefault(operator.family, []).append(operator)
        self._pool: list[Value] = []
        self._state: Value | None = None
        self._may_raise = False

    def graph(self, nodes: int) -> Graph:
        """Return a graph of about `nodes` nodes."""
        rng = self._rng
        self._builder = GraphBuilder("random")
        self._pool = [self._input() for _ in range(rng.randint(1, 3))]
        self._state = None
        self._may_raise = rng.random() < 0.3
        if rng.random() < 0.3:
            self._state = self._builder.input("rng", StateSpec())
        if rng.random() < 0.5:
            self._constant()
        for _ in range(nodes):
            self._add_node()
        return self._finish()

    def _input(self) -> Value:
        shape = self._shape()
        spec = TensorSpec(self._rng.choice(DTYPES), shape)
        if len(shape) == 2 and self._rng.random() < 0.3:
            spec = TensorSpec(spec.dtype, shape, (1, shape[0]))
        floating = spec.dtype.kind == "float"
        return self._builder.input("x", spec, floating and self._rng.random() < 0.3)

    def _shape(self) -> tuple[int, ...]:
        return tuple(
            self._rng.choice((1, 2, 3, 4)) for _ in range(self._rng.randint(0, 3))
        )

    def _constant(self) -> None:
        array = np.asarray(self._rng.choices(HARD, k=3), self._rng.choice(("f4", "f8")))
        dtype = float32 if array.itemsize == 4 else float64
        spec = TensorSpec(dtype, (3,))
        self._pool.append(self._builder.constant("table", spec, array))

    def _add_node(self) -> None:
        if self._builder.nodes and self._rng.random() < 0.15 and self._repeat():
            return
        for _ in range(20):
            family = "pointwise"
            if self._rng.random() < 0.5:
                family = self._rng.choice(list(self._families))
            operator = self._rng.choice(self._families[family])
            if operator.may_raise and not self._may_raise:
                continue
            proposal = _maker_for(operator)(self, operator)
            if proposal is not None and self._try(operator, *proposal):
                return

    def _repeat(self) -> bool:
        """Add a node that is there already, as users do."""
        node = self._rng.choice(self._builder.nodes)
        if node.operator.is_random:
            return False
        return self._try(node.operator, node.inputs, dict(node.attributes))

    def _try(self, operator: OpDef, inputs: Any, attributes: dict[str, Any]) -> bool:
        try:
            specs = result_specs(operator, inputs, attributes)
        # The operators' own tests hold them to tracegrad's errors.
        except (TracegradError, IndexError, TypeError, ValueError, AttributeError):
            return False
        if any(isinstance(s, TensorSpec) and not _is_known(s) for s in specs):
            return False
        results = self._builder.node(
            operator, inputs, attributes, self._location(), self._scope(), specs=specs
        )
        for value in results:
            if isinstance(value.spec, StateSpec):
                self._state = value
            elif numel(value.spec.shape) <= LARGEST:  # type: ignore[operator, union-attr]
                self._pool.append(value)
        return True

    def _location(self) -> Location | None:
        files = ("model.py", "my model.py", "<stdin>", "a#b.py", "ü'.py")
        if self._rng.random() < 0.3:
            return None
        return Location(self._rng.choice(files), self._rng.randint(0, 999))

    def _scope(self) -> str:
        return self._rng.choice(("", "", "softmax"))

    # -- makers: proposals of operands and attributes --------------------------

    def value(self) -> Value:
        """Return a value, more often a recent one."""
        if self._rng.random() < 0.6:
            return self._rng.choice(self._pool[-8:])
        return self._rng.choice(self._pool)

    def like(self, value: Value) -> Value:
        """Return a value that probably broadcasts with `value`."""
        same = [v for v in self._pool if v.spec.shape == value.spec.shape]  # type: ignore[union-attr]
        return self._rng.choice(same) if self._rng.random() < 0.7 else self.value()

    def pointwise(self, operator: OpDef) -> Any:
        """Propose operands, now and then a number."""
        first = self.value()
        inputs: list[Any] = [first]
        for _ in operator.operands[1:]:
            number = self._rng.random() < 0.25
            inputs.append(self._rng.choice(NUMBERS) if number else self.like(first))
        if len(inputs) > 1 and self._rng.random() < 0.5:
            inputs.reverse()
        attributes = {p.name: self._plain(p) for p in operator.attributes}
        return None if None in attributes.values() else (tuple(inputs), attributes)

    def _plain(self, attribute: Any) -> Any:
        if attribute.annotation == "DType":
            return self._rng.choice(DTYPES)
        return attribute.default if isinstance(attribute.default, bool) else None

    def reduction(self, operator: OpDef) -> Any:
        """Propose dimensions to reduce."""
        value = self.value()
        rank = len(value.spec.shape)  # type: ignore[union-attr]
        dims = tuple(d for d in range(rank) if self._rng.random() < 0.6)
        known: dict[str, Any] = {
            "dim": dims if operator.family == "reduction" else rank - 1,
            "keepdim": self._rng.random() < 0.5,
            "dtype": None,
        }
        return self._with(operator, value, known)

    def view(self, operator: OpDef) -> Any:
        """Propose a view, brought to the form that the operator calls canonical."""
        value = self.value()
        shape = value.spec.shape  # type: ignore[union-attr]
        return self._with(operator, value, self._view_attributes(operator, shape))

    def _view_attributes(self, operator: OpDef, shape: Any) -> dict[str, Any]:
        rng, rank = self._rng, len(shape)
        dims = list(range(rank))
        rng.shuffle(dims)
        dim = rng.randrange(max(rank, 1))
        size = shape[dim] if rank else 1
        targets = {
            "view": rng.choice(
                ((-1,), (1, -1), (2, -1), tuple(reversed(shape)), shape)
            ),
            "expand": (rng.choice((1, 2)), *(s if s > 1 else 2 for s in shape)),
        }
        return {
            "dims": tuple(dims),
            "dim0": rng.randrange(max(rank, 1)),
            "dim1": dim,
            "dim": dim,
            "index": rng.randrange(max(size, 1)),
            "start": rng.choice((None, 0, 1)),
            "stop": rng.choice((None, size)),
            "step": rng.choice((1, 2, -1)),
            "shape": targets.get(operator.name, shape),
            "size": targets.get(operator.name, shape),
        }

    def _with(self, operator: OpDef, value: Value, known: dict[str, Any]) -> Any:
        names = [p.name for p in operator.attributes]
        if len(operator.operands) != 1 or not known.keys() >= set(names):
            return None
        return self._canonical(operator, (value,), {n: known[n] for n in names})

    def contraction(self, operator: OpDef) -> Any:
        """Propose two operands."""
        matrices = [v for v in self._pool if len(v.spec.shape) >= 2]  # type: ignore[union-attr]
        if not matrices or operator.attributes or len(operator.operands) != 2:
            return None
        first = self._rng.choice(matrices)
        rows = first.spec.shape[-1]  # type: ignore[union-attr]
        fitting = [v for v in matrices if v.spec.shape[-2] == rows]  # type: ignore[union-attr]
        return (first, self._rng.choice(fitting or matrices)), {}

    def draw(self, operator: OpDef) -> Any:
        """Propose a draw, if the graph has a generator."""
        names = [p.name for p in operator.attributes]
        if self._state is None or names != ["shape", "dtype", "low", "high"]:
            return None
        low, high = (0, 5) if operator.attributes[2].annotation == "int" else (0.0, 1.0)
        known = {"shape": self._shape(), "dtype": float32, "low": low, "high": high}
        return (self._state,), known

    def general(self, operator: OpDef) -> Any:
        """Propose operands of one shape, and attributes that are known or default."""
        first = self.value()
        rank = len(first.spec.shape)  # type: ignore[union-attr]
        known = {
            "dim": self._rng.randrange(max(rank, 1)),
            "dims": tuple(range(rank)),
            "keepdim": self._rng.random() < 0.5,
            "dtype": None,
        }
        same = [v for v in self._pool if v.spec.shape == first.spec.shape]  # type: ignore[union-attr]
        inputs = [self._operand(operand.kind, same) for operand in operator.operands]
        attributes = {p.name: known.get(p.name, p.default) for p in operator.attributes}
        several = any(isinstance(operand, tuple) for operand in inputs)
        if not inputs or inspect.Parameter.empty in attributes.values():
            return None
        if several and "dims" in attributes:
            # As many dimensions as indices: advanced indexing has its own tests.
            return None
        return self._canonical(operator, tuple(inputs), attributes)

    def _operand(self, kind: str, same: list[Value]) -> Any:
        if kind == "tensors":
            return tuple(self._rng.choices(same, k=self._rng.randint(1, 3)))
        if kind == "optional" and self._rng.random() < 0.5:
            return None
        return self._rng.choice(same)

    def _canonical(self, operator: OpDef, inputs: Any, attributes: Any) -> Any:
        canonical = operator.facts.get("canonical")
        try:
            if canonical is not None:
                attributes = canonical(tuple(map(_spec_only, inputs)), attributes)
        # The operators' own tests hold them to tracegrad's errors.
        except (TracegradError, IndexError, TypeError, ValueError):
            return None
        return inputs, attributes

    def view_write(self, operator: OpDef) -> Any:
        """Propose a value written through a view that is there."""
        views = [
            n for n in self._builder.nodes if n.operator.is_view and len(n.inputs) == 1
        ]
        if not views:
            return None
        node = self._rng.choice(views)
        path = ((node.operator, node.attributes, 0),)
        result = self._rng.choice(
            [v for v in self._pool if v.spec == node.result.spec] or [None]
        )
        if result is None or len(node.results) > 1 or _overlaps(result.spec):
            return None
        return (node.inputs[0], result), {"path": path}

    # -- what follows the nodes ------------------------------------------------

    def _finish(self) -> Graph:
        rng, builder = self._rng, self._builder
        outputs = [self.value() for _ in range(rng.randint(0, 3))]
        for value in builder.inputs:
            self._maybe_write(value)
        flags = [v for v in self._pool if numel(v.spec.shape) == 1]  # type: ignore[union-attr]
        if flags and rng.random() < 0.3:
            builder.checks.append(Check(rng.choice(flags), True, self._location()))
        return builder.finish(outputs)

    def _maybe_write(self, target: Value) -> None:
        rng, writes = self._rng, self._builder.writes
        if isinstance(target.spec, StateSpec):
            if self._state is not None and self._state is not target:
                writes.append(WriteState(target, self._state, self._location()))
            return
        same = [v for v in self._pool if _same_kind(v.spec, target.spec)]
        if rng.random() < 0.3:
            bumps = rng.randint(1, 3)
            writes.append(
                WriteStorage(target, rng.choice(same), bumps, self._location())
            )
        if rng.random() < 0.2:
            writes.append(BindGrad(target, rng.choice([None, *same]), self._location()))


def _is_known(spec: TensorSpec) -> bool:
    """Whether the shape does not depend on the values of operands."""
    return all(isinstance(size, int) for size in spec.shape)


def _same_kind(a: Spec, b: TensorSpec) -> bool:
    return isinstance(a, TensorSpec) and (a.dtype, a.shape) == (b.dtype, b.shape)


def _overlaps(spec: Any) -> bool:
    return any(s == 0 and n > 1 for n, s in zip(spec.shape, spec.strides, strict=True))


def _spec_only(operand: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_spec_only, operand))
    return wrap(operand.spec) if isinstance(operand, Value) else operand


def _maker_for(operator: OpDef) -> Any:
    if operator.name == "view_write":
        return RandomGraphs.view_write
    if operator.family in ("composite", "movement", "library", "gather"):
        return RandomGraphs.general
    return {
        "pointwise": RandomGraphs.pointwise,
        "reduction": RandomGraphs.reduction,
        "view": RandomGraphs.view,
        "contraction": RandomGraphs.contraction,
        "random": RandomGraphs.draw,
        "scan": RandomGraphs.reduction,
    }.get(operator.family)


def random_graph(seed: int, nodes: int) -> Graph:
    """Return the random graph of a seed."""
    return RandomGraphs(random.Random(f"{seed} {nodes}")).graph(nodes)


def random_graphs(seed: int, count: int) -> Iterator[Graph]:
    """Yield `count` random graphs of 1 to 40 nodes."""
    for index in range(count):
        yield random_graph(1000 * seed + index, 1 + (7 * index) % 40)


# -- running them --------------------------------------------------------------


def random_inputs(graph: Graph, seed: int) -> list[Any]:
    """Return inputs for `graph`, among them numbers that are hard to get right."""
    rng = np.random.default_rng(seed)
    return [_random_input(value.spec, rng) for value in graph.inputs]


def _random_input(spec: Spec, rng: np.random.Generator) -> Any:
    if isinstance(spec, StateSpec):
        return tg.Generator().manual_seed(int(rng.integers(1 << 30)))
    if not isinstance(spec, TensorSpec):
        return {"bool": True, "int": 3, "float": 0.25, "complex": 1j}[spec.kind]
    return wrap(laid_out_like(hard_elements(spec.dtype, int(spec.size), rng), spec))


def hard_elements(dtype: DType, count: int, rng: np.random.Generator) -> Any:
    """Return `count` elements, about a third of them hard."""
    plain = rng.normal(size=count) * 3
    if dtype.kind in ("bool", "int"):
        return rng.integers(-4 if dtype.signed else 0, 5, count).astype(dtype.numpy)
    hard = rng.choice(np.asarray(HARD), count)
    mixed = np.where(rng.random(count) < 0.3, hard, plain)
    return mixed.astype(dtype.numpy)


def laid_out_like(elements: Any, spec: TensorSpec) -> Any:
    """Return `elements` with the shape and the (dense) strides of `spec`."""
    order = sorted(range(spec.ndim), key=lambda d: (-int(spec.strides[d]), d))
    shape = [int(spec.shape[d]) for d in order]
    back = np.argsort(order) if order else ()
    return elements.reshape(shape).transpose(back)


def differences(before: list[Any], after: list[Any]) -> list[str]:
    """Say where two lists of results differ; NaN equals NaN, -0.0 differs from 0.0."""
    if len(before) != len(after):
        return [f"{before} became {after}"]
    return [
        f"result {i}: {a!r} became {b!r}"
        for i, (a, b) in enumerate(zip(before, after, strict=True))
        if not same_bits(a, b)
    ]


def same_bits(a: Any, b: Any) -> bool:
    """Whether two results agree in dtype, shape, layout and every bit but NaNs'."""
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return type(a) is type(b) and a == b
    x, y = a._array, b._array
    if (x.dtype, x.shape) != (y.dtype, y.shape) or not _same_strides(x, y):
        return False
    nan = x != x
    if not np.array_equal(nan, y != y):
        return False
    return np.where(nan, 0, x).tobytes() == np.where(nan, 0, y).tobytes()


def _same_strides(x: Any, y: Any) -> bool:
    return x.size == 0 or all(
        n == 1 or s == t for n, s, t in zip(x.shape, x.strides, y.strides, strict=True)
    )
