"""New tensors from shapes and numbers; what is made of data is in `conversion`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from tracegrad.device import CPU, Device, resolved
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.dtypes import DType, dtype_of_scalar, float64, get_default_dtype
from tracegrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from tracegrad.ops._arrays import cast_array
from tracegrad.ops._families import primitive
from tracegrad.ops._pointwise import wrapped_scalar
from tracegrad.sizes import Dimension, Shape, SymbolicSize, contiguous_strides
from tracegrad.spec import TensorSpec, abs_size

Where: TypeAlias = Device | str | None


def device_of(where: Where) -> Device:
    """Return the device called `where`, the CPU for None."""
    return CPU if where is None else resolved(where)


def shape_of(size: Sequence[Any]) -> Shape:
    """Return the shape meant by ``f(2, 3)`` or ``f((2, 3))``.

    Raises
    ------
    ArgumentTypeError
        If a size is no integer.
    """
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = size[0]
    return tuple(map(_dimension, size))


def _dimension(size: Any) -> Dimension:
    if size.__class__ is not bool:
        if isinstance(size, int | SymbolicSize):
            return size
        if hasattr(type(size), "__index__"):
            return int(size.__index__())
    raise ArgumentTypeError(
        f"a size must be an integer, not {size!r} ({type(size).__name__})"
    )


# -- full, empty --------------------------------------------------------------------


def check_sizes(name: str, size: Shape) -> None:
    """Refuse a shape with negative sizes."""
    if any(isinstance(s, int) and s < 0 for s in size):
        raise ShapeError(f"{name}: a shape has no negative sizes: {list(size)}")


def _full_abstract(
    size: Shape, fill_value: complex, dtype: DType, device: Device
) -> TensorSpec:
    check_sizes("full", size)
    return TensorSpec(dtype, size, (), device)


def _full_kernel(
    xp: Any, size: Shape, fill_value: complex, dtype: DType, device: Device
) -> Any:
    return xp.full(size, wrapped_scalar(fill_value, dtype), dtype=dtype.numpy)


@primitive(
    "creation",
    name="full",
    abstract=_full_abstract,
    kernel=_full_kernel,
    numpy="np.full({size}, {fill_value}, {dtype})",
    examples=lambda rng: [(((2, 3), 1.5, float64), {})],
    public=False,
    method=False,
)
def filled(
    size: Shape, fill_value: complex, dtype: DType, device: Device = CPU
) -> Tensor:
    """A tensor of one number."""


def _empty_abstract(size: Shape, dtype: DType, device: Device) -> TensorSpec:
    check_sizes("empty", size)
    return TensorSpec(dtype, size, (), device)


@primitive(
    "creation",
    name="empty",
    abstract=_empty_abstract,
    kernel=lambda xp, size, dtype, device: xp.empty(size, dtype=dtype.numpy),
    examples=lambda rng: [(((2, 0), float64), {})],
    public=False,
    method=False,
)
def uninitialised(size: Shape, dtype: DType, device: Device = CPU) -> Tensor:
    """A tensor of whatever the memory holds."""


def _ordered_abstract(
    size: Shape,
    fill_value: complex,
    order: tuple[int, ...],
    dtype: DType,
    device: Device,
) -> TensorSpec:
    inner = contiguous_strides(tuple(size[d] for d in order))
    strides: list[Dimension] = [0] * len(size)
    for place, dim in enumerate(order):
        strides[dim] = inner[place]
    return TensorSpec(dtype, size, tuple(strides), device)


def _ordered_kernel(
    xp: Any,
    size: Shape,
    fill_value: complex,
    order: tuple[int, ...],
    dtype: DType,
    device: Device,
) -> Any:
    sizes = [size[d] for d in order]
    array = xp.full(sizes, wrapped_scalar(fill_value, dtype), dtype=dtype.numpy)
    return xp.transpose(array, [order.index(d) for d in range(len(order))])


@primitive(
    "creation",
    name="full_ordered",
    abstract=_ordered_abstract,
    kernel=_ordered_kernel,
    examples=lambda rng: [(((2, 3, 4), 1.5, (2, 0, 1), float64), {})],
    public=False,
    method=False,
)
def filled_ordered(
    size: Shape,
    fill_value: complex,
    order: tuple[int, ...],
    dtype: DType,
    device: Device = CPU,
) -> Tensor:
    """A tensor of one number whose memory holds the dimensions in another order."""


def _tracked(result: Tensor, requires_grad: bool) -> Tensor:
    return result.requires_grad_() if requires_grad else result


def make_full(
    size: Shape,
    fill_value: complex,
    dtype: DType | None = None,
    where: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of one number."""
    wanted = dtype or get_default_dtype()
    return _tracked(filled(size, fill_value, wanted, device_of(where)), requires_grad)


def _sizes(sizes: tuple[Any, ...], size: Any) -> Shape:
    return shape_of(sizes if size is None else (size,))


@public_function(method=False)
def zeros(
    *sizes: Any,
    size: Sequence[int] | None = None,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of zeros.

    Parameters
    ----------
    *sizes : int, or one sequence of int
    size : sequence of int, optional
        The same by name.
    dtype : DType, optional
        The default floating dtype if not given.
    device : Device or str, optional
    requires_grad : bool

    Raises
    ------
    ShapeError
        If a size is negative.
    """
    return make_full(_sizes(sizes, size), 0, dtype, device, requires_grad)


@public_function(method=False)
def ones(
    *sizes: Any,
    size: Sequence[int] | None = None,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of ones; see `zeros` for the parameters."""
    return make_full(_sizes(sizes, size), 1, dtype, device, requires_grad)


@public_function(method=False)
def empty(
    *sizes: Any,
    size: Sequence[int] | None = None,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor whose elements are not set; see `zeros` for the parameters."""
    wanted = dtype or get_default_dtype()
    made = uninitialised(_sizes(sizes, size), wanted, device_of(device))
    return _tracked(made, requires_grad)


@public_function(method=False)
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of one number.

    Parameters
    ----------
    size : int or sequence of int
    fill_value : number
    dtype : DType, optional
        That of the number if not given: bool, int64, the default float.
    device : Device or str, optional
    requires_grad : bool

    Raises
    ------
    ShapeError
        If a size is negative.
    """
    number = _number(fill_value)
    wanted = dtype or dtype_of_scalar(number)
    return make_full(shape_of((size,)), number, wanted, device, requires_grad)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


@public_function(method=False)
def scalar_tensor(
    s: Any,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor without dimensions, of the default floating dtype."""
    return make_full((), _number(s), dtype, device, requires_grad)


# -- like another -------------------------------------------------------------------


def stride_order(spec: TensorSpec) -> tuple[int, ...]:
    """Return the dimensions from the outermost in memory to the innermost.

    Row-major where the elements overlap or have gaps, as PyTorch does.
    """
    plain = tuple(range(spec.ndim))
    order = tuple(sorted(plain, key=lambda d: -abs_size(spec.strides[d])))
    dense = contiguous_strides(tuple(spec.shape[d] for d in order))
    if all(
        spec.shape[d] == 1 or spec.strides[d] == step
        for d, step in zip(order, dense, strict=True)
    ):
        return order
    return plain


def make_like(
    input: Tensor,
    fill_value: complex,
    dtype: DType | None,
    where: Where,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor of one number with the shape and the order of `input`."""
    spec = spec_of(input)
    target = input.device if where is None else resolved(where)
    wanted = dtype or input.dtype
    if spec.is_contiguous():
        made = filled(spec.shape, fill_value, wanted, target)
    else:
        order = stride_order(spec)
        made = filled_ordered(spec.shape, fill_value, order, wanted, target)
    return _tracked(made, requires_grad)


@public_function(method=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of zeros with the shape, dtype and device of `input`."""
    return make_like(input, 0, dtype, device, requires_grad)


@public_function(method=False)
def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of ones with the shape, dtype and device of `input`."""
    return make_like(input, 1, dtype, device, requires_grad)


@public_function(method=False)
def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor that is not set, with the shape, dtype and device of `input`."""
    if not input.is_contiguous():
        return make_like(input, 0, dtype, device, requires_grad)
    target = input.device if device is None else device_of(device)
    made = uninitialised(input._array.shape, dtype or input.dtype, target)
    return _tracked(made, requires_grad)


@public_function(method=False)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of one number with the shape, dtype and device of `input`."""
    return make_like(input, _number(fill_value), dtype, device, requires_grad)


# -- ranges -------------------------------------------------------------------------


def _range_length(start: Any, end: Any, step: Any) -> int:
    if step == 0:
        raise ArgumentValueError("arange: the step can't be 0")
    if not all(map(math.isfinite, (start, end, step))):
        raise ArgumentValueError(
            f"arange: from {start} to {end} with step {step} is no range of numbers"
        )
    if (end - start) / step < 0:
        raise ArgumentValueError(
            f"arange: from {start} to {end} with step {step} leads away from the end"
        )
    if all(isinstance(n, int) for n in (start, end, step)):
        return len(range(start, end, step))
    return math.ceil((end - start) / step)  # type: ignore[no-any-return]


def _arange_abstract(
    start: Any, end: Any, step: Any, dtype: DType, device: Device
) -> TensorSpec:
    return TensorSpec(dtype, (_range_length(start, end, step),), (), device)


def _arange_kernel(
    xp: Any, start: Any, end: Any, step: Any, dtype: DType, device: Device
) -> Any:
    places = xp.arange(_range_length(start, end, step))
    return cast_array(xp.asarray(start + step * places), dtype.numpy)


@primitive(
    "creation",
    name="arange",
    abstract=_arange_abstract,
    kernel=_arange_kernel,
    examples=lambda rng: [((0, 1.0, 0.3, float64, CPU), {})],
    public=False,
    method=False,
)
def counted(start: Any, end: Any, step: Any, dtype: DType, device: Device) -> Tensor:
    """Numbers from start to before end, a step apart."""


@public_function(method=False)
def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make the numbers from `start` to before `end`, a `step` apart.

    Parameters
    ----------
    start : number
        0 if only one number is given, which is then `end`.
    end, step : number
    dtype : DType, optional
        int64 if all are integers, else the default floating dtype.
    device : Device or str, optional
    requires_grad : bool

    Raises
    ------
    ArgumentValueError
        If the step is 0 or leads away from the end.

    Examples
    --------
    >>> arange(3).tolist()
    [0, 1, 2]
    """
    first, last, step = _number(start), _number(end), _number(step)
    if last is None:
        first, last = 0, first
    wanted = dtype or _range_dtype(first, last, step)
    made: Tensor = counted(first, last, step, wanted, device_of(device))
    return _tracked(made, requires_grad)


def _range_dtype(*numbers: Any) -> DType:
    if any(isinstance(n, float) for n in numbers):
        return get_default_dtype()
    return dtype_of_scalar(0)


def _spaced_abstract(
    start: Any, end: Any, steps: int, dtype: DType, device: Device
) -> TensorSpec:
    if steps < 0:
        raise ShapeError(f"linspace: steps must not be negative, it is {steps}")
    return TensorSpec(dtype, (steps,), (), device)


def _spaced_kernel(
    xp: Any, start: Any, end: Any, steps: int, dtype: DType, device: Device
) -> Any:
    carried = dtype.numpy.type if dtype.kind in ("float", "complex") else xp.float64
    if dtype.kind == "int":
        # As in PyTorch, integers go from whole numbers to whole numbers.
        start, end = int(start), int(end)
    first, last = carried(start), carried(end)
    if steps == 1:
        return xp.full((1,), start, dtype=dtype.numpy)
    step = (last - first) / carried(max(steps - 1, 1))
    places = xp.arange(steps)
    from_start = first + step * places.astype(step.dtype)
    from_end = last - step * (steps - 1 - places).astype(step.dtype)
    return cast_array(xp.where(places < steps // 2, from_start, from_end), dtype.numpy)


@primitive(
    "creation",
    name="linspace",
    abstract=_spaced_abstract,
    kernel=_spaced_kernel,
    examples=lambda rng: [((0, 1.0, 5, float64, CPU), {})],
    public=False,
    method=False,
)
def spaced(start: Any, end: Any, steps: int, dtype: DType, device: Device) -> Tensor:
    """Numbers at equal distances from start to end, both included."""


@public_function(method=False)
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make `steps` numbers at equal distances from `start` to `end`, both included."""
    wanted = dtype or get_default_dtype()
    first, last = _number(start), _number(end)
    made: Tensor = spaced(first, last, int(steps), wanted, device_of(device))
    return _tracked(made, requires_grad)


def _powers_kernel(
    xp: Any,
    start: Any,
    end: Any,
    steps: int,
    base: float,
    dtype: DType,
    device: Device,
) -> Any:
    if dtype.kind == "int":
        start, end = int(start), int(end)
    exponents = xp.linspace(start, end, steps)
    return cast_array(xp.asarray(xp.power(float(base), exponents)), dtype.numpy)


@primitive(
    "creation",
    name="logspace",
    abstract=lambda start, end, steps, base, dtype, device: _spaced_abstract(
        start, end, steps, dtype, device
    ),
    kernel=_powers_kernel,
    examples=lambda rng: [((0, 2.0, 5, 10.0, float64, CPU), {})],
    public=False,
    method=False,
)
def powers(
    start: Any, end: Any, steps: int, base: float, dtype: DType, device: Device
) -> Tensor:
    """Powers of the base, at equal distances of the exponent."""


@public_function(method=False)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make `steps` powers of `base` with exponents from `start` to `end`."""
    wanted = dtype or get_default_dtype()
    first, last = _number(start), _number(end)
    target = device_of(device)
    made: Tensor = powers(first, last, int(steps), base, wanted, target)
    return _tracked(made, requires_grad)


def _eye_abstract(n: int, m: int, dtype: DType, device: Device) -> TensorSpec:
    check_sizes("eye", (n, m))
    return TensorSpec(dtype, (n, m), (), device)


@primitive(
    "creation",
    name="eye",
    abstract=_eye_abstract,
    kernel=lambda xp, n, m, dtype, device: xp.eye(n, m, dtype=dtype.numpy),
    examples=lambda rng: [((2, 3, float64, CPU), {})],
    public=False,
    method=False,
)
def unit_matrix(n: int, m: int, dtype: DType, device: Device) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere."""


@public_function(method=False)
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make an `n` by `m` (or `n`) matrix with ones on the diagonal."""
    wanted = dtype or get_default_dtype()
    made: Tensor = unit_matrix(n, n if m is None else m, wanted, device_of(device))
    return _tracked(made, requires_grad)
