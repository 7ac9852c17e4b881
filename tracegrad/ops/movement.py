"""Elements put elsewhere, in new memory: flip, roll, repeat, pad, triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.device import CPU
from tracegrad.dispatch.argument_errors import wrong_type
from tracegrad.dispatch.operator import OPERATORS, public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, int64
from tracegrad.errors import (
    IndexRangeError,
    NotSupportedError,
    ShapeError,
)
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._functions import METHODS
from tracegrad.ops._reduction import canonical_dim, canonical_dims
from tracegrad.ops.casts import clone
from tracegrad.ops.conversion import tensor
from tracegrad.ops.creation import Where, device_of, shape_of
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.shaping import written_into_zeros
from tracegrad.ops.views import (
    expand,
    reshape,
    reshaped_view,
    transpose,
    unsqueeze,
)
from tracegrad.ops.windows import diagonal
from tracegrad.sizes import SymbolicSize
from tracegrad.spec import TensorSpec, elementwise_strides


def _row_major(input: TensorSpec, **attributes: Any) -> TensorSpec:
    return TensorSpec(input.dtype, input.shape, (), input.device)


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((3, 4))


# -- flip, roll, rot90 ----------------------------------------------------------------


def _flip_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    if not attributes["dims"]:
        return {"dims": ()}
    return {"dims": canonical_dims("flip", attributes["dims"], operands[0].ndim)}


def _flip_kernel(xp: Any, input: Any, dims: tuple[int, ...]) -> Any:
    if input.ndim == 0:
        return xp.array(input, copy=True)
    turned = xp.flip(input, dims)
    # A copy by a ufunc: NumPy's own copies put expanded dimensions innermost.
    return xp.maximum(turned, turned)


@primitive(
    "movement",
    abstract=lambda input, dims: TensorSpec(
        input.dtype,
        input.shape,
        elementwise_strides(input.shape, [input]),
        input.device,
    ),
    kernel=_flip_kernel,
    canonical=_flip_canonical,
    linear_in=("input",),
    examples=lambda rng: [((_matrix(rng), 0, 1), {})],
)
def flip(input: Tensor, *dims: int) -> Tensor:
    """The elements in the opposite order along dimensions; a copy."""


flip.vjp(input=lambda ct, dims: flip(ct, *dims))


@public_function()
def fliplr(input: Tensor) -> Tensor:
    """Return columns in the opposite order (dimension 1)."""
    if input.ndim < 2:
        raise ShapeError(f"fliplr wants at least 2 dimensions, not {input.ndim}")
    return flip(input, 1)  # type: ignore[no-any-return]


@public_function()
def flipud(input: Tensor) -> Tensor:
    """Return rows in the opposite order (dimension 0)."""
    if input.ndim < 1:
        raise ShapeError("flipud wants at least one dimension")
    return flip(input, 0)  # type: ignore[no-any-return]


def _roll_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shifts, dims = attributes["shifts"], attributes["dims"]
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    dims = dims if isinstance(dims, tuple) else (dims,)
    if dims == (None,):
        dims = ()
    if (dims and len(shifts) != len(dims)) or (not dims and len(shifts) != 1):
        raise ShapeError(
            f"roll: {len(shifts)} shifts and {len(dims)} dimensions; give as many"
        )
    ndim = operands[0].ndim
    return {
        "shifts": shifts,
        "dims": tuple(canonical_dim("roll", d, ndim) for d in dims),
    }


def _roll_kernel(
    xp: Any, input: Any, shifts: tuple[int, ...], dims: tuple[int, ...]
) -> Any:
    if input.ndim == 0:
        return xp.array(input, copy=True)
    rolled = xp.roll(input, shifts, dims) if dims else xp.roll(input, shifts[0])
    return xp.ascontiguousarray(rolled)


@primitive(
    "movement",
    abstract=_row_major,
    kernel=_roll_kernel,
    canonical=_roll_canonical,
    linear_in=("input",),
    examples=lambda rng: [
        ((_matrix(rng), (1, -2), (0, 1)), {}),
        ((_matrix(rng), 3), {}),
    ],
)
def roll(
    input: Tensor,
    shifts: int | tuple[int, ...],
    dims: int | tuple[int, ...] | None = None,
) -> Tensor:
    """The elements moved along dimensions, the last ones to the front.

    Without dimensions the elements are moved as one row.
    """


roll.vjp(
    input=lambda ct, shifts, dims: roll(ct, tuple(-s for s in shifts), dims or None)
)


@public_function()
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return `input` turned `k` times by 90 degrees, from the first dim to the second.

    Raises
    ------
    ShapeError
        If `dims` are not two different dimensions.
    """
    if len(dims) != 2 or input.ndim < 2:
        raise ShapeError(f"rot90 wants two dimensions, not {list(dims)}")
    first, second = (canonical_dim("rot90", d, input.ndim) for d in dims)
    if first == second:
        raise ShapeError(f"rot90: both dimensions are {first}")
    if not isinstance(k, int):
        raise wrong_type("rot90", "k", "int", k)
    turns = k % 4
    if turns == 0:
        return clone(input)  # type: ignore[no-any-return]
    if turns == 2:
        return flip(input, first, second)  # type: ignore[no-any-return]
    turned = transpose(flip(input, second if turns == 1 else first), first, second)
    return clone(turned)  # type: ignore[no-any-return]


# -- triangles ------------------------------------------------------------------------


def _check_matrix(name: str, input: TensorSpec, **attributes: Any) -> TensorSpec:
    if input.ndim < 2:
        raise ShapeError(f"{name} wants at least 2 dimensions, not {input.ndim}")
    return _row_major(input)


@primitive(
    "movement",
    abstract=lambda input, diagonal: _check_matrix("tril", input),
    kernel=lambda xp, input, diagonal: xp.ascontiguousarray(xp.tril(input, diagonal)),
    linear_in=("input",),
    inplace=True,
    examples=lambda rng: [((_matrix(rng), -1), {})],
)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Matrices with zeros above a diagonal."""


tril.vjp(input=lambda ct, diagonal: tril(ct, diagonal))


@primitive(
    "movement",
    abstract=lambda input, diagonal: _check_matrix("triu", input),
    kernel=lambda xp, input, diagonal: xp.ascontiguousarray(xp.triu(input, diagonal)),
    linear_in=("input",),
    inplace=True,
    examples=lambda rng: [((_matrix(rng), 1), {})],
)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Matrices with zeros below a diagonal."""


triu.vjp(input=lambda ct, diagonal: triu(ct, diagonal))


def _triangle_abstract(
    row: int, col: int, offset: int, lower: bool, dtype: DType, device: Any
) -> TensorSpec:
    if row < 0 or col < 0:
        raise ShapeError(f"a triangle of {row} rows and {col} columns can't be made")
    count = sum(
        min(max(i + offset + 1, 0), col)
        if lower
        else col - min(max(i + offset, 0), col)
        for i in range(row)
    )
    return TensorSpec(dtype, (2, count), (), device)


def _triangle_kernel(
    xp: Any, row: int, col: int, offset: int, lower: bool, dtype: DType, device: Any
) -> Any:
    ones = xp.ones((row, col), dtype=bool)
    chosen = xp.tril(ones, offset) if lower else xp.triu(ones, offset)
    return xp.stack(xp.nonzero(chosen)).astype(dtype.numpy)


@primitive(
    "creation",
    abstract=_triangle_abstract,
    kernel=_triangle_kernel,
    examples=lambda rng: [
        ((3, 4, -1, True, int64, CPU), {}),
        ((3, 4, 1, False, int64, CPU), {}),
    ],
    public=False,
    method=False,
)
def triangle_indices(
    row: int, col: int, offset: int, lower: bool, dtype: DType, device: Any
) -> Tensor:
    """Rows and columns of a triangle of a matrix."""


@public_function(method=False)
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType = int64, device: Where = None
) -> Tensor:
    """Make the row and column indices of the lower triangle, shape (2, n)."""
    return triangle_indices(row, col, offset, True, dtype, device_of(device))  # type: ignore[no-any-return]


@public_function(method=False)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType = int64, device: Where = None
) -> Tensor:
    """Make the row and column indices of the upper triangle, shape (2, n)."""
    return triangle_indices(row, col, offset, False, dtype, device_of(device))  # type: ignore[no-any-return]


# -- diagonals ------------------------------------------------------------------------


@composite(examples=lambda rng: [((_matrix(rng), 1), {})])
def diag_embed(
    input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> Tensor:
    """Matrices that have the last dimension on a diagonal and zeros elsewhere."""
    ndim = input.ndim + 1
    first = canonical_dim("diag_embed", dim1, ndim)
    second = canonical_dim("diag_embed", dim2, ndim)
    if first == second:
        raise ShapeError(f"diag_embed: both dimensions are {first}")
    side = input._array.shape[-1] + abs(offset)
    shape = list(input._array.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, side)
    spec = (tuple(shape), input._array.dtype)
    return written_into_zeros(
        input, spec, diagonal, offset=offset, dim1=first, dim2=second
    )


@public_function()
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the matrix with a vector on its diagonal, or the diagonal of a matrix.

    Raises
    ------
    ShapeError
        If there are neither one nor two dimensions.
    """
    if input.ndim == 1:
        return diag_embed(input, diagonal)  # type: ignore[no-any-return]
    if input.ndim == 2:
        return clone(input.diagonal(diagonal))  # type: ignore[attr-defined, no-any-return]
    raise ShapeError(f"diag takes a vector or a matrix, not {input.ndim} dimensions")


@composite(public=False, method=False, examples=lambda rng: [((_matrix(rng),), {})])
def matrix_trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""
    if input.ndim != 2:
        raise ShapeError(f"trace takes a matrix, not {input.ndim} dimensions")
    return sum_(diagonal(input))  # type: ignore[no-any-return]


def _trace(self: Tensor) -> Tensor:
    """Return the sum of the diagonal of this matrix."""
    return matrix_trace(self)  # type: ignore[no-any-return]


METHODS["trace"] = _trace


# -- repeat -------------------------------------------------------------------------


@composite(
    name="repeat",
    public=False,
    method=False,
    examples=lambda rng: [((_matrix(rng), (2, 1, 3)), {})],
)
def tiled(input: Tensor, repeats: tuple[int, ...]) -> Tensor:
    """The tensor laid several times along each dimension; a copy."""
    if len(repeats) < input.ndim or any(n < 0 for n in repeats):
        raise ShapeError(
            f"repeat: {list(repeats)} must hold a number, not negative, for each of "
            f"the {input.ndim} dimensions"
        )
    shape = (1,) * (len(repeats) - input.ndim) + tuple(input._array.shape)
    twice = [size for s in shape for size in (1, s)]
    spread = [size for n, s in zip(repeats, shape, strict=True) for size in (n, s)]
    copied = clone(expand(reshape(input, *twice), *spread), True)
    return reshaped_view(  # type: ignore[no-any-return]
        copied, *(n * s for n, s in zip(repeats, shape, strict=True))
    )


def _repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Return `input` laid several times along each dimension; a copy.

    Parameters
    ----------
    input : Tensor, shape (...)
    *repeats : int, or one sequence of int
        One for each dimension; more make new dimensions in front.

    Raises
    ------
    ShapeError
        If there are fewer numbers than dimensions, or negative ones.
    """
    return tiled(input, shape_of(repeats))  # type: ignore[no-any-return]


METHODS["repeat"] = _repeat


@public_function()
def tile(input: Tensor, *dims: Any) -> Tensor:
    """Return `input` laid several times along the last dimensions."""
    counts = dims[0] if len(dims) == 1 and isinstance(dims[0], list | tuple) else dims
    ones = (1,) * (input.ndim - len(counts))
    return tiled(input, (*ones, *counts))  # type: ignore[no-any-return]


@public_function()
def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Return each place along `dim` (or each element) repeated, a copy.

    Parameters
    ----------
    input : Tensor, shape (...)
    repeats : int, or Tensor of shape (n,) or ()
        One number for all, or one for each place; if not given, `input` itself is taken
        as that, and the indices are repeated.
    dim : int, optional
    output_size : int, optional
        The size of the result along `dim`, if it is known.

    Raises
    ------
    ShapeError
        If there are not as many numbers as places, or negative ones.
    """
    if isinstance(repeats, float | complex | str):
        raise wrong_type("repeat_interleave", "repeats", "an int or a Tensor", repeats)
    if repeats is None:
        return OPERATORS["repeat_places"](input)  # type: ignore[no-any-return]
    if input.ndim == 0 and dim is not None:
        raise IndexRangeError(
            "repeat_interleave: a 0-dim tensor has no dimension to repeat along"
        )
    source = reshape(input, -1) if dim is None else input
    place = 0 if dim is None else canonical_dim("repeat_interleave", dim, source.ndim)
    if not isinstance(repeats, Tensor) and not isinstance(repeats, list | tuple):
        if repeats < 0:
            raise ShapeError(f"repeat_interleave: {repeats} repeats")
        return repeat_each(source, int(repeats), place)  # type: ignore[no-any-return]
    counts = repeats if isinstance(repeats, Tensor) else tensor(list(repeats))
    size = source._array.shape[place]
    if counts.ndim > 1 or counts.numel() not in (1, size):
        raise ShapeError(
            f"repeat_interleave: {counts.numel()} numbers for {size} places"
        )
    wide = expand(reshape(counts, -1), size)
    places = OPERATORS["repeat_places"](wide)
    return OPERATORS["index_select"](source, places, place)  # type: ignore[no-any-return]


def _repeat_places_abstract(repeats: TensorSpec) -> TensorSpec:
    if repeats.dtype.name not in ("int64", "int32") or repeats.ndim != 1:
        raise ShapeError("repeat_interleave: repeats must be a vector of integers")
    if repeats.device.type == "meta":
        raise NotSupportedError(
            "repeat_interleave: the size of the result depends on the data, which a "
            "tensor on the meta device has not"
        )
    count = SymbolicSize.named("repeat_interleave")
    return TensorSpec(repeats.dtype, (count,), (), repeats.device)


def _repeat_places_kernel(xp: Any, repeats: Any) -> Any:
    if repeats.size and int(repeats.min()) < 0:
        raise ShapeError("repeat_interleave: a number of repeats is negative")
    places = xp.arange(repeats.shape[0], dtype=repeats.dtype)
    return xp.repeat(places, repeats.tolist())


@primitive(
    "library",
    abstract=_repeat_places_abstract,
    kernel=_repeat_places_kernel,
    examples=lambda rng: [((rng.integers(0, 3, 4),), {})],
    may_raise=True,
    dynamic_size=True,
    public=False,
    method=False,
)
def repeat_places(repeats: Tensor) -> Tensor:
    """Each index as often as the number at it says."""


@composite(
    public=False, method=False, examples=lambda rng: [((_matrix(rng), 2, 1), {})]
)
def repeat_each(input: Tensor, repeats: int, dim: int) -> Tensor:
    """Each place along a dimension repeated; a copy."""
    shape = tuple(input._array.shape)
    spread = (*shape[: dim + 1], repeats, *shape[dim + 1 :])
    copied = clone(expand(unsqueeze(input, dim + 1), *spread), True)
    return reshaped_view(copied, *shape[:dim], shape[dim] * repeats, *shape[dim + 1 :])  # type: ignore[no-any-return]
