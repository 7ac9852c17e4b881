"""Rules by which chains of views become one view in one form."""

from __future__ import annotations

from tracegrad.ir.graph import Value
from tracegrad.ir.patterns import Any_, Match, apply
from tracegrad.ir.rewriting import Replacement, Rule
from tracegrad.spec import TensorSpec

_X = Any_("x")


def _shape(value: Value) -> tuple[int, ...]:
    spec = value.spec
    assert isinstance(spec, TensorSpec)
    return spec.shape  # type: ignore[return-value]


def _transpose_is_permute(found: Match, build: Replacement) -> Value:
    dims = list(range(len(_shape(found.value("x")))))
    a, b = found.root.attribute("dim0"), found.root.attribute("dim1")
    if dims:
        dims[a], dims[b] = dims[b], dims[a]
    return build.apply("permute", found.value("x"), dims=tuple(dims))


def _permute_of_permute(found: Match, build: Replacement) -> Value:
    inner = found.nodes["inner"].attribute("dims")
    outer = found.root.attribute("dims")
    dims = tuple(inner[d] for d in outer)
    return build.apply("permute", found.value("x"), dims=dims)


def _unchanged(found: Match, build: Replacement) -> Value | None:
    """Return the operand of a view that shows all of it as it is.

    A user who got the operand in place of a view of it would notice.
    """
    return None if build.is_returned() else found.value("x")


def _identity_permute(found: Match, build: Replacement) -> Value | None:
    dims = found.root.attribute("dims")
    return _unchanged(found, build) if dims == tuple(sorted(dims)) else None


def _same_shape(found: Match, build: Replacement) -> Value | None:
    same = _shape(found.value("x")) == _shape(found.root.result)
    return _unchanged(found, build) if same else None


def _as_view(found: Match, build: Replacement) -> Value:
    return build.apply("view", found.value("x"), shape=_shape(found.root.result))


def _as_expand(found: Match, build: Replacement) -> Value:
    return build.apply("expand", found.value("x"), size=_shape(found.root.result))


def _whole_slice(found: Match, build: Replacement) -> Value | None:
    return _same_shape(found, build) if found.root.attribute("step") == 1 else None


def _slice_of_slice(found: Match, build: Replacement) -> Value | None:
    inner, outer = dict(found.nodes["inner"].attributes), dict(found.root.attributes)
    if inner["dim"] != outer["dim"]:
        return None
    places = range(inner["start"], inner["stop"], inner["step"])
    # A stop below 0 means "down to the first", for which a Python slice has None.
    stop = outer["stop"] if outer["stop"] >= 0 else None
    chosen = places[outer["start"] : stop : outer["step"]]
    if len(chosen) == 0:
        return None
    return build.apply(
        "slice",
        found.value("x"),
        dim=inner["dim"],
        start=chosen.start,
        stop=chosen.stop,
        step=chosen.step,
    )


VIEW_RULES: tuple[Rule, ...] = (
    Rule(
        "transpose-is-permute",
        apply("transpose", _X),
        _transpose_is_permute,
        """
        graph f(%x: f32[2, 3]) {
          %y: f32[3, 2] strides[1, 3] = transpose(%x, dim0=0, dim1=1)
          return %y
        }""",
    ),
    Rule(
        "identity-permute",
        apply("permute", _X),
        _identity_permute,
        """
        graph f(%x: f32[2, 3]) {
          %v: f32[2, 3] = permute(%x, dims=[0, 1])
          %y: f32[2, 3] = exp(%v)
          return %y
        }""",
    ),
    Rule(
        "permute-of-permute",
        apply("permute", apply("permute", _X, name="inner")),
        _permute_of_permute,
        """
        graph f(%x: f32[2, 3, 4]) {
          %v: f32[3, 4, 2] strides[4, 1, 12] = permute(%x, dims=[1, 2, 0])
          %y: f32[4, 3, 2] strides[1, 4, 12] = permute(%v, dims=[1, 0, 2])
          return %y
        }""",
    ),
    Rule(
        "unsqueeze-is-view",
        apply("unsqueeze", _X),
        _as_view,
        """
        graph f(%x: f32[2, 3]) {
          %y: f32[2, 1, 3] = unsqueeze(%x, dim=1)
          return %y
        }""",
    ),
    Rule(
        "squeeze-is-view",
        apply("squeeze", _X),
        _as_view,
        """
        graph f(%x: f32[2, 1, 3]) {
          %y: f32[2, 3] = squeeze(%x, dim=[1])
          return %y
        }""",
    ),
    Rule(
        "same-view",
        apply("view", _X),
        _same_shape,
        """
        graph f(%x: f32[2, 3]) {
          %v: f32[2, 3] = view(%x, shape=[2, 3])
          %y: f32[2, 3] = exp(%v)
          return %y
        }""",
    ),
    Rule(
        "view-of-view",
        apply("view", apply("view", _X)),
        _as_view,
        """
        graph f(%x: f32[2, 6]) {
          %v: f32[12] = view(%x, shape=[12])
          %y: f32[3, 4] = view(%v, shape=[3, 4])
          return %y
        }""",
    ),
    Rule(
        "same-expand",
        apply("expand", _X),
        _same_shape,
        """
        graph f(%x: f32[2, 3]) {
          %v: f32[2, 3] = expand(%x, size=[2, 3])
          %y: f32[2, 3] = exp(%v)
          return %y
        }""",
    ),
    Rule(
        "expand-of-expand",
        apply("expand", apply("expand", _X)),
        _as_expand,
        """
        graph f(%x: f32[1, 3]) {
          %v: f32[2, 3] strides[0, 1] = expand(%x, size=[2, 3])
          %y: f32[4, 2, 3] strides[0, 0, 1] = expand(%v, size=[4, 2, 3])
          return %y
        }""",
    ),
    Rule(
        "whole-slice",
        apply("slice", _X),
        _whole_slice,
        """
        graph f(%x: f32[2, 3]) {
          %v: f32[2, 3] = slice(%x, dim=1, start=0, stop=3, step=1)
          %y: f32[2, 3] = exp(%v)
          return %y
        }""",
    ),
    Rule(
        "slice-of-slice",
        apply("slice", apply("slice", _X, name="inner")),
        _slice_of_slice,
        """
        graph f(%x: f32[9]) {
          %v: f32[4] strides[2] = slice(%x, dim=0, start=1, stop=9, step=2)
          %y: f32[2] strides[-4] = slice(%v, dim=0, start=3, stop=-1, step=-2)
          return %y
        }""",
    ),
    Rule(
        "detach-of-detach",
        apply("detach", apply("detach", _X)),
        lambda found, build: build.apply("detach", found.value("x")),
        """
        graph f(%x: f32[3]) {
          %v: f32[3] = detach(%x)
          %y: f32[3] = detach(%v)
          return %y
        }""",
    ),
)
