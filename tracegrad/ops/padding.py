"""Tensors framed: by a number, or by their own elements."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ShapeError
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._pointwise import wrapped_scalar
from tracegrad.ops.casts import clone
from tracegrad.ops.joining import cat
from tracegrad.ops.movement import flip
from tracegrad.ops.views import expand, slice_
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec


def _matrix(rng: Any) -> Any:
    return rng.standard_normal((3, 4))


def _check_pad(pad: tuple[int, ...], ndim: int) -> None:
    if len(pad) % 2 or len(pad) > 2 * ndim:
        raise ShapeError(
            f"pad: {len(pad)} numbers for {ndim} dimensions; give two for each of the "
            "last dimensions"
        )


def _padding_by_dim(pad: tuple[int, ...], ndim: int) -> list[tuple[int, int]]:
    """Return what is added before and after each dimension, in their order."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


def _constant_pad_abstract(
    input: TensorSpec, pad: tuple[int, ...], value: complex
) -> TensorSpec:
    _check_pad(pad, input.ndim)
    sizes = [
        size + before + after
        for size, (before, after) in zip(
            input.shape, _padding_by_dim(pad, input.ndim), strict=True
        )
    ]
    if any(isinstance(s, int) and s < 0 for s in sizes):
        raise ShapeError(
            f"pad: {list(pad)} leaves nothing of shape {shape_text(input.shape)}"
        )
    return TensorSpec(input.dtype, tuple(sizes), (), input.device)


def _constant_pad_kernel(
    xp: Any, input: Any, pad: tuple[int, ...], value: complex
) -> Any:
    pairs = _padding_by_dim(pad, input.ndim)
    sizes = [s + a + b for s, (a, b) in zip(input.shape, pairs, strict=True)]
    result = xp.full(sizes, value, dtype=input.dtype)
    inner, source = [], []
    for size, (before, after) in zip(input.shape, pairs, strict=True):
        source.append(slice(max(-before, 0), size - max(-after, 0)))
        inner.append(slice(max(before, 0), size + before + after - max(after, 0)))
    result[tuple(inner)] = input[tuple(source)]
    return result


def _constant_pad_canonical(
    operands: Any, attributes: dict[str, Any]
) -> dict[str, Any]:
    dtype = operands[0].dtype
    value = 0 if attributes["value"] is None else attributes["value"]
    return {"pad": attributes["pad"], "value": wrapped_scalar(value, dtype).item()}


@primitive(
    "movement",
    abstract=_constant_pad_abstract,
    kernel=_constant_pad_kernel,
    canonical=_constant_pad_canonical,
    public=False,
    method=False,
    examples=lambda rng: [((_matrix(rng), (1, -1, 0, 2), 0.5), {})],
)
def constant_pad(
    input: Tensor, pad: tuple[int, ...], value: float | None = None
) -> Tensor:
    """The tensor framed by a number; negative widths cut."""


constant_pad.vjp(input=lambda ct, pad: constant_pad(ct, tuple(-n for n in pad)))
constant_pad.jvp(input=lambda t, pad: constant_pad(t, pad))


def _check_mirror(mode: str, size: int, before: int, after: int) -> None:
    limit = {"reflect": size - 1, "circular": size}.get(mode)
    if limit is not None and max(before, after) > limit:
        raise ShapeError(
            f"pad: {mode} padding of {before} and {after} needs a dimension larger "
            f"than {size}"
        )
    if size == 0 and (before or after):
        raise ShapeError(f"pad: {mode} padding of an empty dimension")


def _pad_one(input: Tensor, mode: str, dim: int, before: int, after: int) -> Tensor:
    size = input._array.shape[dim]
    if mode == "replicate" and size and size + before + after > 0:
        return _replicated(input, dim, before, after)
    if before < 0 or after < 0:
        start, stop = max(-before, 0), size - max(-after, 0)
        cut = slice_(input, dim, start, stop)
        return _pad_one(cut, mode, dim, max(before, 0), max(after, 0))
    if before == 0 == after:
        return input
    _check_mirror(mode, size, before, after)
    parts = _frame(input, mode, dim, before, after)
    return cat([p for p in parts if p._array.shape[dim] != 0], dim)  # type: ignore[no-any-return]


def _frame(
    input: Tensor, mode: str, dim: int, before: int, after: int
) -> tuple[Tensor, Tensor, Tensor]:
    size = input._array.shape[dim]
    if mode == "reflect":
        left = flip(slice_(input, dim, 1, before + 1), dim)
        right = flip(slice_(input, dim, size - 1 - after, size - 1), dim)
    else:
        left = slice_(input, dim, size - before, size)
        right = slice_(input, dim, 0, after)
    return left, input, right


def _replicated(input: Tensor, dim: int, before: int, after: int) -> Tensor:
    """Frame by the ends; where more is cut than there is, an end stays as the frame."""
    if before == 0 == after:
        return input
    size = input._array.shape[dim]
    total = size + before + after
    first, last = min(max(-before, 0), size - 1), max(min(size, size + after), 1) - 1
    left = min(max(before, 0), total - 1)
    right = total - left - (last + 1 - first)
    parts = (
        _repeated(slice_(input, dim, first, first + 1), dim, left),
        slice_(input, dim, first, last + 1),
        _repeated(slice_(input, dim, last, last + 1), dim, right),
    )
    return cat([p for p in parts if p._array.shape[dim] != 0], dim)  # type: ignore[no-any-return]


def _repeated(input: Tensor, dim: int, count: int) -> Tensor:
    shape = list(input._array.shape)
    shape[dim] = count
    return expand(input, *shape)  # type: ignore[no-any-return]


@composite(
    public=False,
    method=False,
    examples=lambda rng: [
        ((_matrix(rng), (1, 2), "reflect"), {}),
        ((_matrix(rng), (1, 2, 2, 0), "circular"), {}),
        ((_matrix(rng), (1, 2), "replicate"), {}),
    ],
)
def pad(
    input: Tensor,
    pad: tuple[int, ...],
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """The tensor framed in its last dimensions: by a number or by its own elements."""
    if mode == "constant":
        return constant_pad(input, pad, value)  # type: ignore[no-any-return]
    if mode not in ("reflect", "replicate", "circular"):
        raise ArgumentError(
            f"pad: the mode is constant, reflect, replicate or circular, not {mode!r}"
        )
    if value is not None and value != 0:
        raise ArgumentError(f"pad: mode {mode!r} takes no value")
    _check_pad(pad, input.ndim)
    framed = input
    for dim, (before, after) in enumerate(_padding_by_dim(pad, input.ndim)):
        framed = _pad_one(framed, mode, dim, before, after)
    return clone(framed) if framed is input else framed
