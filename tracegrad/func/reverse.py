"""Reverse mode as a transform: `vjp`, `grad`, `grad_and_value`.

Each use is a level with a tape of its own, beside the tensors: entries are made of
the operators' rules, as the eager tape's are, and run by the same engine. Levels
outside see the operators of the forward and of the backward run, so that any nesting
of reverse mode, forward mode and `vmap` works.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from tracegrad.autograd.engine import Pass, entries_leading_to
from tracegrad.autograd.forward import fresh
from tracegrad.autograd.function import Function
from tracegrad.autograd.side_table import LevelTransform
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.entry import KeptTensor, LeafEntry, ResultEdge, TapeEntry
from tracegrad.dispatch.inplace import write
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import set_grad_enabled, thread
from tracegrad.dispatch.tensor import Tensor, version_of
from tracegrad.errors import ArgumentError, ArgumentTypeError, GradientError
from tracegrad.func.trees import flatten
from tracegrad.ops.shaping import zeros_of

_DIFFERENTIABLE = ("float", "complex")


@final
class ReverseTransform(LevelTransform):
    """One level of reverse mode; its values are places on its own tape."""

    def __init__(self) -> None:
        super().__init__()
        self._outer_enabled = thread.grad_enabled

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Run a block on this level's tape, also where gradients were off outside."""
        before = set_grad_enabled(True)
        try:
            with self.active():
                yield
        finally:
            set_grad_enabled(before)

    @contextmanager
    def _outside(self) -> Iterator[bool]:
        """Run a block with the grad mode that the levels outside shall see."""
        enabled = thread.grad_enabled
        set_grad_enabled(enabled and self._outer_enabled)
        try:
            yield enabled
        finally:
            set_grad_enabled(enabled)

    def bind(
        self, operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """Apply the operator, and make an entry where an operand is on the tape."""
        edges = tuple(map(self._edge_of, operands))
        tracked = thread.grad_enabled and any(edges)
        if tracked and operator.body is not None and not operator.vjp_rules:
            with self.active():
                return operator.body(*operands, **attributes)
        with self._outside():
            result = bind(operator, operands, attributes)
        if tracked:
            self._attach(operator, operands, attributes, edges, result)
        return result

    def _edge_of(self, operand: Any) -> Any:
        if isinstance(operand, Tensor):
            return self.value_of(operand)
        if operand.__class__ is tuple:
            found = tuple(map(self._edge_of, operand))
            return found if any(found) else None
        return None

    def _attach(
        self,
        operator: OpDef,
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        edges: tuple[Any, ...],
        result: Any,
    ) -> None:
        results = result if isinstance(result, tuple) else (result,)
        plan = operator.plan(
            tuple(edge is not None for edge in edges),
            tuple(isinstance(o, Tensor | tuple) for o in operands),
        )
        if not plan.steps:
            return
        saved = [_kept(operands[index]) for index in plan.saved_operands]
        saved += [_kept(results[index]) for index in plan.saved_results]
        entry = TapeEntry(
            plan,
            edges,
            tuple(saved),
            tuple(map(_spec, operands)),
            tuple(map(_spec, results)),
            attributes,
            tuple(None if isinstance(o, Tensor | tuple) else o for o in operands),
        )
        for index, tensor in enumerate(results):
            if tensor.dtype.kind in _DIFFERENTIABLE:
                self.keep(
                    tensor, entry if len(results) == 1 else ResultEdge(entry, index)
                )

    def write(self, target: Tensor, value: Tensor) -> None:
        """Let the place of `target` on the tape follow a write."""
        if thread.grad_enabled:
            self.note_write(target, value)
        with self._outside():
            write(target, value)

    def written(self, base: Tensor, value: Tensor, path: tuple[Any, ...]) -> Any:
        """Return the base's place after a write."""
        edges = (self.value_of(base), self.value_of(value))
        if not path and edges[1] is not None:
            return edges[1]
        if not any(edges):
            return None
        operator = OPERATORS["view_write"]
        plan = operator.plan((edges[0] is not None, edges[1] is not None), (True, True))
        specs = (_spec(base), _spec(value))
        attributes = {"path": path}
        return TapeEntry(plan, edges, (), specs, specs[:1], attributes, (None, None))

    def call(self, function: type[Function], args: tuple[Any, ...]) -> Any:
        """Apply a `Function`, by its ``backward``."""
        edges = tuple(map(self._edge_of, args))
        if not (thread.grad_enabled and any(edges)):
            with self._outside():
                return function.apply(*args)
        with self._outside():
            output, ctx = function.run_with_context(args, edges)
        outputs = output if isinstance(output, tuple) else (output,)
        for index, tensor in enumerate(outputs):
            if isinstance(tensor, Tensor) and tensor.dtype.kind in _DIFFERENTIABLE:
                self.keep(tensor, ctx.edge_to(index))
        return output

    # -- the two ends ------------------------------------------------------------------

    def inputs_of(self, primals: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return tensors that stand for the primals, and their entries."""
        marked, entries = [], []
        for primal in primals:
            if not isinstance(primal, Tensor):
                raise ArgumentTypeError(
                    "a function is differentiated by tensors, not "
                    f"{type(primal).__name__}"
                )
            tensor = fresh(primal)
            entry = LeafEntry(tensor)
            self.keep(tensor, entry)
            marked.append(tensor)
            entries.append(entry)
        return marked, entries

    def pull(
        self,
        outputs: Sequence[Any],
        cts: Sequence[Any],
        entries: Sequence[Any],
        primals: Sequence[Tensor],
        retain: bool,
    ) -> list[Tensor]:
        """Return the cotangents of the primals."""
        pairs = [
            (edge, ct)
            for edge, ct in zip(map(self._edge_of, outputs), cts, strict=True)
            if edge is not None
        ]
        run = Pass(retain, thread.grad_enabled)
        run.fills = False
        run.capture = set(entries)
        run.needed = entries_leading_to([edge for edge, _ in pairs], run.capture)
        run.start([edge for edge, _ in pairs], [ct for _, ct in pairs])
        found = []
        for entry, primal in zip(entries, primals, strict=True):
            ct = run.captured.get((entry, 0))
            found.append(zeros_of(_spec(primal), primal) if ct is None else ct)
        return found


def as_primals(leaves: Sequence[Any]) -> list[Any]:
    """Return what is differentiated by, NumPy's arrays and numbers as tensors."""
    return [
        Tensor.from_numpy(np.array(leaf))  # type: ignore[attr-defined]
        if isinstance(leaf, np.ndarray | np.inexact)
        else leaf
        for leaf in leaves
    ]


def _kept(operand: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_kept, operand))
    return KeptTensor(operand, version_of(operand))


def _spec(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array.shape, value._array.dtype
    return tuple(map(_spec, value)) if isinstance(value, tuple) else None


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the result of `func` and the function that pulls cotangents back.

    Parameters
    ----------
    func : callable
        From tensors, or nestings of them, to the same.
    *primals
        The point: one for each argument.
    has_aux : bool
        Whether `func` returns ``(result, aux)``; then `aux` comes third.

    Returns
    -------
    tuple
        ``(result, vjp_fn)``: ``vjp_fn(*cotangents)`` gives one cotangent for each
        primal, or the only one; it may be called several times.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import vjp
    >>> result, pull = vjp(lambda x: x * x, tg.tensor([1.0, 2.0]))
    >>> pull(tg.tensor([1.0, 1.0]))
    (tensor([2., 4.]),)
    """
    level = ReverseTransform()
    leaves, build = flatten(primals)
    leaves = as_primals(leaves)
    marked, entries = level.inputs_of(leaves)
    with level.recording():
        result = func(*build(marked))
    result, aux = _split_aux(result, has_aux)
    outputs, _ = flatten(result)

    def vjp_fn(*cotangents: Any, retain_graph: bool = True) -> Any:
        """Return the cotangents of the primals."""
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        cts = _checked_cotangents(outputs, flatten(given)[0])
        found = level.pull(outputs, cts, entries, leaves, retain_graph)
        return build(found)

    return (result, vjp_fn, aux) if has_aux else (result, vjp_fn)


def _split_aux(result: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentError("has_aux: the function must return a pair (result, aux)")
    return result


def _checked_cotangents(outputs: list[Any], cts: list[Any]) -> list[Any]:
    if len(outputs) != len(cts):
        raise GradientError(
            f"there are {len(outputs)} results and {len(cts)} cotangents for them"
        )
    for out, ct in zip(outputs, cts, strict=True):
        if not isinstance(ct, Tensor) or ct._array.shape != out._array.shape:
            shape = list(ct.shape) if isinstance(ct, Tensor) else type(ct).__name__
            raise GradientError(
                f"a cotangent has shape {shape}, its result {list(out.shape)}"
            )
    return cts


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of `func` and its value.

    Parameters
    ----------
    func : callable
        Gives a real tensor without dimensions, or ``(tensor, aux)``.
    argnums : int or tuple of int
        By which arguments to differentiate; they may be nestings of tensors.
    has_aux : bool

    Returns
    -------
    callable
        Gives ``(gradient, value)``, or ``(gradient, (value, aux))``.
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        leaves, build = flatten(chosen)
        leaves = as_primals(leaves)
        level = ReverseTransform()
        marked, entries = level.inputs_of(leaves)
        with level.recording():
            result = func(*replaced_arguments(args, argnums, build(marked)), **kwargs)
        value, aux = _split_aux(result, has_aux)
        _check_scalar(value)
        ones = OPERATORS["full"]((), 1, value.dtype, value.device)
        found = build(level.pull([value], [ones], entries, leaves, retain=False))
        return found, (value, aux) if has_aux else value

    return wrapped


def _check_scalar(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(
            f"grad: the function must return a tensor, not {type(value).__name__}"
        )
    if value._array.shape != ():
        raise GradientError(
            "grad: the function must return a tensor without dimensions, not one "
            "of shape "
            f"{list(value.shape)}; use vjp or jacrev"
        )
    if value.dtype.kind != "float":
        raise GradientError(
            f"grad: the function must return a real number, not {value.dtype.name}"
        )


def _places(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> list[int]:
    wanted = (argnums,) if isinstance(argnums, int) else argnums
    found = [place + len(args) if place < 0 else place for place in wanted]
    if not found or any(not 0 <= place < len(args) for place in found):
        raise ArgumentError(
            f"argnums {argnums} does not name positional arguments; {len(args)} "
            "were given"
        )
    return found


def chosen_arguments(args: tuple[Any, ...], argnums: int | tuple[int, ...]) -> Any:
    """Return the argument that `argnums` names, or the tuple of them."""
    places = _places(args, argnums)
    return (
        args[places[0]] if isinstance(argnums, int) else tuple(args[p] for p in places)
    )


def replaced_arguments(
    args: tuple[Any, ...], argnums: int | tuple[int, ...], chosen: Any
) -> list[Any]:
    """Return the arguments with others for those that `argnums` names."""
    places = _places(args, argnums)
    values = [chosen] if isinstance(argnums, int) else chosen
    found = list(args)
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of `func`.

    Parameters
    ----------
    func : callable
        Gives a real tensor without dimensions, or ``(tensor, aux)``.
    argnums : int or tuple of int
        By which arguments to differentiate; they may be nestings of tensors.
    has_aux : bool

    Returns
    -------
    callable
        Gives the gradient, or ``(gradient, aux)``.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import grad
    >>> grad(lambda x: x**3)(tg.tensor(2.0))
    tensor(12.)
    >>> grad(grad(lambda x: x**3))(tg.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapped


def value_and_grad(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the value of `func` and its gradient.

    As `grad_and_value`, in the order of JAX.

    Examples
    --------
    >>> import numpy as np
    >>> import tracegrad as tg
    >>> tg.value_and_grad(lambda x: np.sum(np.tanh(x) ** 2))(np.zeros(2))
    (tensor(0., dtype=tracegrad.float64), tensor([0., 0.], dtype=tracegrad.float64))
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return value, found

    return wrapped
