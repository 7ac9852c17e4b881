"""A base with the part behind a view replaced, and views that change nothing."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.inplace import freeze_path
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor, version_of
from tracegrad.errors import ShapeError
from tracegrad.ops._families import primitive, view_family
from tracegrad.ops.shaping import zeros_of
from tracegrad.ops.views import reshaped_view, select, transpose
from tracegrad.sizes import shape_text
from tracegrad.spec import TensorSpec


@view_family(
    abstract=lambda input: input,
    kernel=lambda xp, input: input[...],
    public=False,
    method=False,
    examples=lambda rng: [((rng.standard_normal((2, 3)),), {})],
)
def alias(input: Tensor) -> Tensor:
    """The same memory, as another tensor: ``x[...]``."""


alias.vjp(input=lambda ct: ct)


@primitive(
    "view",
    abstract=lambda input: input,
    kernel=lambda xp, input: input[...],
    numpy="{input}",
    alias=True,
    may_alias=True,
    examples=lambda rng: [((rng.standard_normal((2, 3)),), {})],
    gradient_only="input",
    public=False,
    method=False,
)
def detach(input: Tensor) -> Tensor:
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


def _detached(input: Tensor) -> Tensor:
    """Return a tensor over the same memory and version, without gradient."""
    result: Tensor = detach(input)
    result._counter = version_of(input)
    return result


public_function(name="detach")(_detached)


def replayed(base: Tensor, path: tuple[Any, ...]) -> Tensor:
    """Return what a frozen path of views reaches in `base`, in its logical form."""
    for operator, attributes, index in path:
        logical = operator.facts.get("logical")
        if logical is None:
            found = operator.apply((base,), dict(attributes))
        else:
            found = logical["call"](base, **dict(attributes))
        base = found[index] if found.__class__ is tuple else found
    return base


def _reached(xp: Any, base: Any, path: Any, logical: bool) -> Any:
    for operator, attributes, index in path:
        forms = operator.facts.get("logical") if logical else None
        kernel = operator.kernel if forms is None else forms["kernel"]
        found = kernel(xp, base, **dict(attributes))
        base = found[index] if isinstance(found, list | tuple) else found
    return base


def _write_parts(xp: Any, result: Any, value: Any, path: Any) -> None:
    """Write through views that see the parts of complex numbers, or make such."""
    # What stands for an element is where its parts lie: a complex element's two.
    count = result.size * (2 if result.dtype.kind == "c" else 1)
    places = xp.arange(count, dtype="float64")
    if result.dtype.kind == "c":
        places = places.view("complex128")
    reached = _reached(xp, places.reshape(result.shape), path, logical=True)
    flat = result.reshape(-1).view(result.real.dtype)
    flat[reached.real.astype("int64")] = value.real
    if reached.dtype.kind == "c":
        flat[reached.imag.astype("int64")] = value.imag


def _view_write_kernel(xp: Any, base: Any, value: Any, path: Any) -> Any:
    result = xp.array(base, copy=True, order="C")
    if any("logical" in operator.facts for operator, _, _ in path):
        if any("parts" in operator.facts for operator, _, _ in path):
            _write_parts(xp, result, value, path)
            return result
        places = xp.arange(result.size).reshape(result.shape)
        reached = _reached(xp, places, path, logical=True)
        result.reshape(-1)[reached] = value
    else:
        _reached(xp, result, path, logical=False)[...] = value
    return result


def _view_write_abstract(base: TensorSpec, value: TensorSpec, path: Any) -> TensorSpec:
    target = base
    for operator, attributes, index in path:
        logical = operator.facts.get("logical")
        abstract = operator.abstract if logical is None else logical["abstract"]
        found = abstract(target, **dict(attributes))
        target = found[index] if isinstance(found, tuple) else found
    if target.shape != value.shape:
        raise ShapeError(
            f"view_write: the view has shape {shape_text(target.shape)}, "
            f"the value {shape_text(value.shape)}"
        )
    return TensorSpec(base.dtype, base.shape, (), base.device)


def _view_write_examples(rng: Any) -> Any:
    base = rng.standard_normal((2, 3))
    row = freeze_path(((select, {"dim": 0, "index": 1}, 0),))
    turned = (transpose, {"dim0": 0, "dim1": 1}, 0)
    flat = freeze_path((turned, (reshaped_view, {"shape": (6,)}, 0)))
    return [
        ((base, rng.standard_normal(3), row), {}),
        ((base, rng.standard_normal(6), flat), {}),
    ]


@primitive(
    "movement",
    abstract=_view_write_abstract,
    kernel=_view_write_kernel,
    tape_name="CopySlices",
    examples=_view_write_examples,
    # Targets may emit a copy of the base and a write into the views of the path.
    writes_path=True,
    public=False,
    method=False,
)
def view_write(base: Tensor, value: Tensor, path: tuple[Any, ...]) -> Tensor:
    """The base with the part that a path of views reaches replaced by the value."""


view_write.vjp(
    base=lambda ct, value_spec, path: view_write(ct, zeros_of(value_spec, ct), path),
    value=lambda ct, path: replayed(ct, path),
).jvp(
    base=lambda t, value_spec, path: view_write(t, zeros_of(value_spec, t), path),
    value=lambda t, base_spec, path: view_write(zeros_of(base_spec, t), t, path),
)
