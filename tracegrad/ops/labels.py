"""The elements that labels pick, one of each row: what losses of classes are made of.

The classes are in dimension 1, or in dimension 0 of a vector.
"""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bfloat16, float16, float32
from tracegrad.errors import DTypeError, ShapeError
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._indices import check_elements
from tracegrad.ops.arithmetic import add, mul
from tracegrad.ops.comparison import ne
from tracegrad.ops.division import div
from tracegrad.ops.exponential import exp
from tracegrad.ops.normalizing import log_softmax, pulled_log_softmax
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.selection import where
from tracegrad.ops.shaping import fit, zeros_of
from tracegrad.ops.views import unsqueeze
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec


def _examples(rng: Any) -> Any:
    return [
        ((rng.normal(size=(3, 4)), rng.integers(0, 4, 3)), {}),
        ((rng.normal(size=(3, 4)), rng.integers(0, 4, 3), 1), {}),
        ((rng.normal(size=(2, 4, 3)), rng.integers(0, 4, (2, 3))), {}),
    ]


def _check(name: str, input: TensorSpec, target: TensorSpec) -> None:
    if input.dtype.kind != "float":
        raise DTypeError(f"{name} takes a floating tensor, not {input.dtype.name}")
    if target.dtype.kind != "int":
        raise DTypeError(f"{name}: labels must be integers, not {target.dtype.name}")
    dim = 0 if input.ndim == 1 else 1
    if not input.ndim or target.shape != input.shape[:dim] + input.shape[dim + 1 :]:
        raise ShapeError(
            f"{name}: labels of shape {shape_text(target.shape)} do not fit an input "
            f"of shape {shape_text(input.shape)}"
        )


def _kept_labels(
    xp: Any, target: Any, classes: int, ignore_index: int
) -> tuple[Any, Any]:
    """Return the labels, 0 for ignored ones, and which are kept: None if all are."""
    labels = target if target.ndim == 1 else target.reshape(-1)
    if labels.dtype != xp.int64:
        labels = labels.astype("int64")
    if not labels.size:
        return labels, None
    # As an unsigned number a negative one is larger than any class.
    largest = int(xp.maximum.reduce(labels.view(xp.uint64)))
    if largest < classes and not 0 <= ignore_index < classes:
        return labels, None
    kept = labels != ignore_index
    labels = xp.where(kept, labels, 0)
    check_elements("nll_loss", labels, classes, 1)
    return labels, kept


def _places(
    xp: Any, input: Any, target: Any, ignore_index: int
) -> tuple[Any, Any, int]:
    """Return where in the flat input the labels' elements are, which count, how many.

    Which count is None if all do.
    """
    classes = input.shape[0 if input.ndim == 1 else 1]
    labels, kept = _kept_labels(xp, target, classes, ignore_index)
    if not labels.size:
        return labels, None, 0
    count = labels.size if kept is None else int(kept.sum())
    before = 1 if input.ndim == 1 else input.shape[0]
    rows = xp.arange(0, before * classes, classes)
    if labels.size == before:
        return xp.add(rows, labels, out=rows), kept, count
    behind = labels.size // before
    places = (rows[:, None] + labels.reshape(before, behind)) * behind
    return (places + xp.arange(behind)).reshape(-1), kept, count


def _mean_pick_kernel(xp: Any, input: Any, target: Any, ignore_index: int) -> Any:
    places, kept, count = _places(xp, input, target, ignore_index)
    picked = input.reshape(-1).take(places)
    if picked.dtype.itemsize == 2:
        picked = picked.astype("float32")
    if kept is not None:
        picked = xp.where(kept, picked, picked.dtype.type(0))
    # From 0, so that a loss of nothing is not -0.
    total = 0.0 - xp.add.reduce(picked)
    return xp.asarray(total / total.dtype.type(count), dtype=input.dtype)


def _mean_pick_abstract(
    input: TensorSpec, target: TensorSpec, ignore_index: int
) -> TensorSpec:
    _check("nll_loss", input, target)
    return TensorSpec(input.dtype, (), (), input.device)


@primitive(
    "gather",
    abstract=_mean_pick_abstract,
    kernel=_mean_pick_kernel,
    linear_in=("input",),
    may_raise=True,
    public=False,
    method=False,
    examples=_examples,
)
def mean_pick(input: Tensor, target: Tensor, ignore_index: int = -100) -> Tensor:
    """Negative mean of the labels' elements, without those of ignored labels.

    NaN if all are ignored. A label out of range raises an ElementIndexError.
    """


def _mean_pick_vjp(
    ct: Tensor, target: Tensor, input_spec: Any, ignore_index: int
) -> Tensor:
    marks = label_errors(zeros_of(input_spec, ct), target, ignore_index)
    return mul(marks, ct)  # type: ignore[no-any-return]


mean_pick.vjp(input=_mean_pick_vjp)


def _label_errors_kernel(xp: Any, input: Any, target: Any, ignore_index: int) -> Any:
    places, kept, count = _places(xp, input, target, ignore_index)
    result = xp.array(input, copy=True, order="C")
    flat = result.reshape(-1)
    flat[places] = flat.take(places) - 1
    xp.true_divide(result, count, out=result)
    if kept is not None:
        dim = 0 if input.ndim == 1 else 1
        ignored = xp.expand_dims(xp.logical_not(kept).reshape(target.shape), dim)
        xp.copyto(result, 0, where=ignored)
    return result


def _label_errors_abstract(
    input: TensorSpec, target: TensorSpec, ignore_index: int
) -> TensorSpec:
    _check("nll_loss", input, target)
    return TensorSpec(input.dtype, input.shape, (), input.device)


@primitive(
    "gather",
    abstract=_label_errors_abstract,
    kernel=_label_errors_kernel,
    may_raise=True,
    public=False,
    method=False,
    examples=_examples,
)
def label_errors(input: Tensor, target: Tensor, ignore_index: int = -100) -> Tensor:
    """The input less 1 at each label, over the number of labels.

    Rows of ignored labels are 0. Of probabilities, this is the derivative of their
    mean cross entropy with the labels by the logits.
    """


def _share(ct: Any, target: Tensor, ignore_index: int) -> Tensor:
    """Return `ct` over the number of labels that count, 0 in the rows of others."""
    kept = ne(target, ignore_index)
    count = sum_(kept).to(ct.dtype)
    rows = unsqueeze(kept, 0 if ct.ndim == 1 else 1)
    return where(rows, div(ct, count), 0)  # type: ignore[no-any-return]


label_errors.vjp(
    input=lambda ct, target, ignore_index: _share(ct, target, ignore_index)
).jvp(input=lambda t, target, ignore_index: _share(t, target, ignore_index))


@composite(public=False, method=False, examples=_examples)
def mean_label_entropy(
    input: Tensor, target: Tensor, ignore_index: int = -100
) -> Tensor:
    """Log-probabilities of logits, and the mean cross entropy with labels."""
    logs = log_softmax(input, 0 if input.ndim == 1 else 1)
    return logs, mean_pick(logs, target, ignore_index)  # type: ignore[return-value]


def _compute(dtype: DType) -> DType:
    return float32 if dtype in (float16, bfloat16) else dtype


def _mean_label_entropy_vjp(
    cts: Any, out: Any, target: Tensor, input_spec: Any, ignore_index: int
) -> Tensor:
    to_logs, to_loss = cts
    result = None
    if to_logs is not None:
        dim = 0 if out.ndim == 1 else 1
        result = pulled_log_softmax(to_logs, out, input_spec, dim)
    if to_loss is None:
        return result  # type: ignore[return-value]
    wide = out.to(_compute(out.dtype))
    errors = label_errors(exp(wide), target, ignore_index)
    share = fit(mul(errors, to_loss.to(wide.dtype)), input_spec)
    return share if result is None else add(result, share)  # type: ignore[no-any-return]


mean_label_entropy.vjp(input=_mean_label_entropy_vjp)
