"""`backward` and `grad`: from what users pass to a run of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracegrad.autograd.engine import Pass, entries_leading_to
from tracegrad.dispatch.entry import Edge, LeafEntry, ResultEdge
from tracegrad.dispatch.operator import OPERATORS, public_form
from tracegrad.dispatch.state import installed, thread
from tracegrad.dispatch.tensor import Tensor, edge_of
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    GradientError,
    ShapeError,
    TransformError,
)
from tracegrad.location import warn
from tracegrad.ops.shaping import fit, zeros_of


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the ``.grad`` of the leaves.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
    grad_tensors : Tensor or sequence, optional
        The cotangents; 1 for tensors of one element.
    retain_graph : bool, optional
        Keep what was saved, for another backward; as `create_graph` if not given.
    create_graph : bool
        Put the gradients on the tape too.
    grad_variables : Tensor or sequence, optional
        The old name of `grad_tensors`.
    inputs : Tensor or sequence of Tensor, optional
        Fill the ``.grad`` of these only.

    Raises
    ------
    GradientError
        If a tensor is not on the tape, or a saved tensor was written since.

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    _check_outside_transforms("backward()")
    roots = _as_tuple("tensors", tensors)
    seeds = _seeds(roots, grad_variables if grad_tensors is None else grad_tensors)
    edges = [_edge_of_root(root) for root in roots]
    wanted = None if inputs is None else _as_tuple("inputs", inputs)
    if wanted == ():
        raise GradientError("backward(): inputs is empty; leave it out for all leaves")
    if create_graph:
        warn(
            "backward() with create_graph=True makes a reference cycle of each "
            "leaf and "
            "its gradient; use grad(), or set .grad to None afterwards",
        )
    run = Pass(create_graph if retain_graph is None else retain_graph, create_graph)
    if wanted is None:
        run.start(edges, seeds)
        return
    keys = [_key_of(x) for x in wanted]
    run.capture = {entry for entry, _ in keys}
    run.needed = entries_leading_to(edges, run.capture)
    run.start(edges, seeds)
    for (entry, index), tensor in zip(keys, wanted, strict=True):
        found = run.captured.get((entry, index))
        if entry.__class__ is not LeafEntry and found is not None:
            _fill(tensor, found, create_graph)


def _fill(tensor: Tensor, ct: Tensor, create_graph: bool) -> None:
    if tensor._grad is not None:
        tensor.grad = tensor._grad + ct  # type: ignore[operator]
    else:
        tensor.grad = ct if create_graph else OPERATORS["clone"](ct)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs` by `inputs`, without touching ``.grad``.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
    grad_outputs : Tensor or sequence, optional
        The cotangents; 1 for outputs of one element.
    retain_graph, create_graph : bool
        As for `backward`.
    only_inputs : bool
        An old option, which must stay True.
    allow_unused : bool, optional
        Give None for an input that does not lead to an output.
    is_grads_batched : bool
        Not supported: use `tracegrad.func.vmap` of `tracegrad.func.vjp`.
    materialize_grads : bool
        Give zeros for an unused input.

    Raises
    ------
    GradientError
        If an input is unused and that is not allowed.

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.tensor(3.0, requires_grad=True)
    >>> grad(x * x, x)
    (tensor(6.),)
    """
    _check_outside_transforms("autograd.grad()")
    if not only_inputs:
        raise ArgumentError(
            "grad(): only_inputs=False is an old option; use backward() to fill .grad"
        )
    if is_grads_batched:
        raise ArgumentError("grad(): is_grads_batched is not supported; use func.vmap")
    if materialize_grads and allow_unused is False:
        raise ArgumentError(
            "grad(): materialize_grads=True needs allow_unused to be True or left out"
        )
    roots = _as_tuple("outputs", outputs)
    wanted = _as_tuple("inputs", inputs)
    seeds = _seeds(roots, grad_outputs)
    edges = [_edge_of_root(root) for root in roots]
    keys = [_key_of(x) for x in wanted]
    run = Pass(create_graph if retain_graph is None else retain_graph, create_graph)
    run.fills = False
    run.capture = {entry for entry, _ in keys}
    run.needed = entries_leading_to(edges, run.capture)
    run.start(edges, seeds)
    allowed = bool(allow_unused) or materialize_grads
    return tuple(
        _answer(run.captured.get(key), x, allowed, materialize_grads)
        for key, x in zip(keys, wanted, strict=True)
    )


def _check_outside_transforms(name: str) -> None:
    """Refuse the eager tape inside a functional transform.

    What the tape saved is not known to the levels of transforms: a derivative of the
    gradient would silently be zero.
    """
    if installed.busy and any(t.functional for t in thread.transforms):
        raise TransformError(
            f"{name} inside a functional transform (grad, vjp, jvp, vmap) is not "
            "possible; "
            "use tracegrad.func.grad or vjp there"
        )


def _as_tuple(name: str, value: Any) -> tuple[Tensor, ...]:
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    for item in found:
        if not isinstance(item, Tensor):
            raise ArgumentTypeError(
                f"{name} must be a Tensor or a sequence of Tensors, "
                f"not {type(item).__name__}"
            )
    return found


def _seeds(roots: Sequence[Tensor], given: Any) -> list[Tensor]:
    if given is None or isinstance(given, Tensor):
        given = (given,) * len(roots) if given is None else (given,)
    if len(given) != len(roots):
        raise GradientError(
            f"there are {len(roots)} tensors and {len(given)} gradients for them"
        )
    return [_seed(root, ct) for root, ct in zip(roots, given, strict=True)]


def _seed(root: Tensor, ct: Tensor | None) -> Tensor:
    """Return the cotangent to start with.

    Raises
    ------
    GradientError
        If none is given for a root of several elements.
    """
    if ct is None:
        if root.numel() != 1:
            raise GradientError(
                "a gradient is implied for one element only; this tensor has shape "
                f"{list(root.shape)}, give backward() one of that shape"
            )
        if root.dtype.kind == "complex":
            raise GradientError(
                "a gradient is implied for real tensors only; this one is "
                f"{root.dtype.name}"
            )
        return _ones_for(root)
    if not isinstance(ct, Tensor):
        raise ArgumentTypeError(
            f"a gradient must be a Tensor or None, not {type(ct).__name__}"
        )
    if ct._array.shape != root._array.shape:
        raise ShapeError(
            f"the gradient has shape {list(ct.shape)}, the tensor {list(root.shape)}"
        )
    return fit(ct, (root._array.shape, root._array.dtype))


def _ones_for(root: Tensor) -> Tensor:
    full = OPERATORS["full"]
    return full(root._array.shape, 1, root.dtype, root.device)  # type: ignore[no-any-return]


def _edge_of_root(root: Tensor) -> Edge:
    edge = edge_of(root)
    if edge is None:
        raise GradientError(
            "the tensor does not require grad and has no grad_fn: nothing that leads "
            "to it requires a gradient"
        )
    return edge


def _key_of(x: Tensor) -> tuple[Any, int]:
    edge = edge_of(x)
    if edge is None:
        raise GradientError(
            f"an input (shape {list(x.shape)}) does not require grad, so nothing "
            "can be "
            "differentiated by it"
        )
    if edge.__class__ is ResultEdge:
        return edge.entry, edge.index  # type: ignore[union-attr]
    return edge, 0


def _answer(
    found: Tensor | None, x: Tensor, allowed: bool, materialize: bool
) -> Tensor | None:
    if found is not None:
        return found
    if not allowed:
        raise GradientError(
            "an input does not lead to the outputs; pass allow_unused=True to get "
            "None for it"
        )
    return zeros_of((x._array.shape, x._array.dtype), x) if materialize else None


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the ``.grad`` of the leaves."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = public_form(_tensor_backward, "backward")  # type: ignore[attr-defined]
