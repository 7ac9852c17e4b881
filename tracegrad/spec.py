"""What is known of a value without its data: the abstract values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final

from tracegrad.device import CPU, CUDA, Device
from tracegrad.dtypes import DType
from tracegrad.sizes import Dimension, Shape, contiguous_strides, numel, shape_text


@final
@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Dtype, shape, strides and device of a tensor.

    On the ``meta`` device a Tensor holds its spec in place of an array.

    Attributes
    ----------
    dtype : DType
    shape : tuple of int or SymbolicSize
    strides : tuple of int or SymbolicSize
        In elements; row-major if not given.
    device : Device
    """

    dtype: DType
    shape: Shape
    strides: Shape = field(default=())
    device: Device = CPU

    def __post_init__(self) -> None:
        if len(self.strides) != len(self.shape):
            object.__setattr__(self, "strides", contiguous_strides(self.shape))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> Dimension:
        """The number of elements."""
        return numel(self.shape)

    def with_dtype(self, dtype: DType) -> TensorSpec:
        """Return the same spec with another dtype."""
        return TensorSpec(dtype, self.shape, self.strides, self.device)

    def is_contiguous(self) -> bool:
        """Whether the strides are row-major (dimensions of size 1 do not matter)."""
        if any(size == 0 for size in self.shape):
            return True
        expected = contiguous_strides(self.shape)
        return all(
            size == 1 or have == want
            for size, have, want in zip(self.shape, self.strides, expected, strict=True)
        )

    def __str__(self) -> str:
        text = f"{self.dtype.code}{shape_text(self.shape)}"
        if not self.is_contiguous():
            text += f" strides{shape_text(self.strides)}"
        if self.device != CPU:
            text += f" @{self.device}"
        return text


ScalarKind: TypeAlias = Literal["bool", "int", "float", "complex"]


@final
@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A Python number that the program takes as an input; weak in promotion."""

    kind: ScalarKind

    def __str__(self) -> str:
        return self.kind


@final
@dataclass(frozen=True, slots=True)
class StateSpec:
    """The state of a random generator, threaded through the graph.

    Each value of this kind is used at most once: a draw takes a state and gives
    the next one.
    """

    engine: str = "mt19937"

    @property
    def device(self) -> Device:
        """Where it draws."""
        return CUDA if self.engine == "philox" else CPU

    def __str__(self) -> str:
        return f"state<{self.engine}>"


Spec: TypeAlias = TensorSpec | ScalarSpec | StateSpec


def elementwise_strides(shape: Shape, operands: list[TensorSpec]) -> Shape:
    """Return the strides of a fresh element-wise result.

    The result is dense and keeps the order of the operands' strides, as NumPy's
    order ``"K"`` does; where two operands disagree, row-major wins.
    """
    if all(spec.is_contiguous() for spec in operands):
        return contiguous_strides(shape)
    axes = _by_stride(shape, operands)
    strides: list[Dimension] = [0] * len(shape)
    step: Dimension = 1
    for axis in axes:
        strides[axis] = step
        step = step * (shape[axis] if shape[axis] != 0 else 1)
    return tuple(strides)


def _by_stride(shape: Shape, operands: list[TensorSpec]) -> list[int]:
    """Return the axes from the innermost to the outermost, by insertion.

    Source: the order of axes of NumPy's iterator (``npyiter_sort_axes``).
    """
    axes: list[int] = []
    for axis in reversed(range(len(shape))):
        place = len(axes)
        for position in reversed(range(len(axes))):
            inside = _goes_inside(axis, axes[position], shape, operands)
            if inside is False:
                break
            if inside:
                place = position
        axes.insert(place, axis)
    return axes


def _goes_inside(
    axis: int, other: int, shape: Shape, operands: list[TensorSpec]
) -> bool | None:
    """Return whether `axis` belongs inside a later one; None if nothing says."""
    inside: bool | None = None
    for spec in operands:
        a, b = (_step(spec, i - len(shape) + spec.ndim) for i in (axis, other))
        if a == 0 or b == 0:
            continue
        if abs_size(b) <= abs_size(a):
            return False
        inside = True
    return inside


def _step(spec: TensorSpec, axis: int) -> Dimension:
    """Return the stride of an axis, 0 where the operand repeats along it."""
    return 0 if axis < 0 or spec.shape[axis] == 1 else spec.strides[axis]


def abs_size(size: Dimension) -> int:
    """Return the magnitude of a stride; symbolic ones count as large."""
    return abs(size) if isinstance(size, int) else 1 << 62
