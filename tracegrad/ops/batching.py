"""Batching rules of the operators whose family does not give one.

A rule gets a `Call` and gives the batch's result(s), batch dimension first; or
NotImplemented, and the examples are done one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.sizes import Shape

Attributes: TypeAlias = dict[str, Any]
# One application of a view: operator, attributes, index of the result.
Step: TypeAlias = tuple[OpDef, Attributes, int]


@final
@dataclass(frozen=True, slots=True)
class Call:
    """One application to a batch.

    Attributes
    ----------
    operands : tuple
        Those that are batched have the batch dimension first.
    batched : tuple of bool, or of tuple of bool for an operand of several tensors
    specs : tuple of TensorSpec or None
        What one example sees.
    attributes : dict
        As one example gives them.
    size : int
        The number of examples.
    """

    operands: tuple[Any, ...]
    batched: tuple[Any, ...]
    specs: tuple[Any, ...]
    attributes: Attributes
    size: int

    def example(self, place: int) -> tuple[Any, ...]:
        """Return the operands of one example."""
        return tuple(
            _at(operand, is_batched, place)
            for operand, is_batched in zip(self.operands, self.batched, strict=True)
        )


def _at(operand: Any, is_batched: Any, place: int) -> Any:
    if isinstance(operand, tuple):
        parts = zip(operand, is_batched, strict=True)
        return tuple(_at(o, b, place) for o, b in parts)
    if not is_batched:
        return operand
    return OPERATORS["select"](operand, 0, place)


def aligned(batch: Tensor, own_rank: int, rank: int) -> Tensor:
    """Return a batch whose examples have `rank` dimensions, new ones first."""
    for _ in range(rank - own_rank):
        batch = OPERATORS["unsqueeze"](batch, 1)
    return batch


def repeated(tensor: Tensor, size: int) -> Tensor:
    """Return a tensor that is the same for all examples as a batch."""
    return OPERATORS["expand"](tensor, size, *tensor._array.shape)  # type: ignore[no-any-return]


def expanded(operand: Tensor, call: Call, index: int) -> Tensor:
    """Return an operand as a batch, whether it was one or not."""
    return operand if call.batched[index] else repeated(operand, call.size)


def _all_expanded(call: Call) -> list[Any]:
    return [
        expanded(o, call, i) if isinstance(o, Tensor) else o
        for i, o in enumerate(call.operands)
    ]


# -- views -----------------------------------------------------------------------------

# From an example's attributes, its shape and the number of examples to the steps that
# do the same for the batch.
Steps: TypeAlias = Callable[[Attributes, Shape, int], list[Step]]


def _shifted(name: str, *dims: str) -> Steps:
    """Return steps with dimensions counted one place further on."""

    def steps(attributes: Attributes, shape: Shape, size: int) -> list[Step]:
        moved = dict(attributes)
        for dim in dims:
            value = moved[dim]
            several = isinstance(value, tuple)
            moved[dim] = tuple(d + 1 for d in value) if several else value + 1
        return [(OPERATORS[name], moved, 0)]

    return steps


def _same(name: str) -> Steps:
    return lambda attributes, shape, size: [(OPERATORS[name], attributes, 0)]


def _swap_steps(attributes: Attributes, shape: Shape, size: int) -> list[Step]:
    if not shape:
        return [(OPERATORS["alias"], {}, 0)]
    return _shifted("transpose", "dim0", "dim1")(attributes, shape, size)


def _permute_steps(attributes: Attributes, shape: Shape, size: int) -> list[Step]:
    dims = (0, *(d + 1 for d in attributes["dims"]))
    return [(OPERATORS["permute"], {"dims": dims}, 0)]


def _view_steps(attributes: Attributes, shape: Shape, size: int) -> list[Step]:
    return [(OPERATORS["view"], {"shape": (size, *attributes["shape"])}, 0)]


def _expand_steps(attributes: Attributes, shape: Shape, size: int) -> list[Step]:
    wanted = attributes["size"]
    unsqueeze = (OPERATORS["unsqueeze"], {"dim": 1}, 0)
    return [
        *[unsqueeze] * (len(wanted) - len(shape)),
        (OPERATORS["expand"], {"size": (size, *wanted)}, 0),
    ]


VIEW_STEPS: Mapping[str, Steps] = {
    "alias": _same("alias"),
    "diagonal": _shifted("diagonal", "dim1", "dim2"),
    "expand": _expand_steps,
    "imag": _same("imag"),
    "permute": _permute_steps,
    "real": _same("real"),
    "select": _shifted("select", "dim"),
    "slice": _shifted("slice", "dim"),
    "split_with_sizes": _shifted("split_with_sizes", "dim"),
    "squeeze": _shifted("squeeze", "dim"),
    "transpose": _swap_steps,
    "unbind": _shifted("unbind", "dim"),
    "unfold": _shifted("unfold", "dimension"),
    "unsqueeze": _shifted("unsqueeze", "dim"),
    "view": _view_steps,
    "view_as_complex": _same("view_as_complex"),
    "view_as_real": _same("view_as_real"),
}


def _view_rule(steps: Steps) -> Callable[[Call], Any]:
    def rule(call: Call) -> Any:
        (batch,) = call.operands
        result: Any = batch
        for operator, attributes, _ in steps(
            call.attributes, call.specs[0].shape, call.size
        ):
            result = bind(operator, (result,), attributes)
        return result

    return rule


def _batched_path(path: tuple[Any, ...], call: Call) -> tuple[Any, ...] | None:
    """Return the path that reaches in a batch what `path` reaches in an example."""
    spec = call.specs[0]
    found: list[Any] = []
    for operator, frozen, index in path:
        steps = VIEW_STEPS.get(operator.name)
        if steps is None:
            return None
        attributes = dict(frozen)
        parts = steps(attributes, spec.shape, call.size)
        found.extend(
            (op, tuple(changed.items()), index if last else 0)
            for op, changed, last in _marked_last(parts)
        )
        logical = operator.facts.get("logical")
        abstract = operator.abstract if logical is None else logical["abstract"]
        result = abstract(spec, **attributes)
        spec = result[index] if isinstance(result, tuple) else result
    return tuple(found)


def _marked_last(parts: list[Step]) -> list[tuple[OpDef, Attributes, bool]]:
    return [
        (operator, attributes, place == len(parts) - 1)
        for place, (operator, attributes, _) in enumerate(parts)
    ]


def _view_write(call: Call) -> Any:
    path = _batched_path(call.attributes["path"], call)
    if path is None:
        return NotImplemented
    return bind(OPERATORS["view_write"], _all_expanded(call), {"path": path})


# -- movement, library, gather ---------------------------------------------------------


def _plainly(operator: OpDef) -> Callable[[Call], Any]:
    """Apply to the batch as to an example: the dimensions are counted from the end."""
    return lambda call: bind(operator, _all_expanded(call), call.attributes)


def _along(operator: OpDef, *dims: str) -> Callable[[Call], Any]:
    """Apply with the dimensions counted one place further on."""

    def rule(call: Call) -> Any:
        values = [call.attributes[dim] for dim in dims]
        ranks = [len(spec.shape) for spec in call.specs if spec is not None]
        if any(v is None or v == () for v in values) or 0 in ranks:
            return NotImplemented
        (step,) = _shifted(operator.name, *dims)(call.attributes, (), call.size)
        return bind(operator, _all_expanded(call), step[1])

    return rule


def _cat(call: Call) -> Any:
    (tensors,), (flags,), (specs,) = call.operands, call.batched, call.specs
    rank = max(len(spec.shape) for spec in specs)
    kept = [
        tensor if flag else repeated(tensor, call.size)
        for tensor, flag, spec in zip(tensors, flags, specs, strict=True)
        # An empty vector fits anywhere, but its batch does not.
        if not (spec.shape == (0,) and rank > 1)
    ]
    attributes = call.attributes | {"dim": call.attributes["dim"] + 1}
    return bind(OPERATORS["cat"], (tuple(kept),), attributes)


def _unfold_transposed(call: Call) -> Any:
    attributes = dict(call.attributes)
    attributes["shape"] = (call.size, *attributes["shape"])
    attributes["dimension"] += 1
    return bind(OPERATORS["unfold_transposed"], call.operands, attributes)


def _matmul(call: Call) -> Any:
    rank = max(len(spec.shape) for spec in call.specs)
    operands = [
        aligned(operand, len(spec.shape), rank) if is_batched else operand
        for operand, is_batched, spec in zip(
            call.operands, call.batched, call.specs, strict=True
        )
    ]
    return bind(OPERATORS["matmul"], operands, call.attributes)


def _folded(operator: OpDef) -> Callable[[Call], Any]:
    """Join the batch with the first dimension, which the operator treats alike."""

    def rule(call: Call) -> Any:
        if any(call.batched[1:]) or not call.specs[0].shape:
            return NotImplemented
        first, *rest = call.operands
        shape = first._array.shape
        merged = _reshaped(first, (shape[0] * shape[1], *shape[2:]))
        result = bind(operator, (merged, *rest), call.attributes)
        return _reshaped(result, (*shape[:2], *result._array.shape[1:]))

    return rule


def _reshaped(tensor: Tensor, shape: Sequence[Any]) -> Tensor:
    return tensor.reshape(*shape)  # type: ignore[attr-defined, no-any-return]


def _with_example_numbers(
    call: Call, dims: tuple[int, ...], indices: Any, flags: Any, specs: Any
) -> tuple[tuple[Any, ...], tuple[int, ...]] | None:
    """Return indices into the batch: first the example's number.

    None where the indexed dimensions are not the first ones; the result's would then
    stand elsewhere.
    """
    if dims != tuple(range(len(dims))):
        return None
    rank = max(len(spec.shape) for spec in specs)
    device = indices[0].device
    numbers = OPERATORS["arange"].apply(
        (),
        {
            "start": 0,
            "end": call.size,
            "step": 1,
            "dtype": indices[0].dtype,
            "device": device,
        },
    )
    numbers = _reshaped(numbers, (call.size, *(1,) * rank))
    moved = [
        aligned(index, len(spec.shape), rank) if flag else index
        for index, flag, spec in zip(indices, flags, specs, strict=True)
    ]
    return (numbers, *moved), (0, *(d + 1 for d in dims))


def _index(call: Call) -> Any:
    batch = expanded(call.operands[0], call, 0)
    dims = call.attributes["dims"]
    adjacent = dims == tuple(range(dims[0], dims[0] + len(dims)))
    if not any(call.batched[1]) and adjacent:
        moved = tuple(d + 1 for d in dims)
        return bind(OPERATORS["index"], (batch, call.operands[1]), {"dims": moved})
    found = _with_example_numbers(
        call, dims, call.operands[1], call.batched[1], call.specs[1]
    )
    if found is None:
        return NotImplemented
    indices, dims = found
    return bind(OPERATORS["index"], (batch, indices), {"dims": dims})


def _index_put(call: Call) -> Any:
    input, indices, values = call.operands
    dims = call.attributes["dims"]
    found = _with_example_numbers(call, dims, indices, call.batched[1], call.specs[1])
    if found is None:
        return NotImplemented
    rank = max(len(spec.shape) for spec in call.specs[1])
    rank += len(call.specs[0].shape) - len(dims)
    values = aligned(expanded(values, call, 2), len(call.specs[2].shape), rank)
    operands = (expanded(input, call, 0), found[0], values)
    attributes = call.attributes | {"dims": found[1]}
    return bind(OPERATORS["index_put"], operands, attributes)


def _with_common_index(operator: OpDef) -> Callable[[Call], Any]:
    """Apply along a later dimension where all examples have one index."""

    def rule(call: Call) -> Any:
        if call.batched[1] or not call.specs[0].shape:
            return NotImplemented
        operands = [
            operand if place == 1 else expanded(operand, call, place)
            for place, operand in enumerate(call.operands)
        ]
        attributes = call.attributes | {"dim": call.attributes["dim"] + 1}
        return bind(operator, operands, attributes)

    return rule


def _embedding(call: Call) -> Any:
    if call.batched[0]:
        return NotImplemented
    return bind(OPERATORS["embedding"], call.operands, call.attributes)


# Their examples are the last dimensions; all others are a batch already.
_OF_MATRICES = (
    "inverted",
    "adjugate",
    "linalg_det",
    "linalg_slogdet",
    "cholesky_lower",
    "qr_reduced",
    "qr_complete",
    "eigh_lower",
    "eig_general",
    "svd_factors",
    "matrix_exp",
)


def state_rules() -> None:
    """State the rules, once all operators are defined."""
    for name, steps in VIEW_STEPS.items():
        OPERATORS[name].batching(_view_rule(steps))
    for name in (
        "marked",
        "detach",
        "to_device",
        "view_dtype",
        "graft",
        "tril",
        "triu",
        *_OF_MATRICES,
    ):
        OPERATORS[name].batching(_plainly(OPERATORS[name]))
    OPERATORS["constant_pad"].batching(_plainly(OPERATORS["constant_pad"]))
    for name in ("flip", "roll", "fft_c2c", "fft_r2c", "fft_c2r"):
        OPERATORS[name].batching(_along(OPERATORS[name], "dims"))
    for name in ("argmax", "argmin", "argsort", "mode_place"):
        OPERATORS[name].batching(_along(OPERATORS[name], "dim"))
    for name in ("gather", "scatter", "scatter_add", "scatter_reduce"):
        OPERATORS[name].batching(_along(OPERATORS[name], "dim"))
    for name in ("index_select", "index_add", "index_copy"):
        OPERATORS[name].batching(_with_common_index(OPERATORS[name]))
    for name in (
        "conv",
        "conv_transpose",
        "max_pool_indices",
        "adaptive_max_pool_indices",
        "avg_pool",
        "avg_pool_transpose",
        "adaptive_avg_pool",
        "adaptive_avg_pool_transpose",
    ):
        OPERATORS[name].batching(_folded(OPERATORS[name]))
    for name, rule in (
        ("cat", _cat),
        ("embedding", _embedding),
        ("index", _index),
        ("index_put", _index_put),
        ("matmul", _matmul),
        ("unfold_transposed", _unfold_transposed),
        ("view_write", _view_write),
    ):
        OPERATORS[name].batching(rule)
