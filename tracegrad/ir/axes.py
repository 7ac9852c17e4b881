"""How the values of a kernel lie on its iteration domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, final

from tracegrad.ir.graph import Node, Value
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec

# For each dimension of a value the domain's axis it runs along; None for a
# dimension of size 1 that runs along none.
Axes: TypeAlias = tuple[int | None, ...]


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """The points a kernel visits.

    Attributes
    ----------
    shape : tuple
    reduced : tuple of int or None
        The axes its reductions fold away; None while it has no reduction.
    """

    shape: Shape
    reduced: tuple[int, ...] | None = None

    def full_axes(self) -> Axes:
        """Return the axes of a full-size value."""
        return tuple(range(len(self.shape)))

    def is_full(self, axes: Axes) -> bool:
        """Return whether a value with `axes` has an element for each point."""
        return all(s == 1 or a in axes for a, s in enumerate(self.shape))

    def is_row(self, axes: Axes) -> bool:
        """Return whether a value has an element for each point outside `reduced`."""
        if self.reduced is None:
            return False
        return all(
            s == 1 or (a in axes) != (a in self.reduced)
            for a, s in enumerate(self.shape)
        )


def start_domain(nodes: Iterable[Node], shape: Shape) -> Domain:
    """Return the domain of `shape` with the axes that the nodes' reductions fold.

    Known from the start, so that values of rows are recognized wherever they stand.
    """
    for node in nodes:
        if "reduction" not in node.operator.facts:
            continue
        operand = node.inputs[0]
        if isinstance(operand, Value) and _shape(operand) == shape:
            dims = node.attribute("dim")
            return Domain(shape, tuple(d for d in sorted(dims) if shape[d] != 1))
    return Domain(shape)


def add_node(node: Node, domain: Domain, axes: dict[Value, Axes]) -> Domain | str:
    """Give `node`'s values their axes; return the domain, or why it does not fit.

    Parameters
    ----------
    node : Node
    domain : Domain
    axes : dict
        Of the values placed so far; operands from outside are added as they are met.
    """
    operator = node.operator
    if operator.family == "pointwise" or operator.facts.get("broadcasts"):
        return _add_pointwise(node, domain, axes)
    if operator.family == "reduction":
        return _add_reduction(node, domain, axes)
    if operator.is_view:
        return _add_view(node, domain, axes)
    return f"{operator.name} is no part of a fused kernel"


def _shape(value: Value) -> Shape:
    assert isinstance(value.spec, TensorSpec)
    return value.spec.shape


def _tensors(node: Node) -> list[Value]:
    return [v for v in node.operands() if isinstance(v.spec, TensorSpec)]


def _add_pointwise(node: Node, domain: Domain, axes: dict[Value, Axes]) -> Domain | str:
    shape = _shape(node.result)
    own: Axes | None = domain.full_axes() if shape == domain.shape else None
    if own is None:
        own = _aligned_from_operands(node, shape, axes)
    if own is None:
        own = _aligned_by_shape(shape, domain)
    if own is None or not (domain.is_full(own) or domain.is_row(own)):
        return (
            f"{node.operator.name} runs over {list(shape)}, the kernel over "
            f"{list(domain.shape)}"
        )
    for operand in _tensors(node):
        wanted = _right_aligned(own, _shape(operand))
        if axes.setdefault(operand, wanted) != wanted and not _agree(
            axes[operand], wanted, _shape(operand)
        ):
            return f"{operand} lies otherwise on the kernel's axes"
    axes[node.result] = own
    return domain


def _agree(have: Axes, want: Axes, shape: Shape) -> bool:
    return all(s == 1 or a == b for a, b, s in zip(have, want, shape, strict=True))


def _right_aligned(axes: Axes, shape: Shape) -> Axes:
    shift = len(axes) - len(shape)
    return tuple(None if s == 1 else axes[i + shift] for i, s in enumerate(shape))


def _aligned_from_operands(
    node: Node, shape: Shape, axes: dict[Value, Axes]
) -> Axes | None:
    """Return the axes of a smaller result, from operands that have theirs."""
    found: list[int | None] = [None] * len(shape)
    for operand in _tensors(node):
        known = axes.get(operand)
        if known is None:
            continue
        shift = len(shape) - len(known)
        for i, axis in enumerate(known):
            if axis is not None and found[i + shift] is None:
                found[i + shift] = axis
    if any(s != 1 and a is None for s, a in zip(shape, found, strict=True)):
        return None
    return tuple(found)


def _aligned_by_shape(shape: Shape, domain: Domain) -> Axes | None:
    """Return the axes of a value of rows with all dimensions, met before its users."""
    if len(shape) != len(domain.shape):
        return None
    if any(s not in (1, d) for s, d in zip(shape, domain.shape, strict=True)):
        return None
    return _right_aligned(domain.full_axes(), shape)


def _add_reduction(node: Node, domain: Domain, axes: dict[Value, Axes]) -> Domain | str:
    operand = node.inputs[0]
    assert isinstance(operand, Value)
    own = axes.get(operand)
    if own is None and _shape(operand) == domain.shape:
        own = domain.full_axes()
    if own is None or not domain.is_full(own):
        return (
            f"{node.operator.name} reduces {list(_shape(operand))}, not the kernel's "
            f"{list(domain.shape)}"
        )
    dims = node.attribute("dim")
    reduced = tuple(
        sorted(a for d in dims if (a := own[d]) is not None and domain.shape[a] != 1)
    )
    if domain.reduced is not None and domain.reduced != reduced:
        return (
            f"{node.operator.name} reduces axes {list(reduced)}, the kernel "
            f"{list(domain.reduced)}"
        )
    axes.setdefault(operand, own)
    kept = node.attribute("keepdim")
    axes[node.result] = tuple(
        None if d in dims else a for d, a in enumerate(own) if kept or d not in dims
    )
    return Domain(domain.shape, reduced)


def _add_view(node: Node, domain: Domain, axes: dict[Value, Axes]) -> Domain | str:
    """Place a view that only adds or drops dimensions of size 1."""
    operand = node.inputs[0]
    assert isinstance(operand, Value)
    own = axes.get(operand)
    if own is None:
        return f"{node.operator.name} of a value from outside the kernel"
    before, after = _shape(operand), _shape(node.result)
    large = [a for a, s in zip(own, before, strict=True) if s != 1]
    sizes = [s for s in before if s != 1]
    same = sizes == [s for s in after if s != 1]
    if not same or not node.operator.facts.get("shape_only"):
        return f"{node.operator.name} changes the order or the shape"
    rest = iter(large)
    axes[node.result] = tuple(None if s == 1 else next(rest) for s in after)
    return domain
