"""`opcheck`: whether what is registered for a custom operator holds together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tracegrad as tg
from tracegrad.config import config
from tracegrad.dispatch.tensor import Tensor, spec_of, wrap
from tracegrad.errors import (
    ArgumentError,
    CompileError,
    OpCheckError,
)
from tracegrad.library.calls import Form
from tracegrad.library.definition import CustomOpDef
from tracegrad.library.kernels import below, undeclared_write
from tracegrad.library.registration import definition_of

_Check = Callable[[CustomOpDef, tuple[Any, ...], "tuple[float, float] | None"], None]
_TARGETS = ("numpy", "c", "cuda")
_CLOSE = (1e-5, 1e-6)


def opcheck(
    op: str | CustomOpDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] | None = None,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check a custom operator on sample arguments.

    Parameters
    ----------
    op : CustomOpDef or str
    args, kwargs
        Sample arguments; let those that are differentiated require grad.
    test_utils : str or sequence of str, optional
        Some of ``test_schema`` (it writes and aliases only what it declares),
        ``test_autograd_registration``, ``test_faketensor`` (the fake gives the specs
        of what the kernel gives), ``test_aot_dispatch_dynamic`` (captured on each
        target it does what it does eagerly, gradients included) and
        ``test_gradients`` (the derivative is that of the values, by finite
        differences in float64). All if not given.
    raise_exception : bool
    atol, rtol : float, optional
        How close captured results must be; both or none.

    Returns
    -------
    dict
        For each check ``"SUCCESS"``, or what it raised.

    Raises
    ------
    OpCheckError
        If a check fails and `raise_exception`.
    ArgumentError
        If a check is unknown, or only one tolerance is given.
    """
    if (atol is None) != (rtol is None):
        raise ArgumentError("opcheck: give both of atol and rtol, or none")
    definition = definition_of(op)
    close = None if rtol is None or atol is None else (rtol, atol)
    values = definition.arguments(args, kwargs or {})
    results: dict[str, Any] = {}
    for name in _wanted(test_utils):
        try:
            _CHECKS[name](definition, values, close)
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck({definition.name}): {name} failed: {error}"
                ) from error
            results[name] = error
    return results


def _wanted(test_utils: str | Sequence[str] | None) -> Sequence[str]:
    if test_utils is None or test_utils == "ALL":
        return tuple(_CHECKS)
    names = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    unknown = [name for name in names if name not in _CHECKS]
    if unknown:
        raise ArgumentError(f"opcheck has no {unknown}; it has {list(_CHECKS)}")
    return names


def _copied(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return arguments with copies of their tensors, which require grad as they do."""
    return tuple(map(_copy, values))


def _copy(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_copy, value))
    if not isinstance(value, Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)  # type: ignore[attr-defined]


def _call(definition: CustomOpDef, values: Sequence[Any]) -> Any:
    form, tensors = Form.of(definition.schema, values)
    positional, keywords = form.for_user(tensors)
    return definition(*positional, **keywords)


def _several(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, tuple | list) else [result]


# -- what it writes --------


def _check_schema(definition: CustomOpDef, values: tuple[Any, ...], close: Any) -> None:
    """It writes what it declares, and gives memory of its own."""
    schema = definition.schema
    form, tensors = Form.of(schema, _copied(values))
    given = [wrap(t._array) for t in tensors]
    before = [np.array(t._array, copy=True) for t in given]
    positional, keywords = form.for_user(given)
    kind = "cpu" if not given else given[0].device.type
    below(lambda: definition.kernel_for(kind)(*positional, **keywords))
    for argument, place in zip(schema.arguments, form.values, strict=True):
        if not argument.is_tensor or place is None or argument.is_written:
            continue
        for index in place if isinstance(place, tuple) else (place,):
            if not _same(before[index], given[index]._array):
                raise undeclared_write(definition.name, argument.name)
    with tg.no_grad():
        _call(definition, _copied(values))


def _same(before: Any, after: Any) -> bool:
    return bool(before.tobytes() == np.array(after, copy=True).tobytes())


# -- the fake --------------------


def _check_fake(definition: CustomOpDef, values: tuple[Any, ...], close: Any) -> None:
    """The fake gives the specs of what the kernel gives."""
    operands, attributes = definition.operands_of(_copied(values))
    specs = tuple(map(_specs, operands))
    wanted = definition.operator.abstract(*specs, **attributes)
    with tg.no_grad():
        results = _several(_call(definition, _copied(values)))
    wanted = _several(wanted)[: len(_several(wanted)) - len(definition.schema.written)]
    if definition.schema.returns and len(wanted) != len(results):
        raise OpCheckError(
            f"the fake gives {len(wanted)} results, the kernel {len(results)}"
        )
    for index, (spec, result) in enumerate(zip(wanted, results, strict=False)):
        real = spec_of(result)
        for what in ("dtype", "shape", "strides"):
            if getattr(spec, what) != getattr(real, what):
                raise OpCheckError(
                    f"result {index}: the fake says {what} {getattr(spec, what)}, the "
                    f"kernel gives {getattr(real, what)}"
                )


def _specs(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_specs, value))
    return spec_of(value) if isinstance(value, Tensor) else value


# -- the derivative --------


def _tracked(values: Sequence[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, tuple):
            found.extend(_tracked(value))
        elif isinstance(value, Tensor) and value.requires_grad:
            found.append(value)
    return found


def _check_autograd(
    definition: CustomOpDef, values: tuple[Any, ...], close: Any
) -> None:
    """A derivative is registered where one is asked for."""
    if _tracked(values) and definition.backward is None:
        raise OpCheckError(
            "an argument requires grad and no derivative is registered; use "
            "register_autograd"
        )


def _check_gradients(
    definition: CustomOpDef, values: tuple[Any, ...], close: Any
) -> None:
    """The derivative is that of the values."""
    if definition.backward is None or not _tracked(values):
        return
    doubles = tuple(map(_double, values))
    form, tensors = Form.of(definition.schema, doubles)
    places = [i for i, t in enumerate(tensors) if t.requires_grad]

    def function(*changed: Any) -> Any:
        filled = list(tensors)
        for place, tensor in zip(places, changed, strict=True):
            filled[place] = tensor
        results = _several(_call(definition, form.fill(filled)))
        return tuple(r for r in results if r.requires_grad)

    tg.autograd.gradcheck(function, tuple(tensors[i] for i in places))


def _double(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_double, value))
    if not isinstance(value, Tensor) or not value.requires_grad:
        return value
    wanted = tg.complex128 if value.is_complex() else tg.float64
    return value.detach().to(wanted).clone().requires_grad_()  # type: ignore[attr-defined]


# -- captured --------------------


def _check_captured(
    definition: CustomOpDef, values: tuple[Any, ...], close: Any
) -> None:
    """Captured on each target that works here, it does what it does eagerly."""
    form, _ = Form.of(definition.schema, values)

    def function(*tensors: Any) -> Any:
        positional, keywords = form.for_user(tensors)
        return definition(*positional, **keywords)

    expected = _outcome(function, definition, values)
    for target in _TARGETS:
        try:
            with config(target=target):
                captured = tg.trace(function)
                # The first call records, the second one runs the program.
                _outcome(captured, definition, values)
                found = _outcome(captured, definition, values)
        except (CompileError, NotImplementedError):
            # A target that is not there, or can't call users' kernels.
            continue
        for what, wanted, got in zip(_PARTS, expected, found, strict=True):
            place = f"{what}, captured on {target}"
            _compare(place, wanted, got, close or _CLOSE)


_PARTS = ("the results", "what is written", "the gradients")


def _outcome(
    function: Callable[..., Any], definition: CustomOpDef, values: Any
) -> tuple[list[Any], ...]:
    """Return results, contents of the arguments afterwards, and gradients."""
    _, tensors = Form.of(definition.schema, _copied(values))
    results = _several(function(*tensors))
    tracked = [r for r in results if r.requires_grad]
    if definition.backward is not None and tracked:
        tg.autograd.backward([r.sum() for r in tracked])
    return (
        [r.numpy(force=True) for r in results],
        [t.numpy(force=True) for t in tensors],
        [None if t._grad is None else t._grad.numpy(force=True) for t in tensors],
    )


def _compare(what: str, wanted: list[Any], got: list[Any], close: Any) -> None:
    rtol, atol = close
    if len(wanted) != len(got):
        raise OpCheckError(f"{what}: there are {len(got)}, eagerly {len(wanted)}")
    for a, b in zip(wanted, got, strict=True):
        if (a is None) != (b is None):
            raise OpCheckError(f"{what} differ: {b}, eagerly {a}")
        if a is not None and not np.allclose(a, b, rtol, atol, equal_nan=True):
            raise OpCheckError(f"{what} differ: {b}, eagerly {a}")


_CHECKS: dict[str, _Check] = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_autograd,
    "test_faketensor": _check_fake,
    "test_aot_dispatch_dynamic": _check_captured,
    "test_gradients": _check_gradients,
}
