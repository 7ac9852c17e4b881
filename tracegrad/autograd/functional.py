"""Derivatives of functions of tensors, by the eager tape: PyTorch's older interface.

`tracegrad.func` has the same by composable transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracegrad.autograd.forward import push_forward
from tracegrad.autograd.gradients import grad
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Tensor, edge_of
from tracegrad.errors import ArgumentError, ArgumentTypeError, GradientError
from tracegrad.ops.shaping import zeros_of

Function = Callable[..., Any]


def vjp(
    func: Function,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the result of `func`, and `v` pulled back through it.

    Parameters
    ----------
    func : callable
    inputs : Tensor or tuple of Tensor
    v : Tensor or tuple of Tensor, optional
        The cotangents; 1 for one result of one element.
    create_graph : bool
        Whether the results can be differentiated further.
    strict : bool
        Raise where a result does not depend on an input.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.autograd.functional import vjp
    >>> vjp(lambda x: x * x, tg.tensor([1.0, 2.0]), tg.tensor([1.0, 1.0]))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    several, values = _prepared(inputs, create_graph)
    outputs, found = _with_tape(lambda: _pulled(func, values, v, create_graph, strict))
    return _finished(outputs, create_graph), _like(several, found, create_graph)


def jvp(
    func: Function,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the result of `func`, and `v` pushed forward through it.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`.
    v : Tensor or tuple of Tensor, optional
        The tangents; 1 for one input of one element.
    """
    _, values = _prepared(inputs, create_graph)
    tangents = _directions("v", v, values)
    result, level = push_forward(func, values, dict(enumerate(tangents)))
    outputs = _checked("the result", result)
    found = []
    for out in outputs:
        tangent = level.value_of(out)
        if tangent is None and strict:
            raise GradientError("jvp: a result does not depend on the inputs")
        found.append(_zeros(out) if tangent is None else tangent)
    several = isinstance(result, tuple | list)
    return _finished(result, create_graph), _like(several, found, create_graph)


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivative of each result by each input.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`.
    vectorize : bool
        Accepted for PyTorch's sake; `tracegrad.func.jacrev` does all rows at once.
    strategy : {"reverse-mode", "forward-mode"}

    Returns
    -------
    Tensor or nested tuple
        For each result and each input a tensor of the result's shape followed by the
        input's.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ArgumentError(f"jacobian: there is no strategy {strategy!r}")
    several, values = _prepared(inputs, create_graph)
    if strategy == "forward-mode":
        many, blocks = _by_columns(func, values)
    else:
        many, blocks = _with_tape(lambda: _by_rows(func, values, create_graph, strict))
    rows = [_like(several, row, create_graph) for row in blocks]
    return tuple(rows) if many else rows[0]


def _by_rows(
    func: Function, values: Sequence[Tensor], create_graph: bool, strict: bool
) -> tuple[bool, list[list[Tensor]]]:
    result = func(*values)
    blocks = []
    for out in _checked("the result", result):
        rows = [
            _gradients(element, values, None, create_graph, strict, retain=True)
            for element in OPERATORS["view"](out.contiguous(), out.numel()).unbind()  # type: ignore[attr-defined]
        ]
        blocks.append(
            [
                _stacked([row[i] for row in rows], (*out.shape, *x.shape), x)
                for i, x in enumerate(values)
            ]
        )
    return isinstance(result, tuple | list), blocks


def _by_columns(
    func: Function, values: Sequence[Tensor]
) -> tuple[bool, list[list[Tensor]]]:
    blocks: list[list[Tensor]] = []
    several = False
    for place, x in enumerate(values):
        columns: list[list[Tensor]] = []
        for unit in _units(x):
            result, level = push_forward(func, values, {place: unit})
            several = isinstance(result, tuple | list)
            outputs = _checked("the result", result)
            pushed = [level.value_of(out) for out in outputs]
            columns.append(
                [
                    _zeros(o) if t is None else t
                    for o, t in zip(outputs, pushed, strict=True)
                ]
            )
        for index, parts in enumerate(zip(*columns, strict=True)):
            out = parts[0]
            joined = OPERATORS["stack"](list(parts), out.ndim)
            block = joined.reshape(*out.shape, *x.shape)
            blocks.extend([[]] if index == len(blocks) else [])
            blocks[index].append(block)
    return several, blocks


def _units(x: Tensor) -> list[Tensor]:
    rows = OPERATORS["eye"](x.numel(), x.numel(), x.dtype, x.device)
    return [row.reshape(*x.shape) for row in rows.unbind()]


def _stacked(rows: list[Tensor], shape: tuple[Any, ...], like: Tensor) -> Tensor:
    if not rows:
        return zeros_of((shape, like._array.dtype), like)
    return OPERATORS["stack"](rows, 0).reshape(*shape)  # type: ignore[no-any-return]


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of `func`, which gives one number.

    Parameters
    ----------
    func, inputs, create_graph, strict, vectorize
        As for `jacobian`.
    outer_jacobian_strategy : str
        Accepted for PyTorch's sake; reverse mode is used.
    """
    several, _ = _prepared(inputs, create_graph)

    def gradient(*values: Tensor) -> tuple[Tensor, ...]:
        out = _scalar(func(*values))
        found = _gradients(out, values, None, True, strict, retain=True)
        return tuple(found)

    found = jacobian(gradient, _as_tuple(inputs), create_graph, strict=False)
    return found if several else found[0][0]


def vhp(
    func: Function,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the result of `func`, and `v` times its second derivatives.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`; `func` gives one number.
    v : Tensor or tuple of Tensor, optional
        Of the inputs' shapes.
    """
    several, values = _prepared(inputs, create_graph)
    directions = _directions("v", v, values)

    def run() -> tuple[Tensor, list[Tensor]]:
        out = _scalar(func(*values))
        first = _gradients(out, values, None, True, strict, retain=True)
        tracked = [
            (g, d) for g, d in zip(first, directions, strict=True) if g.requires_grad
        ]
        if not tracked:
            return out, [_zeros(x) for x in values]
        gradients, weights = zip(*tracked, strict=True)
        found = grad(
            gradients,
            values,
            weights,
            retain_graph=True,
            create_graph=create_graph,
            materialize_grads=True,
        )
        return out, [g for g in found if g is not None]

    out, found = _with_tape(run)
    return _finished(out, create_graph), _like(several, found, create_graph)


def hvp(
    func: Function,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the result of `func`, and its second derivatives times `v`.

    The second derivatives are symmetric, so that this is `vhp`.

    Parameters
    ----------
    func, inputs, v, create_graph, strict
        As for `vhp`.
    """
    return vhp(func, inputs, v, create_graph, strict)


# -- what they share -------------------------------------------------------------------


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _checked(name: str, value: Any) -> tuple[Tensor, ...]:
    found = _as_tuple(value)
    for item in found:
        if not isinstance(item, Tensor):
            raise ArgumentTypeError(
                f"{name} must be a Tensor or a tuple of Tensors, "
                f"not {type(item).__name__}"
            )
    return found


def _prepared(inputs: Any, create_graph: bool) -> tuple[bool, list[Tensor]]:
    """Return tensors that stand for the inputs, each with a place on the tape."""
    values = []
    for x in _checked("inputs", inputs):
        if create_graph and edge_of(x) is not None:
            values.append(OPERATORS["view"](x, *x.shape))
        else:
            values.append(OPERATORS["detach"](x).requires_grad_())
    return isinstance(inputs, tuple | list), values


def _with_tape(run: Callable[[], Any]) -> Any:
    before = set_grad_enabled(True)
    try:
        return run()
    finally:
        set_grad_enabled(before)


def _directions(name: str, v: Any, values: Sequence[Tensor]) -> list[Tensor]:
    if v is None:
        if len(values) != 1 or values[0].numel() != 1:
            raise GradientError(
                f"{name} can be left out for one input of one element only"
            )
        x = values[0]
        return [OPERATORS["full"](x._array.shape, 1, x.dtype, x.device)]
    found = _checked(name, v)
    if [tuple(d.shape) for d in found] != [tuple(x.shape) for x in values]:
        raise GradientError(
            f"{name} has shapes {[list(d.shape) for d in found]}, expected are "
            f"{[list(x.shape) for x in values]}"
        )
    return list(found)


def _scalar(out: Any) -> Tensor:
    (found,) = _checked("the result", out)
    if found.numel() != 1:
        raise GradientError(
            "the function must give one number, not a tensor of shape "
            f"{list(found.shape)}"
        )
    return found


def _pulled(
    func: Function, values: Sequence[Tensor], v: Any, create_graph: bool, strict: bool
) -> tuple[Any, list[Tensor]]:
    result = func(*values)
    outputs = _checked("the result", result)
    cts = _directions("v", v, outputs)
    return result, _gradients(outputs, values, cts, create_graph, strict, retain=False)


def _gradients(
    outputs: Any,
    values: Sequence[Tensor],
    cts: Sequence[Tensor] | None,
    create_graph: bool,
    strict: bool,
    retain: bool,
) -> list[Tensor]:
    several = _as_tuple(outputs)
    weights = [None] * len(several) if cts is None else list(cts)
    pairs = [(o, c) for o, c in zip(several, weights, strict=True) if o.requires_grad]
    if not pairs:
        if strict:
            raise GradientError("a result does not depend on the inputs")
        return [_zeros(x) for x in values]
    found = grad(
        [o for o, _ in pairs],
        values,
        [c for _, c in pairs],
        retain_graph=retain or create_graph,
        create_graph=create_graph,
        allow_unused=not strict,
    )
    return [_zeros(x) if g is None else g for g, x in zip(found, values, strict=True)]


def _zeros(x: Tensor) -> Tensor:
    return zeros_of((x._array.shape, x._array.dtype), x)


def _finished(value: Any, create_graph: bool) -> Any:
    if isinstance(value, tuple | list):
        return tuple(_finished(item, create_graph) for item in value)
    return value if create_graph else OPERATORS["detach"](value)


def _like(several: bool, found: Sequence[Tensor], create_graph: bool) -> Any:
    finished = _finished(tuple(found), create_graph)
    return finished if several else finished[0]
