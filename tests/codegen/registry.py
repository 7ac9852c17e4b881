"""Every pointwise operator as a node, several to a kernel, by dtype."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.codegen.c_family.problems import problem_of
from tracegrad.codegen.kernel import kernel_of
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dtypes import DType, bool_, from_numpy_dtype
from tracegrad.errors import TracegradError
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.fused import fused
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.spec import TensorSpec

Array = np.ndarray[Any, Any]
SIZE = 45
# More would take registers that a thread does not have.
PER_KERNEL = 24
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, 2.0)


@dataclass(frozen=True)
class Application:
    """An operator, and the operands it is tried on."""

    operator: OpDef
    operands: tuple[Array, ...]
    attributes: dict[str, Any]


def pointwise_operators() -> list[OpDef]:
    assert callable(tg.add), "importing the package fills the registry"
    return sorted(
        (o for o in OPERATORS.values() if "pointwise" in o.facts), key=lambda o: o.name
    )


def applications(dtype: DType, rng: np.random.Generator) -> Iterator[Application]:
    """Every operator that is defined for operands of `dtype`, and may be a kernel."""
    for operator in pointwise_operators():
        attributes = _attributes(operator)
        if attributes is None:
            continue
        arrays = operands(operator, dtype, rng)
        for changed in (arrays, (arrays[0].astype(bool), *arrays[1:])):
            application = Application(operator, changed, attributes)
            if _is_defined(application):
                yield application
                break


def _attributes(operator: OpDef) -> dict[str, Any] | None:
    """Its attributes' defaults; None if one has none."""
    found = {a.name: a.default for a in operator.attributes}
    return None if inspect.Parameter.empty in found.values() else found


def _is_defined(application: Application) -> bool:
    specs = [TensorSpec(dtype_of(a), a.shape) for a in application.operands]
    try:
        application.operator.abstract(*specs, **application.attributes)
    except TracegradError:
        return False
    body = kernel_graph([application]).nodes[0].attribute("graph")
    kernel = kernel_of("one", body)
    return kernel is not None and problem_of(kernel) is None


def dtype_of(array: Array) -> DType:
    return from_numpy_dtype(array.dtype)


def operands(
    operator: OpDef, dtype: DType, rng: np.random.Generator
) -> tuple[Array, ...]:
    """Operands in the operator's domain, and what is special."""
    domain = operator.facts["pointwise"].domain
    found = []
    for operand in operator.operands:
        low, high = domain if isinstance(domain, tuple) else domain[operand.name]
        found.append(sample(dtype, low, high, rng))
    return tuple(found)


def sample(
    dtype: DType,
    low: float,
    high: float,
    rng: np.random.Generator,
    without_special: bool = False,
) -> Array:
    if dtype is bool_:
        return rng.integers(0, 2, SIZE).astype(bool)
    if dtype.kind == "int":
        limits = np.iinfo(dtype.numpy)
        edges = [limits.min, limits.max, 0, 1, limits.max - 1]
        inside = rng.integers(-9 if dtype.signed else 0, 10, SIZE - len(edges))
        return rng.permutation(np.array([*edges, *inside], dtype.numpy))
    values = rng.uniform(low, high, SIZE)
    if dtype.kind == "complex":
        values = values + 1j * rng.uniform(low, high, SIZE)
        return values.astype(dtype.numpy)
    if not without_special:
        values[: len(SPECIAL)] = SPECIAL
    return rng.permutation(values).astype(dtype.numpy)


def kernel_graph(applications: Sequence[Application]) -> Graph:
    """A graph of kernels, each of which computes several of them."""
    parts = [
        _one_kernel(applications[i : i + PER_KERNEL], i)
        for i in range(0, len(applications), PER_KERNEL)
    ]
    inputs = tuple(v for part in parts for v in part.operands())
    outputs = tuple(v for part in parts for v in part.results)
    return Graph("everything", inputs, tuple(parts), outputs)


def _one_kernel(applications: Sequence[Application], number: int) -> Node:
    builder = GraphBuilder(f"everything_{number}")
    outer = []
    for application in applications:
        stand_ins = [
            builder.input("x", TensorSpec(dtype_of(a), a.shape))
            for a in application.operands
        ]
        outer += [Value(f"{v.name}_{number}", v.spec) for v in stand_ins]
        name = application.operator.name
        builder.node(
            application.operator, tuple(stand_ins), application.attributes, hint=name
        )
    outputs = [n.result for n in builder.nodes]
    body = builder.finish(outputs)
    results = tuple(Value(f"{v.name}_{number}", v.spec) for v in outputs)
    return Node(fused, (tuple(outer),), (("graph", body),), results)


def arrays_of(applications: Sequence[Application]) -> list[Array]:
    """The inputs of their `kernel_graph`."""
    return [a for application in applications for a in application.operands]
