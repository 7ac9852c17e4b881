"""`gradcheck` and `gradgradcheck`: derivatives against finite differences.

Complex numbers are treated as pairs of real ones, so that one comparison serves real
and complex, backward and forward: the Jacobian of a real map.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from tracegrad.autograd.forward import push_forward
from tracegrad.autograd.gradients import grad
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.errors import ArgumentError, GradcheckError
from tracegrad.location import warn

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[..., Any]


@final
@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two Jacobians may be apart."""

    atol: float
    rtol: float

    def check(self, found: Array, expected: Array, what: str) -> None:
        """Raise unless `found` is `expected`, up to the tolerance.

        Raises
        ------
        GradcheckError
            With both matrices.
        """
        if np.allclose(found, expected, self.rtol, self.atol, equal_nan=True):
            return
        raise GradcheckError(
            f"{what} differs from finite differences\nnumerical:\n{expected}\n"
            f"analytical:\n{found}"
        )


def gradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Compare the derivatives of `func` with central differences.

    Parameters
    ----------
    func : callable
        From tensors to a tensor or a tuple of tensors.
    inputs : Tensor or sequence
        Those that require grad are differentiated; they should be float64 or
        complex128.
    eps : float
        The step of the differences.
    atol, rtol : float
    raise_exception : bool
        Raise, rather than return False, where they differ.
    nondet_tol : float
        How far two runs of backward may be apart.
    check_undefined_grad : bool
        Whether backward is tried with no gradient for some results.
    check_forward_ad, check_backward_ad : bool
        Which modes to check.
    fast_mode : bool
        Compare one random projection instead of whole Jacobians.

    Raises
    ------
    GradcheckError
        If a derivative is wrong, and `raise_exception`.
    ArgumentError
        If no input requires grad.

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.tensor([0.5, 1.5], dtype=tg.float64, requires_grad=True)
    >>> gradcheck(lambda x: x.exp() * x, [x])
    True
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    check = _Check(func, given, eps, Tolerance(atol, rtol))
    try:
        if fast_mode:
            check = check.projected()
        if check_backward_ad:
            check.backward(nondet_tol)
        if check_undefined_grad and check_backward_ad:
            check.undefined()
        if check_forward_ad:
            check.forward()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    fast_mode: bool = False,
) -> bool:
    """Compare the second derivatives of `func` with central differences.

    The gradients of `func`, as a function of its inputs and of `grad_outputs`, are
    given to `gradcheck`.

    Parameters
    ----------
    func : callable
    inputs : Tensor or sequence
    grad_outputs : Tensor or sequence, optional
        Cotangents of the results; random if not given.
    eps, atol, rtol, raise_exception, nondet_tol, fast_mode
        As for `gradcheck`.
    """
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    cts = _cotangents(func, given, grad_outputs)
    tracked = [i for i, x in enumerate(given) if _is_tracked(x)]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        values, given_cts = args[: len(given)], args[len(given) :]
        outputs = _differentiable(func(*values))
        found = grad(
            outputs,
            [values[i] for i in tracked],
            list(given_cts),
            create_graph=True,
            materialize_grads=True,
        )
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        (*given, *cts),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=False,
        fast_mode=fast_mode,
    )


def _cotangents(func: Function, inputs: tuple[Any, ...], given: Any) -> list[Tensor]:
    if given is not None:
        return [given] if isinstance(given, Tensor) else list(given)
    rng = np.random.default_rng(0)
    found = []
    for out in _differentiable(func(*inputs)):
        values = _from_real(rng.standard_normal(_real_size(out)), out)
        found.append(wrap(values).requires_grad_())
    return found


def _is_tracked(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _differentiable(outputs: Any) -> list[Tensor]:
    several = outputs if isinstance(outputs, tuple | list) else (outputs,)
    return [
        t
        for t in several
        if isinstance(t, Tensor) and t.dtype.kind in ("float", "complex")
    ]


# -- complex numbers as pairs of real ones ---------------------------------------------


def _is_complex(tensor: Tensor) -> bool:
    return tensor.dtype.kind == "complex"


def _real_size(tensor: Tensor) -> int:
    return tensor.numel() * (2 if _is_complex(tensor) else 1)


def _to_real(array: Array, like: Tensor) -> Array:
    flat = np.asarray(array).reshape(-1)
    if not _is_complex(like):
        return flat.real.astype(np.float64)
    return np.concatenate([flat.real, flat.imag]).astype(np.float64)


def _from_real(values: Array, like: Tensor) -> Array:
    shape, dtype = tuple(like.shape), like.dtype.numpy
    if not _is_complex(like):
        return values.reshape(shape).astype(dtype)
    half = values.size // 2
    return (values[:half] + 1j * values[half:]).reshape(shape).astype(dtype)


def _units(size: int) -> Iterator[Array]:
    for place in range(size):
        unit = np.zeros(size)
        unit[place] = 1.0
        yield unit


@final
@dataclass(frozen=True, slots=True)
class _Check:
    """One function at one point."""

    func: Function
    inputs: tuple[Any, ...]
    eps: float
    tolerance: Tolerance
    projection: Array | None = None

    def __post_init__(self) -> None:
        tracked = self._tracked()
        if not tracked:
            raise ArgumentError("gradcheck: no input requires grad")
        for x in tracked:
            if x.dtype.name not in ("float64", "complex128"):
                warn(
                    f"gradcheck: an input is {x.dtype.name}; differences need float64 "
                    "or complex128",
                )

    def _tracked(self) -> list[Tensor]:
        return [x for x in self.inputs if _is_tracked(x)]

    def projected(self) -> _Check:
        """Return the check of a random combination of the results' elements."""
        rng = np.random.default_rng(0)
        size = sum(map(_real_size, _differentiable(self._outputs())))
        projection = rng.uniform(0.5, 1.5, size)
        return _Check(self.func, self.inputs, self.eps, self.tolerance, projection)

    def _outputs(self) -> Any:
        return self.func(*self.inputs)

    def _values(self, inputs: Sequence[Any]) -> Array:
        outputs = _differentiable(self.func(*inputs))
        parts = [_to_real(out.detach().numpy(), out) for out in outputs]  # type: ignore[attr-defined]
        found = np.concatenate(parts) if parts else np.zeros(0)
        return found if self.projection is None else np.array([self.projection @ found])

    def numerical(self) -> Array:
        """Return the Jacobian by central differences: results by inputs."""
        columns = []
        for place, x in enumerate(self.inputs):
            if not _is_tracked(x):
                continue
            point = _to_real(x.detach().numpy(), x)
            for unit in _units(point.size):
                moved = [
                    self._values(self._moved(place, point + sign * self.eps * unit))
                    for sign in (1.0, -1.0)
                ]
                columns.append((moved[0] - moved[1]) / (2 * self.eps))
        return np.stack(columns, axis=1) if columns else np.zeros((0, 0))

    def _moved(self, place: int, values: Array) -> list[Any]:
        # Tracked as the inputs are: the function may differentiate itself.
        moved = list(self.inputs)
        moved[place] = wrap(_from_real(values, self.inputs[place])).requires_grad_()
        return moved

    def backward(self, nondet_tol: float) -> None:
        """Compare the rows that backward gives."""
        outputs = _differentiable(self._outputs())
        sizes = [_real_size(out) for out in outputs]
        size = sum(sizes)
        units = _units(size) if self.projection is None else iter([self.projection])
        rows, again = [], []
        for unit in units:
            cts = _split(unit, sizes, outputs)
            rows.append(self._row(outputs, cts))
            again.append(self._row(outputs, cts))
        found, repeated = np.array(rows), np.array(again)
        if not np.allclose(found, repeated, 0, nondet_tol, equal_nan=True):
            raise GradcheckError("two runs of backward differ")
        expected = self.numerical()
        self.tolerance.check(found.reshape(expected.shape), expected, "backward")

    def _row(self, outputs: Sequence[Tensor], cts: Sequence[Tensor]) -> Array:
        tracked = self._tracked()
        pairs = [(o, c) for o, c in zip(outputs, cts, strict=True) if o.requires_grad]
        if not pairs:
            return np.zeros(sum(map(_real_size, tracked)))
        found = grad(
            [o for o, _ in pairs],
            tracked,
            [c for _, c in pairs],
            retain_graph=True,
            materialize_grads=True,
        )
        parts = []
        for gradient, x in zip(found, tracked, strict=True):
            assert gradient is not None
            if gradient.shape != x.shape or gradient.dtype is not x.dtype:
                raise GradcheckError(
                    f"backward gave {gradient.dtype.name} {list(gradient.shape)} "
                    "for an "
                    f"input of {x.dtype.name} {list(x.shape)}"
                )
            parts.append(_to_real(gradient.detach().numpy(), x))  # type: ignore[attr-defined]
        return np.concatenate(parts)

    def undefined(self) -> None:
        """Compare backward without a gradient for a result with one of zeros."""
        outputs = [out for out in _differentiable(self._outputs()) if out.requires_grad]
        if len(outputs) < 2:
            return
        sizes = [_real_size(out) for out in outputs]
        ones = _split(np.ones(sum(sizes)), sizes, outputs)
        for place in range(len(outputs)):
            zeroed = list(ones)
            zeroed[place] = wrap(np.zeros_like(ones[place]._array))
            rest = [i for i in range(len(outputs)) if i != place]
            with_zeros = self._row(outputs, zeroed)
            without = self._row([outputs[i] for i in rest], [ones[i] for i in rest])
            if not np.allclose(with_zeros, without, equal_nan=True):
                raise GradcheckError(
                    f"backward with no gradient for result {place} differs from "
                    "backward "
                    "with zeros for it"
                )

    def forward(self) -> None:
        """Compare the columns that forward mode gives."""
        tracked = [i for i, x in enumerate(self.inputs) if _is_tracked(x)]
        columns = []
        for place in tracked:
            x = self.inputs[place]
            for unit in _units(_real_size(x)):
                columns.append(self._column(place, wrap(_from_real(unit, x))))
        expected = self.numerical()
        found = np.stack(columns, axis=1).reshape(expected.shape)
        self.tolerance.check(found, expected, "forward mode")

    def _column(self, place: int, tangent: Tensor) -> Array:
        result, level = push_forward(self.func, self.inputs, {place: tangent})
        parts = []
        for out in _differentiable(result):
            t = level.value_of(out)
            zeros = np.zeros(_real_size(out))
            parts.append(zeros if t is None else _to_real(t.detach().numpy(), out))
        found = np.concatenate(parts)
        return found if self.projection is None else np.array([self.projection @ found])


def _split(unit: Array, sizes: list[int], outputs: Sequence[Tensor]) -> list[Tensor]:
    ends = list(itertools.accumulate(sizes))
    starts = [0, *ends[:-1]]
    return [
        wrap(_from_real(unit[a:b], out))
        for a, b, out in zip(starts, ends, outputs, strict=True)
    ]
