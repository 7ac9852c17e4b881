"""`assert_close`: whether two results are equal, up to what rounding explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, final

import numpy as np

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError

# Relative and absolute tolerance by dtype, PyTorch's; other dtypes must be equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_COMPARABLE = (np.ndarray, np.generic, bool, int, float, complex)


@final
@dataclass(frozen=True, slots=True)
class _Options:
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_stride: bool
    msg: str | Callable[[str], str] | None

    def fail(self, text: str, path: str) -> NoReturn:
        where = f"{text}\n\nThe failure occurred for item {path}" if path else text
        if callable(self.msg):
            raise AssertionError(self.msg(where))
        raise AssertionError(where if self.msg is None else self.msg)

    def tolerances(self, *dtypes: str) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(name, (0.0, 0.0)) for name in dtypes]
        return max(r for r, _ in known), max(a for _, a in known)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Check that ``abs(actual - expected) <= atol + rtol * abs(expected)``.

    Parameters
    ----------
    actual, expected : Tensor, array, number, or sequence or mapping of these
    rtol, atol : float, optional
        Both or neither; chosen by the dtype if not given.
    equal_nan : bool
        Whether two NaN are equal.
    check_device, check_dtype, check_stride : bool
        What must agree too.
    msg : str or callable, optional
        The message, or a function from the usual one to it.

    Raises
    ------
    AssertionError
        If they are not close; it says how many elements and the largest difference.
    ArgumentError
        If one tolerance is given without the other.

    Examples
    --------
    >>> import tracegrad as tg
    >>> assert_close(tg.tensor([1.0]) / 3 * 3, tg.tensor([1.0]))
    """
    if (rtol is None) != (atol is None):
        raise ArgumentError("assert_close: give both rtol and atol, or neither")
    options = _Options(
        rtol, atol, equal_nan, check_device, check_dtype, check_stride, msg
    )
    _compare(actual, expected, options, "")


def _compare(actual: Any, expected: Any, options: _Options, path: str) -> None:
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            options.fail(
                f"The keys do not match: {list(actual)} and {list(expected)}", path
            )
        for key in expected:
            _compare(actual[key], expected[key], options, f"{path}[{key!r}]")
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            options.fail(
                f"The lengths do not match: {len(actual)} and {len(expected)}", path
            )
        for place, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, e, options, f"{path}[{place}]")
    elif actual is None or expected is None:
        if actual is not expected:
            options.fail(f"None is compared with {actual!r} or {expected!r}", path)
    else:
        _compare_arrays(actual, expected, options, path)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _compare_arrays(actual: Any, expected: Any, options: _Options, path: str) -> None:
    a, e = _array_of(actual, options, path), _array_of(expected, options, path)
    if a.shape != e.shape:
        options.fail(f"The shapes do not match: {a.shape} and {e.shape}", path)
    if isinstance(actual, Tensor) and isinstance(expected, Tensor):
        _compare_attributes(actual, expected, options, path)
    elif options.check_dtype and a.dtype != e.dtype:
        options.fail(f"The dtypes do not match: {a.dtype} and {e.dtype}", path)
    rtol, atol = options.tolerances(a.dtype.name, e.dtype.name)
    wide = (
        np.result_type(a, e, np.float64) if _is_inexact(a, e) else np.result_type(a, e)
    )
    left, right = a.astype(wide), e.astype(wide)
    close = np.isclose(left, right, rtol, atol, equal_nan=options.equal_nan)
    if not close.all():
        options.fail(_report(left, right, close, rtol, atol), path)


def _is_inexact(*arrays: Any) -> bool:
    return any(array.dtype.kind in "fcV" for array in arrays)


def _array_of(value: Any, options: _Options, path: str) -> np.ndarray[Any, Any]:
    if isinstance(value, Tensor):
        array: np.ndarray[Any, Any] = value.detach().cpu().numpy()
        return array
    if isinstance(value, _COMPARABLE):
        return np.asarray(value)
    options.fail(f"An object of type {type(value).__name__} can't be compared", path)


def _compare_attributes(
    actual: Tensor, expected: Tensor, options: _Options, path: str
) -> None:
    for wanted, name in (
        (options.check_device, "device"),
        (options.check_dtype, "dtype"),
    ):
        a, e = getattr(actual, name), getattr(expected, name)
        if wanted and a != e:
            options.fail(f"The values for {name} do not match: {a} and {e}", path)
    if options.check_stride and actual.stride() != expected.stride():
        options.fail(
            f"The strides do not match: {actual.stride()} and {expected.stride()}", path
        )


def _report(left: Any, right: Any, close: Any, rtol: float, atol: float) -> str:
    with np.errstate(all="ignore"):
        distance = np.where(close, 0, np.abs(left - right))
        relative = distance / np.abs(right)
    worst = int(np.where(np.isnan(distance), np.inf, distance).argmax())
    place = np.unravel_index(worst, close.shape)
    wrong = int((~close).sum())
    return (
        "The values are not close!\n\n"
        f"Mismatched elements: {wrong} / {close.size} "
        f"({100 * wrong / close.size:.1f}%)\n"
        f"Greatest absolute difference: {distance[place]} at index "
        f"{tuple(map(int, place))} (up to {atol} allowed)\n"
        f"Relative difference there: {relative[place]} (up to {rtol} allowed)"
    )


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Check values as `assert_close` does, whatever the dtypes: its old name.

    Parameters
    ----------
    actual, expected : Tensor, or what a tensor can be made of
    rtol, atol : float, optional
        Both or neither.
    equal_nan : bool
    msg : str
        Said instead of our own words.

    Raises
    ------
    AssertionError
        If they are not close.
    """
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=False,
        check_dtype=False,
        msg=msg or None,
    )
