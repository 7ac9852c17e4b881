"""Where the elements of an array lie, as expressions of a kernel's loop variables.

A *space* is a group of the domain's axes that one linear variable runs over: all of
them in a pointwise kernel; the kept and the reduced ones in a reduction. Neighbouring
axes that all arrays step through alike are joined, so that a dense array is read at
``i`` and not at ``i / 8 % 4 * 8 + i % 8``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

from tracegrad.errors import CompileError
from tracegrad.ir.axes import Axes
from tracegrad.sizes import Dimension
from tracegrad.spec import TensorSpec

# Indices are int while no sum of an index and a launch's width leaves it.
INT_LIMIT = (1 << 31) - (1 << 24)


def whole(size: Dimension) -> int:
    """Return a size that is known.

    Raises
    ------
    CompileError
        If it is symbolic.
    """
    if isinstance(size, int):
        return size
    raise CompileError(
        f"a kernel needs sizes that are known, not {size}; call with a concrete shape"
    )


def domain_strides(
    spec: TensorSpec, strides: Sequence[int], axes: Axes, ndim: int
) -> tuple[int, ...]:
    """Return how many elements an array steps by along each axis of the domain.

    Zero where the array has no dimension along the axis, or one of size 1.
    """
    found = [0] * ndim
    for size, stride, axis in zip(spec.shape, strides, axes, strict=True):
        if axis is not None and size != 1:
            found[axis] += stride
    return tuple(found)


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return the largest distance of an element from the first, either way."""
    return sum((s - 1) * abs(t) for s, t in zip(shape, strides, strict=True) if s > 0)


@final
class Space:
    """A linear variable over some of the domain's axes.

    Parameters
    ----------
    variable : str
        Its name in the source.
    axes : sequence of int
        From the outermost to the innermost.
    sizes : sequence of int
        Of all the domain's axes.
    arrays : sequence of tuple of int
        The strides, on the domain's axes, of the arrays that are accessed.

    Attributes
    ----------
    size : int
        How many points it has.
    """

    def __init__(
        self,
        variable: str,
        axes: Sequence[int],
        sizes: Sequence[int],
        arrays: Sequence[tuple[int, ...]],
    ) -> None:
        self.variable = variable
        self.axes = tuple(axes)
        self.size = math.prod(sizes[a] for a in axes)
        self._groups = _joined([a for a in axes if sizes[a] != 1], sizes, arrays)
        self._sizes = [math.prod(sizes[a] for a in group) for group in self._groups]
        self._parts: dict[int, str] = {}

    def offset(self, strides: tuple[int, ...]) -> list[str]:
        """Return the terms of an array's offset that depend on this variable."""
        steps = [strides[group[-1]] for group in self._groups]
        if not any(steps):
            return []
        if steps == [steps[-1] * n for n in _inner(self._sizes)]:
            return [_times(self.variable, steps[-1])]
        return [_times(self._part(k), step) for k, step in enumerate(steps) if step]

    def parts(self) -> list[tuple[str, str]]:
        """Return the indices that offsets use, as (name, expression)."""
        return [(name, self._expression(k)) for k, name in sorted(self._parts.items())]

    def _part(self, group: int) -> str:
        if len(self._groups) == 1:
            return self.variable
        return self._parts.setdefault(group, f"{self.variable}_{group}")

    def _expression(self, group: int) -> str:
        inner = _inner(self._sizes)[group]
        text = self.variable if inner == 1 else f"{self.variable} / {inner}"
        return text if group == 0 else f"{text} % {self._sizes[group]}"


def _inner(sizes: Sequence[int]) -> list[int]:
    """Return for each group how many points the groups after it have."""
    return [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]


def _times(name: str, step: int) -> str:
    return name if step == 1 else f"{name} * {step}"


def _joined(
    axes: Sequence[int], sizes: Sequence[int], arrays: Sequence[tuple[int, ...]]
) -> list[list[int]]:
    groups: list[list[int]] = []
    for axis in axes:
        if groups and all(s[groups[-1][-1]] == s[axis] * sizes[axis] for s in arrays):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups
