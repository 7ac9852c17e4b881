"""The same calls eagerly and captured, and everything a user can see of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tracegrad as tg

# Makes the arguments of all calls; called once for each of the two ways.
Make = Callable[[], Sequence[Sequence[Any]]]


def tensors_in(value: Any) -> list[tg.Tensor]:
    """Return the tensors of a structure, in order."""
    if isinstance(value, tg.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for item in value.values() for t in tensors_in(item)]
    if isinstance(value, list | tuple):
        return [t for item in value for t in tensors_in(item)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tensors_in(list(vars(value).values()))
    return []


def shape_of(value: Any) -> Any:
    """Return a structure with marks in place of its tensors."""
    if isinstance(value, tg.Tensor):
        return type(value).__name__
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [shape_of(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, shape_of(vars(value))
    return type(value).__name__, repr(value)


def seen_of(tensor: tg.Tensor, depth: int = 1) -> dict[str, Any]:
    """Return what a user can see of a tensor."""
    found = {
        "dtype": tensor.dtype.name,
        "shape": tuple(tensor.shape),
        "strides": tuple(tensor.stride()),
        "values": np.array(tensor._array),
        "version": tensor._version,
        "requires_grad": tensor.requires_grad,
        "is_leaf": _or_error(lambda: tensor.is_leaf),
        # A view of a tensor that nobody has may be a tensor of its own.
        "multiple": tensor._is_view() and tensor._view.origin == "multiple",
    }
    if depth and tensor._grad is not None:
        found["grad"] = seen_of(tensor._grad, 0)
    return found


def _or_error(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except tg.errors.InplaceError:
        return "a view without a place on the tape"


def relations(tensors: Sequence[tg.Tensor]) -> list[tuple[bool, bool]]:
    """Return for each pair whether they are one object, and share memory."""
    return [
        (a is b, bool(np.shares_memory(a._array, b._array)))
        for i, a in enumerate(tensors)
        for b in tensors[i + 1 :]
    ]


def outcome(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Call, and return the result or the error."""
    try:
        return function(*args)
    except Exception as error:
        return error


def assert_equal(a: Any, b: Any, what: str) -> None:
    """Compare what was seen; values bit for bit but for the last few of sums."""
    assert a.keys() == b.keys(), f"{what}: {a.keys()} {b.keys()}"
    for key in a:
        if key == "values":
            np.testing.assert_allclose(
                b[key], a[key], rtol=1e-5, atol=1e-6, err_msg=what
            )
        elif key == "grad":
            assert_equal(a[key], b[key], f"{what}.grad")
        else:
            assert a[key] == b[key], f"{what}: {key} was {a[key]}, captured {b[key]}"


def compare_calls(
    function: Callable[..., Any],
    make: Make,
    captured: Any = None,
    backward: bool = False,
) -> Any:
    """Run all calls both ways, compare, and return the captured function.

    Parameters
    ----------
    function : callable
    make : callable
        Gives the arguments of each call, anew for each way.
    captured : CapturedFunction, optional
    backward : bool
        Whether to send gradients back from the results, and compare what arrives.
    """
    captured = captured or tg.trace(function)
    start = tg.get_rng_state()
    expected = _histories(function, make(), backward)
    after = tg.get_rng_state()
    tg.set_rng_state(start)
    found = _histories(captured, make(), backward)
    assert tg.get_rng_state().tolist() == after.tolist(), "the generator's state"
    for index, (a, b) in enumerate(zip(expected, found, strict=True)):
        _assert_same(a, b, f"call {index}\n{captured.explain()}")
    return captured


def _histories(
    function: Callable[..., Any], calls: Sequence[Sequence[Any]], backward: bool
) -> list[Any]:
    found = []
    results = []
    for args in calls:
        result = outcome(function, args)
        results.append(result)
        error = None
        if backward:
            error = outcome(_send_back, (result,))
        found.append((result, args, error, _seen(result, args)))
    # Earlier results are still what they were.
    return [(*entry[:3], entry[3], _seen(*entry[:2])) for entry in found]


def _send_back(result: Any) -> None:
    total = None
    for index, tensor in enumerate(tensors_in(result)):
        if tensor.requires_grad and tensor.numel():
            part = (tensor * (index + 1.5)).sum()
            total = part if total is None else total + part
    if total is not None:
        total.backward()


def _seen(result: Any, args: Sequence[Any]) -> Any:
    tensors = [*tensors_in(result), *tensors_in(args)]
    return [seen_of(t) for t in tensors], relations(tensors)


def _assert_same(a: Any, b: Any, what: str) -> None:
    expected, found = a[0], b[0]
    if isinstance(expected, Exception):
        assert type(found) is type(expected), (
            f"{what}: {expected!r}, captured {found!r}"
        )
        assert str(found) == str(expected), what
    else:
        assert shape_of(found) == shape_of(expected), f"{what}: {found!r}"
    assert repr(type(a[2])) == repr(type(b[2])), f"{what}: backward {a[2]} {b[2]}"
    for (seen, related), (other_seen, other_related) in zip(a[3:], b[3:], strict=True):
        assert len(seen) == len(other_seen), what
        for index, pair in enumerate(zip(seen, other_seen, strict=True)):
            assert_equal(*pair, f"{what}, tensor {index}")
        assert related == other_related, f"{what}: identity and shared memory"


def ran(captured: Any) -> bool:
    """Return whether a program served a call."""
    return any(s.hits for s in captured.specializations)
