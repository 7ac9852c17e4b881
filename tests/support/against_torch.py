"""One function, run with PyTorch and with tracegrad, and what both must share."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import tracegrad as tg

# What a case is: a function of the library and of its tensors.
Body = Callable[..., Any]

_RTOL = {"float16": 1e-2, "float32": 2e-5, "complex64": 2e-5}


def check(
    body: Body, *arrays: Any, gradients: bool = True, layout: bool = True
) -> None:
    """Compare result, layout, gradients and second gradients, or the exception.

    Parameters
    ----------
    body : callable
        ``body(library, *tensors)``.
    *arrays : ndarray
        What the tensors hold.
    gradients : bool
        Whether floating operands require gradients.
    layout : bool
        Whether the strides must agree too. Results of gathering are row-major here,
        in PyTorch they keep the order of a source that is not.
    """
    theirs, their_inputs = _run(torch, body, arrays, gradients)
    ours, our_inputs = _run(tg, body, arrays, gradients)
    if isinstance(theirs, Exception):
        _check_exception(theirs, ours)
        return
    if isinstance(ours, Exception):
        raise AssertionError("tracegrad raises, PyTorch does not") from ours
    their_parts, our_parts = _parts(theirs), _parts(ours)
    assert len(our_parts) == len(their_parts)
    for mine, wanted in zip(our_parts, their_parts, strict=True):
        _check_tensor(mine, wanted, layout)
    _check_gradients(our_parts, their_parts, our_inputs, their_inputs)


def _run(
    library: Any, body: Body, arrays: Sequence[Any], gradients: bool
) -> tuple[Any, list[Any]]:
    inputs = []
    for array in arrays:
        tensor = library.from_numpy(np.array(array, copy=True, order="K"))
        if gradients and array.dtype.kind in "fc":
            tensor.requires_grad_()
        inputs.append(tensor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return body(library, *inputs), inputs
        except Exception as error:
            return error, inputs


def _check_exception(theirs: Exception, ours: Any) -> None:
    kind = next(
        k
        for k in (IndexError, ValueError, TypeError, NotImplementedError, RuntimeError)
        if isinstance(theirs, k)
    )
    if kind is NotImplementedError:
        # PyTorch's way to say "not for this dtype".
        kind = Exception
    assert isinstance(ours, Exception), f"PyTorch raises {theirs!r}, tracegrad not"
    assert isinstance(ours, kind), f"PyTorch raises {theirs!r}, tracegrad {ours!r}"
    assert isinstance(ours, tg.errors.TracegradError), f"not ours: {ours!r}"


def _parts(result: Any) -> list[Any]:
    if isinstance(result, list | tuple):
        return [part for item in result for part in _parts(item)]
    return [result]


def _check_tensor(mine: Any, wanted: Any, layout: bool) -> None:
    if not isinstance(wanted, torch.Tensor):
        assert mine == wanted
        return
    assert str(mine.dtype).split(".")[1] == str(wanted.dtype).split(".")[1]
    assert tuple(mine.shape) == tuple(wanted.shape)
    if layout and wanted.numel():
        pairs = zip(mine.shape, mine.stride(), wanted.stride(), strict=True)
        assert all(n == 1 or a == b for n, a, b in pairs), (
            f"strides {mine.stride()}, PyTorch's {wanted.stride()}"
        )
    assert mine.requires_grad == wanted.requires_grad
    _check_values(mine, wanted)


def _check_values(mine: Any, wanted: Any) -> None:
    want = wanted.numpy(force=True)
    tolerance = _RTOL.get(str(want.dtype), 1e-10)
    np.testing.assert_allclose(
        mine.numpy(force=True), want, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def _weighted(parts: list[Any], weights: Sequence[Any], library: Any) -> Any:
    """Return a number that depends on all differentiable parts, unevenly."""
    total = None
    for part, weight in zip(parts, weights, strict=True):
        if not getattr(part, "requires_grad", False):
            continue
        term = (part * library.from_numpy(weight)).sum()
        if part.is_complex():
            term = term.real + 2 * term.imag
        total = term if total is None else total + term
    return total


def _check_gradients(
    ours: list[Any], theirs: list[Any], our_inputs: list[Any], their_inputs: list[Any]
) -> None:
    rng = np.random.default_rng(3)
    weights = [
        rng.uniform(0.5, 1.5, tuple(p.shape)).astype(_numpy_name(p))
        if isinstance(p, torch.Tensor)
        else None
        for p in theirs
    ]
    wanted = _gradients(torch, theirs, weights, their_inputs)
    found = _gradients(tg, ours, weights, our_inputs)
    for mine, want in itertools.zip_longest(found, wanted):
        _check_gradient(mine, want)


def _check_gradient(mine: Any, want: Any) -> None:
    """Compare gradients; a missing one may stand for zeros.

    Which derivatives that are 0 everywhere PyTorch puts on its graph is its own affair.
    """
    if want is None or mine is None:
        given = mine if want is None else want
        assert given is None or not np.any(given.numpy(force=True))
        return
    assert tuple(mine.shape) == tuple(want.shape)
    assert mine.dtype == getattr(tg, _numpy_name(want))
    _check_values(mine, want)


def _numpy_name(tensor: Any) -> str:
    return str(tensor.dtype).split(".")[1]


def _gradients(
    library: Any, parts: list[Any], weights: Sequence[Any], inputs: list[Any]
) -> list[Any]:
    """Return the first and second gradients by the inputs."""
    tracked = [t for t in inputs if t.requires_grad]
    total = _weighted(parts, weights, library)
    if total is None or not tracked:
        return []
    first = library.autograd.grad(total, tracked, create_graph=True, allow_unused=True)
    square = None
    for gradient in first:
        if gradient is not None and gradient.requires_grad:
            term = (gradient * gradient * (gradient + 1)).sum()
            term = term.real if gradient.is_complex() else term
            square = term if square is None else square + term
    if square is None:
        return list(first)
    second = library.autograd.grad(square, tracked, allow_unused=True)
    return [*first, *second]
