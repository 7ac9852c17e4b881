"""The elements that labels pick, one of each row: what losses of classes are made of.

The classes are in dimension 1, or in dimension 0 of a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import int64
from tracegrad.errors import DTypeError, ShapeError, UnsupportedDTypeError
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._indices import check_elements
from tracegrad.ops._pointwise import compute_dtype
from tracegrad.ops.arithmetic import add, mul
from tracegrad.ops.comparison import ne
from tracegrad.ops.division import div
from tracegrad.ops.exponential import exp
from tracegrad.ops.normalizing import log_softmax, pulled_log_softmax
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import fit, zeros_of
from tracegrad.ops.views import unsqueeze
from tracegrad.sizes import Shape, numel, shape_text
from tracegrad.spec import TensorSpec


def class_dim(ndim: int) -> int:
    """Return the dimension of the classes of an input."""
    return 0 if ndim == 1 else 1


def _examples(rng: Any) -> Any:
    return [
        ((rng.normal(size=(3, 4)), rng.integers(0, 4, 3)), {}),
        ((rng.normal(size=(3, 4)), rng.integers(0, 4, 3), 1), {}),
        ((rng.normal(size=(2, 4, 3)), rng.integers(0, 4, (2, 3))), {}),
    ]


# -- where the labels' elements are -------------------------------------------------


def places_of(
    xp: Any, target: Any, shape: tuple[int, ...], ignore_index: int
) -> tuple[Any, Any]:
    """Return the kernel's results of `label_places`."""
    classes = shape[class_dim(len(shape))]
    labels = target if target.ndim == 1 else target.reshape(-1)
    labels = labels if labels.dtype == xp.int64 else labels.astype("int64")
    count = labels.size
    if not count:
        return labels, xp.asarray(0)
    # As an unsigned number a negative one is larger than any class.
    largest = int(xp.maximum.reduce(labels.view(xp.uint64)))
    if largest >= classes or 0 <= ignore_index < classes:
        kept = labels != ignore_index
        labels, count = xp.where(kept, labels, 0), int(kept.sum())
        check_elements("nll_loss", labels, classes, 1)
    before = 1 if len(shape) == 1 else shape[0]
    rows = xp.arange(0, before * classes, classes)
    if labels.size == before:
        return xp.add(rows, labels, out=rows), xp.asarray(count)
    behind = labels.size // before
    places = (rows[:, None] + labels.reshape(before, behind)) * behind
    return (places + xp.arange(behind)).reshape(-1), xp.asarray(count)


def _places_abstract(
    target: TensorSpec, shape: Shape, ignore_index: int
) -> tuple[TensorSpec, TensorSpec]:
    if target.dtype.kind != "int":
        raise DTypeError(f"nll_loss: labels must be integers, not {target.dtype.name}")
    dim = class_dim(len(shape))
    if not shape or target.shape != shape[:dim] + shape[dim + 1 :]:
        raise ShapeError(
            f"nll_loss: labels of shape {shape_text(target.shape)} do not fit an input "
            f"of shape {shape_text(shape)}"
        )
    places = TensorSpec(int64, (numel(target.shape),), (), target.device)
    return places, TensorSpec(int64, (), (), target.device)


@primitive(
    "gather",
    abstract=_places_abstract,
    kernel=places_of,
    may_raise=True,
    public=False,
    method=False,
    examples=lambda rng: [
        ((target, scores.shape, *more), {})
        for (scores, target, *more), _ in _examples(rng)
    ],
)
def label_places(
    target: Tensor, shape: tuple[int, ...], ignore_index: int = -100
) -> Tensor:
    """Where in a flat input of a shape the labels' elements are, and how many count.

    An ignored label does not count, and stands as class 0. A label out of range
    raises an ElementIndexError.
    """


def _placed_examples(rng: Any) -> Any:
    found: list[Any] = []
    for (scores, target, *more), _ in _examples(rng):
        places, count = places_of(np, target, scores.shape, *(more or [-100]))
        found.append(((scores, target, places, count, *more), {}))
    return found


# -- their mean, and its derivative -------------------------------------------------


def _check_placed(
    input: TensorSpec, target: TensorSpec, places: TensorSpec, count: TensorSpec
) -> None:
    """Refuse places and a count that `label_places` can't have given."""
    if input.dtype.kind != "float":
        raise UnsupportedDTypeError(
            f"nll_loss takes a floating tensor, not {input.dtype.name}"
        )
    wanted, _ = _places_abstract(target, input.shape, 0)
    fits = places.shape == wanted.shape and numel(count.shape) == 1
    if not fits or places.dtype is not int64 or count.dtype is not int64:
        raise ShapeError(
            f"nll_loss: places of shape {shape_text(places.shape)} do not belong to "
            f"labels of shape {shape_text(target.shape)}"
        )


def picked_kernel(
    xp: Any, input: Any, target: Any, places: Any, count: Any, ignore_index: int
) -> Any:
    """Return the kernel's result of `picked_mean`."""
    picked = input.reshape(-1).take(places)
    if picked.dtype.itemsize == 2:
        picked = picked.astype("float32")
    number = count.item()
    if number != places.size:
        kept = target.reshape(-1) != ignore_index
        picked = xp.where(kept, picked, picked.dtype.type(0))
    # From 0, so that a loss of nothing is not -0.
    total = 0.0 - xp.add.reduce(picked)
    return xp.asarray(total / total.dtype.type(number), dtype=input.dtype)


def _picked_mean_abstract(
    input: TensorSpec,
    target: TensorSpec,
    places: TensorSpec,
    count: TensorSpec,
    ignore_index: int,
) -> TensorSpec:
    _check_placed(input, target, places, count)
    return TensorSpec(input.dtype, (), (), input.device)


@primitive(
    "gather",
    abstract=_picked_mean_abstract,
    kernel=picked_kernel,
    linear_in=("input",),
    public=False,
    method=False,
    examples=_placed_examples,
)
def picked_mean(
    input: Tensor,
    target: Tensor,
    places: Tensor,
    count: Tensor,
    ignore_index: int = -100,
) -> Tensor:
    """Negative mean of the elements at places, without those of ignored labels.

    NaN if all are ignored.
    """


def _picked_mean_vjp(
    ct: Tensor,
    target: Tensor,
    places: Tensor,
    count: Tensor,
    input_spec: Any,
    ignore_index: int,
) -> Tensor:
    nothing = zeros_of(input_spec, ct)
    marks = label_errors(nothing, target, places, count, ignore_index)
    return mul(marks, ct)  # type: ignore[no-any-return]


picked_mean.vjp(input=_picked_mean_vjp)


def label_error_kernel(
    xp: Any, input: Any, target: Any, places: Any, count: Any, ignore_index: int
) -> Any:
    """Return the kernel's result of `label_errors`."""
    number = count.item()
    one = input.dtype.type(1)
    share = one / input.dtype.type(number)
    result = xp.ascontiguousarray(input * share)
    flat = result.reshape(-1)
    flat[places] = flat.take(places) - share
    if number != places.size:
        ignored = xp.expand_dims(target == ignore_index, class_dim(input.ndim))
        xp.copyto(result, 0, where=ignored)
    return result


def _label_errors_abstract(
    input: TensorSpec,
    target: TensorSpec,
    places: TensorSpec,
    count: TensorSpec,
    ignore_index: int,
) -> TensorSpec:
    _check_placed(input, target, places, count)
    return TensorSpec(input.dtype, input.shape, (), input.device)


@primitive(
    "gather",
    abstract=_label_errors_abstract,
    kernel=label_error_kernel,
    public=False,
    method=False,
    examples=_placed_examples,
)
def label_errors(
    input: Tensor,
    target: Tensor,
    places: Tensor,
    count: Tensor,
    ignore_index: int = -100,
) -> Tensor:
    """The input less 1 at each label's place, over the number of labels.

    Rows of ignored labels are 0. Of probabilities, this is the derivative of their
    mean cross entropy with the labels by the logits.
    """


def _share(ct: Any, target: Tensor, count: Tensor, ignore_index: int) -> Tensor:
    """Return `ct` over the number of labels that count, 0 in the rows of others."""
    rows = unsqueeze(ne(target, ignore_index), class_dim(ct.ndim))
    return where(rows, div(ct, count), 0)  # type: ignore[no-any-return]


label_errors.vjp(
    input=lambda ct, target, count, ignore_index: _share(
        ct, target, count, ignore_index
    )
).jvp(
    input=lambda t, target, count, ignore_index: _share(t, target, count, ignore_index)
)


# -- losses ------------------------------------------------------------------------


@composite(public=False, method=False, examples=_examples)
def mean_pick(input: Tensor, target: Tensor, ignore_index: int = -100) -> Tensor:
    """Negative mean of the labels' elements, without those of ignored labels."""
    places, count = label_places(target, input._array.shape, ignore_index)
    return picked_mean(input, target, places, count, ignore_index)  # type: ignore[no-any-return]


@composite(public=False, method=False, examples=_examples)
def mean_label_entropy(
    input: Tensor, target: Tensor, ignore_index: int = -100
) -> Tensor:
    """Log-probabilities of logits, and the mean cross entropy with labels."""
    logs = log_softmax(input, class_dim(input.ndim))
    return logs, mean_pick(logs, target, ignore_index)  # type: ignore[return-value]


def _mean_label_entropy_vjp(
    cts: Any, out: Any, target: Tensor, input_spec: Any, ignore_index: int
) -> Tensor:
    to_logs, to_loss = cts
    result = None
    if to_logs is not None:
        result = pulled_log_softmax(to_logs, out, input_spec, class_dim(out.ndim))
    if to_loss is None:
        return result  # type: ignore[return-value]
    wide = out.to(compute_dtype(out.dtype))
    places, count = label_places(target, out._array.shape, ignore_index)
    errors = label_errors(exp(wide), target, places, count, ignore_index)
    share = fit(mul(errors, to_loss.to(wide.dtype)), input_spec)
    return share if result is None else add(result, share)  # type: ignore[no-any-return]


mean_label_entropy.vjp(input=_mean_label_entropy_vjp)
