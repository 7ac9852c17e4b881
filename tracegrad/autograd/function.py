"""`Function`: an operation whose derivative the user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, final

from tracegrad.dispatch.entry import (
    Node,
    ResultEdge,
    SavedTensor,
    next_sequence,
)
from tracegrad.dispatch.hooks import EntryHooks
from tracegrad.dispatch.inplace import check_writable, rebase
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import install_transforms, installed, no_tape, thread
from tracegrad.dispatch.tensor import Tensor, View, edge_of, version_of, wrap
from tracegrad.errors import (
    ArgumentTypeError,
    GradientError,
    NotSupportedError,
    ShapeError,
)
from tracegrad.ops.shaping import fit
from tracegrad.sizes import broadcast_shapes


class FunctionCtx(Node):
    """What forward leaves for backward; the tape entry of one application.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of forward whether it requires grad.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_dirty",
        "_materialize",
        "_non_differentiable",
        "_saved",
        "_to_save",
        "edges",
        "function",
        "hooks",
        "needs_input_grad",
        "operand_specs",
        "result_specs",
        "sequence",
        "several",
        "to_save_for_forward",
    )

    def __init__(self, function: type[Function], args: Sequence[Any]) -> None:
        self.function = function
        self.hooks: EntryHooks | None = None
        self.sequence = next_sequence()
        self.edges = tuple(edge_of(a) if isinstance(a, Tensor) else None for a in args)
        self.operand_specs = tuple(map(_spec, args))
        self.needs_input_grad = tuple(edge is not None for edge in self.edges)
        self.result_specs: tuple[Any, ...] = ()
        self.several = False
        self.to_save_for_forward: tuple[Any, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._saved: tuple[Any, ...] | None = ()
        self._dirty: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Any, ...] = ()
        self._materialize = True

    # -- for the user's forward ---------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for backward; call it once, at the end of forward."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise ArgumentTypeError(
                    "save_for_backward() takes tensors and None, not "
                    f"{type(tensor).__name__}; keep other things as attributes of ctx"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for the ``jvp`` staticmethod."""
        self.to_save_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which arguments forward has written in place."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which results have no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether backward gets zeros, or None, for results without gradient."""
        self._materialize = value

    # -- for the user's backward --------------------------------------------------

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` kept.

        Raises
        ------
        GradientError
            If it is freed, or was written in place since.
        """
        if self._to_save:
            return self._to_save
        if self._saved is None:
            raise GradientError(
                f"{self.name()}: backward went through here already and what it had "
                "saved is freed; pass retain_graph=True to the first backward"
            )
        return tuple(self._unpacked(kept) for kept in self._saved)

    def _unpacked(self, kept: Any) -> Tensor | None:
        if kept is None:
            return None
        saved, index = kept
        if saved.version[0] != saved.count:
            raise GradientError(
                f"{self.name()}: a saved tensor (shape {list(saved.array.shape)}) was "
                f"written in place since; it is at version {saved.version[0]}, was "
                f"saved at version {saved.count}"
            )
        tensor = wrap(saved.array)
        tensor._counter = saved.version
        if thread.recorder is not None and not thread.grad_enabled:
            # A recorder knows memory with and without gradient as two values.
            return tensor
        tensor._node = saved.edge if index is None else self.edge_to(index)
        return tensor

    # -- for the engine -----------------------------------------------------------

    def name(self) -> str:
        """Return the class's name with ``Backward``."""
        return self.function.__name__ + "Backward"

    def edge_to(self, index: int) -> Any:
        """Return the tape position of a result."""
        return ResultEdge(self, index) if self.several else self

    @property
    def saved(self) -> tuple[Any, ...] | None:
        """What was kept, with versions; None once released."""
        return self._saved

    @property
    def is_recordable(self) -> bool:
        """Whether a graph knows this derivative: that of an operator."""
        operator = self.function.operator
        return operator is not None and bool(operator.facts.get("formula"))

    def release(self) -> None:
        """Free what was saved."""
        if self._saved:
            self._saved = None

    def pull(
        self, ct: Any, create_graph: bool, needed: set[Any] | None
    ) -> list[tuple[Any, Tensor]]:
        """Return the cotangents of the arguments, with where they go."""
        cts = ct if ct.__class__ is list else [ct]
        if self._materialize:
            cts = [
                _zeros(spec) if part is None and spec is not None else part
                for part, spec in zip(cts, self.result_specs, strict=True)
            ]
        found = self.function._backward_function()(self, *cts)
        given = tuple(found) if isinstance(found, tuple | list) else (found,)
        return [
            (edge, self._fitted(index, part))
            for index, (edge, part) in enumerate(
                zip(self.edges, self._checked(given), strict=True)
            )
            if edge is not None and part is not None
        ]

    def _checked(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        count = len(self.edges)
        extra = given[count:]
        if len(given) < count or any(part is not None for part in extra):
            raise GradientError(
                f"{self.name()} returned {len(given)} gradients, forward had {count} "
                "arguments"
            )
        for index, part in enumerate(given[:count]):
            if part is not None and self.operand_specs[index] is None:
                raise GradientError(
                    f"{self.name()} returned a gradient at position {index}, where "
                    "forward got no tensor; return None there"
                )
        return given[:count]

    def _fitted(self, index: int, part: Any) -> Tensor:
        if not isinstance(part, Tensor):
            raise ArgumentTypeError(
                f"{self.name()} must return tensors or None, not {type(part).__name__}"
            )
        shape, dtype, _ = self.operand_specs[index]
        own = part._array.shape
        if own != shape and not _expands_to(shape, own):
            raise ShapeError(
                f"{self.name()} returned a gradient of shape {list(own)} at position "
                f"{index}; the argument has shape {list(shape)}"
            )
        return fit(part, (shape, dtype))


def _expands_to(shape: Any, wanted: Any) -> bool:
    try:
        return tuple(broadcast_shapes(shape, wanted)) == tuple(wanted)
    except ShapeError:
        return False


def _spec(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return None
    return value._array.shape, value.dtype, value.device


def _zeros(spec: Any) -> Any:
    shape, dtype, device = spec
    return OPERATORS["full"](shape, 0, dtype, device)


class Function:
    """An operation with a derivative of its own.

    Subclass it with static methods ``forward`` and ``backward``, and call
    ``apply``. ``forward(ctx, *args)`` runs off the tape; or ``forward(*args)`` with
    ``setup_context(ctx, inputs, output)``. ``backward(ctx, *grad_outputs)`` returns
    one gradient, or None, for each argument of forward.

    Examples
    --------
    >>> import tracegrad as tg
    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return grad_output * 3 * x * x
    >>> x = tg.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    generate_vmap_rule = False
    # The operator whose derivative this is: then captures may record it as a node.
    operator: OpDef | None = None

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result(s)."""
        raise NotSupportedError("a Function must define the static method forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what backward needs."""
        raise NotSupportedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradients of forward's arguments."""
        raise NotSupportedError("a Function must define backward (or vjp)")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangents of the results."""
        raise NotSupportedError("the Function defines no jvp")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Return ``(results, out_dims)`` for batched arguments."""
        raise NotSupportedError("the Function defines no vmap")

    @classmethod
    def _backward_function(cls) -> Callable[..., Any]:
        own = cls.backward is not Function.backward
        return cls.backward if own else cls.vjp

    @classmethod
    def run_with_context(
        cls, args: tuple[Any, ...], edges: tuple[Any, ...] | None = None
    ) -> tuple[Any, FunctionCtx]:
        """Apply the operation for a transform: outside it, with a context for it.

        Parameters
        ----------
        args : tuple
        edges : tuple, optional
            Where the arguments stand on the transform's own tape.

        Raises
        ------
        NotSupportedError
            If there is no ``setup_context``: what forward keeps could not be told
            from what the levels outside keep.
        """
        if cls.setup_context is Function.setup_context:
            raise NotSupportedError(
                f"{cls.__name__} must define setup_context to be used under a "
                "functional "
                "transform (grad, vjp, jvp, vmap)"
            )
        output = cls.apply(*args)
        ctx = FunctionCtx(cls, args)
        if edges is not None:
            ctx.edges = edges
            ctx.needs_input_grad = tuple(edge is not None for edge in edges)
        cls.setup_context(ctx, args, output)
        ctx.several = isinstance(output, tuple)
        ctx.result_specs = tuple(map(_spec, output if ctx.several else (output,)))
        return output, ctx

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Apply the operation and put it on the tape."""
        if installed.busy and thread.transforms:
            transforms = thread.transforms
            install_transforms(transforms[:-1])
            try:
                return transforms[-1].call(cls, args)
            finally:
                install_transforms(transforms)
        return apply_function(cls, args)[0]


def apply_function(function: type[Function], args: tuple[Any, ...]) -> tuple[Any, Any]:
    """Apply a Function under the tape; return its result(s) and its context."""
    ctx = FunctionCtx(function, args)
    tracked = thread.grad_enabled and any(ctx.needs_input_grad)
    with no_tape():
        if function.setup_context is not Function.setup_context:
            output = function.forward(*args)
            function.setup_context(ctx, args, output)
        else:
            output = function.forward(ctx, *args)
    ctx.several = isinstance(output, tuple)
    outputs = output if isinstance(output, tuple) else (output,)
    ctx.result_specs = tuple(map(_spec, outputs))
    _check_dirty(ctx, outputs)
    results = tuple(
        _finished(ctx, index, out, args, tracked) for index, out in enumerate(outputs)
    )
    _save(ctx, args, outputs, tracked)
    return (results if ctx.several else results[0]), ctx


def _check_dirty(ctx: FunctionCtx, outputs: Sequence[Any]) -> None:
    for tensor in ctx._dirty:
        if not any(tensor is out for out in outputs):
            raise GradientError(
                f"{ctx.function.__name__}: an argument marked as dirty must be returned"
            )


def _finished(
    ctx: FunctionCtx, index: int, out: Any, args: Sequence[Any], tracked: bool
) -> Any:
    """Return a result of forward as the user gets it, on the tape."""
    if not isinstance(out, Tensor):
        return out
    differentiable = (
        tracked
        and out.dtype.kind in ("float", "complex")
        and not any(out is t for t in ctx._non_differentiable)
    )
    if any(out is t for t in ctx._dirty):
        if tracked:
            check_writable(out, ctx.function.__name__)
        if differentiable:
            rebase(out, ctx.edge_to(index))
        return out
    if any(out is a for a in args) or out._node is not None:
        out = _alias(out)
    if differentiable:
        out._node = ctx.edge_to(index)
    return out


def _alias(tensor: Tensor) -> Tensor:
    """Return another object over the same memory, which refuses writes under grad."""
    result = wrap(tensor._array)
    view = tensor._view
    base, path = (tensor, ()) if view is None else (view.base, view.path)
    result._view = View(base, path, base._node, "multiple")
    result._counter = version_of(tensor)
    return result


def _save(
    ctx: FunctionCtx, args: Sequence[Any], outputs: Sequence[Any], tracked: bool
) -> None:
    """Turn what forward asked to save into saved tensors, which hold no Tensor."""
    kept: list[Any] = []
    for tensor in ctx._to_save if tracked else ():
        if tensor is None:
            kept.append(None)
            continue
        index = next((i for i, o in enumerate(outputs) if o is tensor), None)
        place = next((i for i, a in enumerate(args) if a is tensor), None)
        if place is not None and index is None:
            edge = ctx.edges[place]
        else:
            edge = None if index is not None else tensor._node
        kept.append((SavedTensor(tensor._array, edge, version_of(tensor)), index))
    ctx._saved = tuple(kept)
    ctx._to_save = ()


@final
class _Refusal(Node):
    """The tape entry of a gradient that has no derivative itself."""

    __slots__ = ("__weakref__", "edges", "hooks", "message", "sequence")

    def __init__(self, edges: tuple[Any, ...], message: str) -> None:
        self.edges = edges
        self.message = message
        self.hooks: EntryHooks | None = None
        self.sequence = next_sequence()

    def name(self) -> str:
        """Return PyTorch's name for it."""
        return "DelayedError"

    def release(self) -> None:
        """There is nothing to free."""

    def pull(self, ct: Any, create_graph: bool, needed: set[Any] | None) -> Any:
        """Refuse."""
        raise GradientError(self.message)


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Say that a ``backward`` has no derivative itself (decorator)."""

    @functools.wraps(function)
    def wrapped(ctx: Any, *cts: Any) -> Any:
        with no_tape():
            found = function(ctx, *cts)
        edges = tuple(edge_of(c) for c in cts if isinstance(c, Tensor))
        if not thread.grad_enabled or not any(edges):
            return found
        refusal = _Refusal(
            edges,
            f"{ctx.name()}: its backward is marked with once_differentiable and can't "
            "be differentiated",
        )
        several = isinstance(found, tuple)
        results = tuple(_refusing(t, refusal) for t in (found if several else (found,)))
        return results if several else results[0]

    return wrapped


def _refusing(tensor: Any, refusal: _Refusal) -> Any:
    if not isinstance(tensor, Tensor):
        return tensor
    result = wrap(tensor._array)
    result._node = refusal
    return result
