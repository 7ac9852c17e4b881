"""Views: other shapes and orders over the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.inplace import freeze_path, replay_path
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor, spec_of, version_of
from tracegrad.errors import ArgumentError, IndexRangeError, ShapeError
from tracegrad.ops._families import primitive, view_family
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.casts import clone
from tracegrad.ops.creation import shape_of
from tracegrad.ops.shaping import sum_to_shape, zeros_of
from tracegrad.sizes import Dimension, Shape, numel, shape_text
from tracegrad.spec import TensorSpec

# -- transpose, permute -----------------------------------------------------------


def _permuted(spec: TensorSpec, dims: tuple[int, ...]) -> TensorSpec:
    return TensorSpec(
        spec.dtype,
        tuple(spec.shape[d] for d in dims),
        tuple(spec.strides[d] for d in dims),
        spec.device,
    )


def _permute_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    dims = tuple(canonical_dim("permute", d, ndim) for d in attributes["dims"])
    if sorted(dims) != list(range(ndim)):
        raise ShapeError(
            f"permute: dims {list(attributes['dims'])} are no order of the "
            f"{ndim} dimensions"
        )
    return {"dims": dims}


@view_family(
    abstract=lambda x, dims: _permuted(x, dims),
    kernel=lambda xp, x, dims: xp.transpose(x, dims),
    canonical=_permute_canonical,
    numpy="{x}.transpose({dims})",
)
def permute(x: Tensor, *dims: int) -> Tensor:
    """The dimensions in another order."""


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(dims))


permute.vjp(x=lambda ct, dims: permute(ct, *_inverse(dims)))


def _transpose_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    return {
        name: canonical_dim("transpose", attributes[name], ndim)
        for name in ("dim0", "dim1")
    }


def _swapped(ndim: int, dim0: int, dim1: int) -> tuple[int, ...]:
    dims = list(range(ndim))
    if ndim:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return tuple(dims)


@view_family(
    abstract=lambda x, dim0, dim1: _permuted(x, _swapped(x.ndim, dim0, dim1)),
    kernel=lambda xp, x, dim0, dim1: xp.transpose(x, _swapped(x.ndim, dim0, dim1)),
    canonical=_transpose_canonical,
    numpy="np.swapaxes({x}, {dim0}, {dim1})",
)
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""


transpose.vjp(x=lambda ct, dim0, dim1: transpose(ct, dim0, dim1))


# -- view, reshape ----------------------------------------------------------------


def resolved_shape(name: str, shape: Shape, count: Dimension) -> Shape:
    """Return `shape` with its -1 replaced.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to `count`, or -1 is ambiguous.
    """
    unknown = [i for i, s in enumerate(shape) if isinstance(s, int) and s == -1]
    if len(unknown) > 1:
        raise ShapeError(f"{name}: only one size can be -1 in {shape_text(shape)}")
    known = numel(s for i, s in enumerate(shape) if i not in unknown)
    if unknown:
        if known == 0:
            raise ShapeError(
                f"{name}: -1 is ambiguous in {shape_text(shape)}, another size is 0"
            )
        if isinstance(count, int) and isinstance(known, int) and count % known:
            raise ShapeError(
                f"{name}: {count} elements do not fill shape {shape_text(shape)}"
            )
        return tuple(count // known if i in unknown else s for i, s in enumerate(shape))
    if known != count:
        raise ShapeError(
            f"{name}: shape {shape_text(shape)} has {known} elements, "
            f"the tensor has {count}"
        )
    return shape


def _view_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    count = operands[0]._array.size
    return {"shape": resolved_shape("view", attributes["shape"], count)}


def view_strides(spec: TensorSpec, shape: Shape) -> Shape | None:
    """Return the strides of `spec` seen as `shape`, or None if it needs a copy.

    Dimensions that lie next to each other in memory are joined, then split again;
    a new dimension may not reach over a gap.
    """
    if spec.size == 0 or spec.is_contiguous():
        return TensorSpec(spec.dtype, shape).strides
    chunks = _joined(spec)
    strides: list[Dimension] = []
    remaining = list(reversed(shape))
    for size, step in reversed(chunks):
        filled: Dimension = 1
        while remaining and filled != size:
            strides.append(step * filled)
            filled = filled * remaining.pop(0)
            if isinstance(filled, int) and isinstance(size, int) and filled > size:
                return None
        if filled != size:
            return None
    strides.extend(1 for _ in remaining)
    return tuple(reversed(strides))


def _joined(spec: TensorSpec) -> list[tuple[Dimension, Dimension]]:
    chunks: list[tuple[Dimension, Dimension]] = []
    for size, step in zip(spec.shape, spec.strides, strict=True):
        if size == 1:
            continue
        if chunks and chunks[-1][1] == step * size:
            chunks[-1] = (chunks[-1][0] * size, step)
        else:
            chunks.append((size, step))
    return chunks


def _view_abstract(x: TensorSpec, shape: Shape) -> TensorSpec:
    shape = resolved_shape("view", shape, x.size)
    strides = view_strides(x, shape)
    if strides is None:
        raise ShapeError(
            f"view: shape {shape_text(shape)} does not fit the strides "
            f"{shape_text(x.strides)} of shape {shape_text(x.shape)} without a copy; "
            "use reshape()"
        )
    return TensorSpec(x.dtype, shape, strides, x.device)


def _view_kernel(xp: Any, x: Any, shape: Shape) -> Any:
    return xp.reshape(x, shape)


@view_family(
    abstract=_view_abstract,
    kernel=lambda xp, x, shape: xp.reshape(x, shape),
    canonical=_view_canonical,
    shape_only=True,
    numpy="{x}.reshape({shape})",
)
def view(x: Tensor, *shape: int) -> Tensor:
    """The same elements in another shape, without a copy."""


view.vjp(x=lambda ct, x_spec: reshape(ct, *x_spec[0]))


@public_function()
def reshape(x: Tensor, *shape: Any) -> Tensor:
    """Return the elements in another shape: a view where possible, else a copy.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to the number of elements.
    """
    resolved = resolved_shape("reshape", shape_of(shape), x._array.size)
    if view_strides(spec_of(x), resolved) is None:
        x = clone(x, True)
    return view(x, *resolved)  # type: ignore[no-any-return]


# -- expand -----------------------------------------------------------------------


def _expand_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape, own = attributes["shape"], operands[0]._array.shape
    extra = len(shape) - len(own)
    if extra < 0:
        raise ShapeError(
            f"expand: {shape_text(shape)} has fewer dimensions than {shape_text(own)}"
        )
    kept = tuple(
        own[i - extra] if s == -1 and i >= extra else s for i, s in enumerate(shape)
    )
    return {"shape": kept}


def _expand_abstract(x: TensorSpec, shape: Shape) -> TensorSpec:
    extra = len(shape) - x.ndim
    strides: list[Dimension] = [0] * extra
    for own, step, wanted in zip(x.shape, x.strides, shape[extra:], strict=True):
        if own != wanted and own != 1:
            raise ShapeError(
                f"expand: size {own} can't become {wanted}; only size 1 expands "
                f"({shape_text(x.shape)} to {shape_text(shape)})"
            )
        strides.append(step if own == wanted else 0)
    return TensorSpec(x.dtype, shape, tuple(strides), x.device)


def _expand_kernel(xp: Any, x: Any, shape: Shape) -> Any:
    expanded = xp.broadcast_to(x, shape)
    # NumPy marks the result read-only; a write is refused by the stride instead.
    return xp.lib.stride_tricks.as_strided(x, shape, expanded.strides)


@view_family(
    abstract=_expand_abstract,
    kernel=_expand_kernel,
    canonical=_expand_canonical,
    broadcasts=True,
    numpy="np.broadcast_to({x}, {shape})",
)
def expand(x: Tensor, *shape: int) -> Tensor:
    """Dimensions of size 1 repeated, without a copy."""


expand.vjp(x=lambda ct, x_spec: sum_to_shape(ct, x_spec[0]))


# -- select, slice ----------------------------------------------------------------


def _select_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape = operands[0]._array.shape
    if not shape:
        raise IndexRangeError("select: a 0-dim tensor has no dimension to index")
    dim = canonical_dim("select", attributes["dim"], len(shape))
    index, size = attributes["index"], shape[dim]
    if not -size <= index < size:
        raise IndexRangeError(
            f"index {index} is out of range for dimension {dim} of size {size}"
        )
    return {"dim": dim, "index": index % size}


def _without(values: Shape, dim: int) -> Shape:
    return values[:dim] + values[dim + 1 :]


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    return (slice(None),) * dim + (index, ...)


@view_family(
    abstract=lambda x, dim, index: TensorSpec(
        x.dtype, _without(x.shape, dim), _without(x.strides, dim), x.device
    ),
    kernel=lambda xp, x, dim, index: x[_at(dim, index)],
    canonical=_select_canonical,
)
def select(x: Tensor, dim: int, index: int) -> Tensor:
    """One place along a dimension, which disappears."""


select.vjp(
    x=lambda ct, x_spec, dim, index: view_write(
        zeros_of(x_spec, ct), ct, _path(select, dim=dim, index=index)
    )
)


def _slice_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape = operands[0]._array.shape
    dim = canonical_dim("slice", attributes["dim"], len(shape))
    if attributes["step"] == 0:
        raise ArgumentError("slice: the step can't be 0")
    wanted = slice(attributes["start"], attributes["stop"], attributes["step"])
    start, stop, step = wanted.indices(shape[dim])
    return {"dim": dim, "start": start, "stop": stop, "step": step}


def _slice_abstract(
    x: TensorSpec, dim: int, start: int, stop: int, step: int
) -> TensorSpec:
    size = len(range(start, stop, step))
    shape = (*x.shape[:dim], size, *x.shape[dim + 1 :])
    strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :])
    return TensorSpec(x.dtype, shape, strides, x.device)


def _slice_kernel(xp: Any, x: Any, dim: int, start: int, stop: int, step: int) -> Any:
    # A stop of -1 means "down to the first" here, not "up to the last".
    return x[_at(dim, slice(start, None if stop < 0 else stop, step))]


@view_family(
    name="slice",
    abstract=_slice_abstract,
    kernel=_slice_kernel,
    canonical=_slice_canonical,
    public=False,
    method=False,
)
def slice_(
    x: Tensor,
    dim: int = 0,
    start: int | None = None,
    stop: int | None = None,
    step: int = 1,
) -> Tensor:
    """Every step-th place from start to stop along a dimension."""


slice_.vjp(
    x=lambda ct, x_spec, dim, start, stop, step: view_write(
        zeros_of(x_spec, ct),
        ct,
        _path(slice_, dim=dim, start=start, stop=stop, step=step),
    )
)


# -- unsqueeze, squeeze -------------------------------------------------------------


def _unsqueeze_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    ndim = operands[0].ndim
    return {"dim": canonical_dim("unsqueeze", attributes["dim"], ndim + 1)}


def _unsqueeze_abstract(x: TensorSpec, dim: int) -> TensorSpec:
    step = x.strides[dim] * x.shape[dim] if dim < x.ndim else 1
    return TensorSpec(
        x.dtype,
        (*x.shape[:dim], 1, *x.shape[dim:]),
        (*x.strides[:dim], step, *x.strides[dim:]),
        x.device,
    )


@view_family(
    abstract=_unsqueeze_abstract,
    kernel=lambda xp, x, dim: xp.expand_dims(x, dim),
    canonical=_unsqueeze_canonical,
    shape_only=True,
    numpy="np.expand_dims({x}, {dim})",
)
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1."""


unsqueeze.vjp(x=lambda ct, dim: squeeze(ct, dim))


def _squeeze_canonical(operands: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    shape = operands[0]._array.shape
    dim = attributes["dim"]
    if dim is None:
        return {"dim": tuple(i for i, s in enumerate(shape) if s == 1)}
    dims = dim if isinstance(dim, tuple) else (dim,)
    found = {canonical_dim("squeeze", d, len(shape)) for d in dims}
    return {"dim": tuple(sorted(d for d in found if shape and shape[d] == 1))}


@view_family(
    abstract=lambda x, dim: TensorSpec(
        x.dtype,
        tuple(s for i, s in enumerate(x.shape) if i not in dim),
        tuple(s for i, s in enumerate(x.strides) if i not in dim),
        x.device,
    ),
    kernel=lambda xp, x, dim: xp.squeeze(x, axis=dim),
    canonical=_squeeze_canonical,
    shape_only=True,
    numpy="np.squeeze({x}, {dim})",
)
def squeeze(x: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Dimensions of size 1 removed."""


squeeze.vjp(x=lambda ct, x_spec: reshape(ct, *x_spec[0]))


# -- detach, view_write -------------------------------------------------------------


@primitive(
    "view",
    abstract=lambda x: x,
    kernel=lambda xp, x: x[...],
    numpy="{x}",
    alias=True,
    gradient_only="x",
    public=False,
    method=False,
)
def detach(x: Tensor) -> Tensor:
    """The same memory, without gradient."""


@primitive(
    "movement",
    abstract=lambda old, new: new,
    kernel=lambda xp, old, new: xp.array(new, copy=True),
    numpy="np.array({new})",
    gradient_only="new",
    public=False,
    method=False,
)
def graft(old: Tensor, new: Tensor) -> Tensor:
    """The value of new with the gradient of old: a write the tape does not see."""


graft.vjp(old=lambda ct: ct)


def _detached(x: Tensor) -> Tensor:
    """Return a tensor over the same memory and version, without gradient."""
    result: Tensor = detach(x)
    result._counter = version_of(x)
    return result


public_function(name="detach")(_detached)


def _path(operator: Any, **attributes: Any) -> Any:
    return freeze_path(((operator, attributes, 0),))


def _view_write_kernel(xp: Any, base: Any, value: Any, path: Any) -> Any:
    result = xp.array(base, copy=True)
    target = result
    for operator, attributes, index in path:
        found = operator.kernel(xp, target, **dict(attributes))
        target = found[index] if isinstance(found, list | tuple) else found
    target[...] = value
    return result


def _view_write_abstract(base: TensorSpec, value: TensorSpec, path: Any) -> TensorSpec:
    target = base
    for operator, attributes, index in path:
        found = operator.abstract(target, **dict(attributes))
        target = found[index] if isinstance(found, tuple) else found
    if target.shape != value.shape:
        raise ShapeError(
            f"view_write: the view has shape {shape_text(target.shape)}, "
            f"the value {shape_text(value.shape)}"
        )
    return TensorSpec(base.dtype, base.shape, (), base.device)


@primitive(
    "movement",
    abstract=_view_write_abstract,
    kernel=_view_write_kernel,
    public=False,
    method=False,
    linear_in=("base", "value"),
)
def view_write(base: Tensor, value: Tensor, path: tuple[Any, ...]) -> Tensor:
    """The base with the part that a path of views reaches replaced by the value."""


view_write.vjp(
    base=lambda ct, value_spec, path: view_write(ct, zeros_of(value_spec, ct), path),
    value=lambda ct, path: replay_path(ct, path),
)
