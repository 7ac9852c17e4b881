"""Whole derivatives: `jacrev`, `jacfwd`, `hessian`, as batches of VJPs and JVPs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError
from tracegrad.func.forward import jvp
from tracegrad.func.reverse import chosen_arguments, replaced_arguments, vjp
from tracegrad.func.trees import flatten
from tracegrad.func.vmap import Randomness, vmap


def _sizes(leaves: Sequence[Tensor]) -> list[int]:
    return [math.prod(leaf._array.shape) for leaf in leaves]


def _check_tensors(name: str, leaves: Sequence[Any]) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ArgumentTypeError(f"{name} takes tensors, not {type(leaf).__name__}")


def _basis(leaves: Sequence[Tensor]) -> list[Tensor]:
    """Return the unit vectors of the space of all leaves: one batch for each leaf."""
    sizes = _sizes(leaves)
    total = sum(sizes)
    found = []
    start = 0
    for leaf, size in zip(leaves, sizes, strict=True):
        options = (leaf.dtype, leaf.device)
        parts = [
            OPERATORS["full"]((start, size), 0, *options),
            OPERATORS["eye"](size, size, *options),
            OPERATORS["full"]((total - start - size, size), 0, *options),
        ]
        rows = OPERATORS["cat"](parts, 0)
        found.append(rows.reshape(total, *leaf._array.shape))
        start += size
    return found


def _split(batch: Tensor, leaves: Sequence[Tensor]) -> list[Tensor]:
    """Return the parts of a batch over the basis that belong to each leaf."""
    ends = list(itertools.accumulate(_sizes(leaves)))
    parts = []
    for leaf, start, stop in zip(leaves, [0, *ends[:-1]], ends, strict=True):
        part = batch[start:stop]  # type: ignore[index]
        parts.append(part.reshape(*leaf._array.shape, *batch._array.shape[1:]))
    return parts


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func`, by reverse mode.

    Best where there are fewer results than inputs.

    Parameters
    ----------
    func : callable
        Gives tensors, or ``(tensors, aux)``.
    argnums : int or tuple of int
        By which arguments to differentiate.
    has_aux : bool
    chunk_size : int, optional
        How many rows at a time.

    Returns
    -------
    callable
        Gives, for each result and each argument, a tensor of the result's shape
        followed by the argument's.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import jacrev
    >>> jacrev(lambda x: x * x)(tg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)

        def of_chosen(values: Any) -> Any:
            return func(*replaced_arguments(args, argnums, values), **kwargs)

        result, pull, *aux = vjp(of_chosen, chosen, has_aux=has_aux)
        outputs, build_outputs = flatten(result)
        _check_tensors("jacrev", outputs)
        inputs, build_inputs = flatten(chosen)

        def row(*cts: Tensor) -> Any:
            return tuple(flatten(pull(build_outputs(cts)))[0])

        columns = vmap(row, chunk_size=chunk_size)(*_basis(outputs))
        by_input = [_split(column, outputs) for column in columns]
        jacobian = build_outputs(
            [
                build_inputs([by_input[i][o] for i in range(len(inputs))])
                for o in range(len(outputs))
            ]
        )
        return (jacobian, aux[0]) if has_aux else jacobian

    return wrapped


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of `func`, by forward mode.

    Best where there are fewer inputs than results; parameters and result as for
    `jacrev`.

    Parameters
    ----------
    func : callable
    argnums : int or tuple of int
    has_aux : bool
    randomness : {"error", "different", "same"}
        As for `vmap`, for random operators in `func`.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import jacfwd
    >>> jacfwd(lambda x: x * x)(tg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        inputs, build_inputs = flatten(chosen)
        _check_tensors("jacfwd", inputs)
        seen: dict[str, Any] = {}

        def of_chosen(values: Any) -> Any:
            return func(*replaced_arguments(args, argnums, values), **kwargs)

        def column(*tangents: Tensor) -> Any:
            found = jvp(
                of_chosen, (chosen,), (build_inputs(tangents),), has_aux=has_aux
            )
            seen["aux"] = found[2] if has_aux else None
            leaves, seen["build"] = flatten(found[1])
            return tuple(leaves)

        columns = vmap(column, randomness=randomness)(*_basis(inputs))
        jacobian = seen["build"](
            [build_inputs(_by_input(batch, inputs)) for batch in columns]
        )
        return (jacobian, seen["aux"]) if has_aux else jacobian

    return wrapped


def _by_input(batch: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return a result's derivative by each input; the batch counts input elements."""
    rank = batch.ndim - 1
    found = []
    for part, leaf in zip(_split(batch, inputs), inputs, strict=True):
        own = leaf.ndim
        order = (*range(own, own + rank), *range(own))
        found.append(OPERATORS["permute"](part, *order))
    return found


def hessian(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0
) -> Callable[..., Any]:
    """Return a function that gives the second derivatives of `func`.

    Forward mode over reverse mode: ``jacfwd(jacrev(func))``.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import hessian
    >>> hessian(lambda x: (x**3).sum())(tg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
