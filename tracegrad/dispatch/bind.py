"""The dispatcher: ``bind`` is the only way an operator is applied.

From the outside in: autocast, functional transforms, the expansion of composites, the
tape, the recorder, the backend's kernel. With nothing installed each is one test. An
operator's kernel pair stands for the last four where it serves
(`tracegrad.dispatch.kernel_pair`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracegrad.config import config
from tracegrad.device import (
    CPU,
    NUMPY,
    Backend,
    Device,
    backend_of,
    is_array,
    on_device,
)
from tracegrad.dispatch.entry import ResultEdge, SavedTensor, TapeEntry, hooks_of
from tracegrad.dispatch.extents import may_share_memory
from tracegrad.dispatch.foreign import ForeignArray, MissingError
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.pairs import bind_pair
from tracegrad.dispatch.state import (
    install_recorder,
    install_transforms,
    installed,
    set_grad_enabled,
    thread,
)
from tracegrad.dispatch.tensor import Tensor, View, edge_of, spec_of, version_of, wrap
from tracegrad.errors import DeviceError, TracegradError
from tracegrad.location import here
from tracegrad.spec import TensorSpec

NO_ATTRIBUTES: dict[str, Any] = {}


def bind(
    operator: OpDef,
    operands: Sequence[Any],
    attributes: dict[str, Any] = NO_ATTRIBUTES,
) -> Any:
    """Apply `operator` and return its result(s).

    Parameters
    ----------
    operator : OpDef
    operands : sequence
        In the order of the signature: a Tensor, a Python number, None, a Generator,
        or a tuple of Tensors for an operand that is several tensors.
    attributes : dict
        All attributes, canonical and hashable.

    Returns
    -------
    Tensor or tuple of Tensor
    """
    if installed.busy:
        if thread.autocast is not None:
            return thread.autocast.bind(operator, operands, attributes)
        if thread.transforms:
            return _through_transforms(operator, tuple(operands), attributes)
    if operator.pair is not None and thread.recorder is None:
        result = bind_pair(operator, operands, attributes)
        if result is not None:
            return result
    return bind_defined(operator, operands, attributes)


def bind_defined(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Apply `operator` as it is defined: by its body or its kernel, not by its pair."""
    if operator.body is not None:
        return _bind_composite(operator, operands, attributes)
    return bind_tape(operator, operands, attributes)


OpDef.apply = bind  # type: ignore[assignment, method-assign]


def _through_transforms(
    operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
) -> Any:
    """Hand the call to the innermost transform, which sees those outside it."""
    transforms = thread.transforms
    install_transforms(transforms[:-1])
    try:
        return transforms[-1].bind(operator, operands, attributes)
    finally:
        install_transforms(transforms)


def _bind_composite(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Expand a composite, or record it whole where no gradient asks for its parts."""
    tracked = thread.grad_enabled and any(map(_is_tracked, operands))
    if tracked and operator.vjp_rules:
        return _bind_with_rule(operator, operands, attributes)
    if thread.recorder is None or tracked:
        return expand(operator, operands, attributes)
    return _record_whole(operator, operands, attributes, thread.grad_enabled)


def _record_whole(
    operator: OpDef,
    operands: Sequence[Any],
    attributes: dict[str, Any],
    grad_enabled: bool,
) -> Any:
    """Record a composite as one application; its body has a grad mode of its own."""
    body, recorder = operator.body, thread.recorder
    assert body is not None
    assert recorder is not None

    def run(given: Sequence[Any]) -> Any:
        before = set_grad_enabled(grad_enabled)
        try:
            return body(*given, **attributes)
        except TracegradError as error:
            error.within(operator.name)
            raise
        finally:
            set_grad_enabled(before)

    return recorder.record(operator, operands, attributes, run)


def expand(operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    """Run the body of a composite, whose operators are bound one by one."""
    assert operator.body is not None
    before = thread.scope
    thread.scope = before or operator.name
    try:
        return operator.body(*operands, **attributes)
    except TracegradError as error:
        error.within(operator.name)
        raise
    finally:
        thread.scope = before


def _bind_with_rule(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Run a composite that states its own derivative, as one tape entry."""
    edges = [edges_of(operand) for operand in operands]
    if thread.recorder is None:
        before = set_grad_enabled(False)
        try:
            result = expand(operator, operands, attributes)
        finally:
            set_grad_enabled(before)
    else:
        # The recorder sees the mode of the call itself.
        result = _record_whole(operator, operands, attributes, False)
    attach(operator, operands, attributes, edges, result)
    if installed.learning and thread.lesson is not None:
        thread.lesson.attach(operator, operands, attributes, result)
    return result


def _is_tracked(operand: Any) -> bool:
    if isinstance(operand, Tensor):
        return edge_of(operand) is not None
    return operand.__class__ is tuple and any(map(_is_tracked, operand))


def bind_tape(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Run a primitive, and make its tape entry where gradients are wanted."""
    edges = None
    if thread.grad_enabled and operator.vjp_rules:
        edges = [edges_of(operand) for operand in operands]
        if not any(edges):
            edges = None
    result = bind_recorded(operator, operands, attributes)
    if operator.is_view:
        link_views(operator, operands[0], attributes, result)
    if edges is not None:
        attach(operator, operands, attributes, edges, result)
    if installed.learning and thread.lesson is not None:
        thread.lesson.note(operator, operands, attributes, result)
    return result


def edges_of(operand: Any) -> Any:
    """Return where an operand's cotangent goes; for several tensors, where each."""
    if isinstance(operand, Tensor):
        return edge_of(operand)
    if operand.__class__ is tuple:
        edges = tuple(edges_of(o) for o in operand)
        return edges if any(edges) else None
    return None


def bind_recorded(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Run a primitive without the tape, and write it down where calls are recorded."""
    recorder = thread.recorder
    if recorder is None:
        return run_kernel(operator, operands, attributes)

    def run(given: Sequence[Any]) -> Any:
        return run_kernel(operator, given, attributes)

    return recorder.record(operator, operands, attributes, run)


# -- the tape -------------------------------------------------------------------


def attach(
    operator: OpDef,
    operands: Sequence[Any],
    attributes: dict[str, Any],
    edges: list[Any],
    result: Any,
) -> None:
    """Put the result(s) on the tape."""
    results = result if result.__class__ is tuple else (result,)
    if results[0]._array.dtype.kind not in DIFFERENTIABLE_KINDS and len(results) == 1:
        return
    plan = operator.plan(
        tuple(edge is not None for edge in edges),
        tuple(isinstance(o, Tensor | tuple) for o in operands),
    )
    if not plan.steps:
        return
    entry = TapeEntry(
        plan,
        tuple(edges),
        None,
        tuple(map(_shape_and_dtype, operands)),
        tuple(map(_shape_and_dtype, results)),
        attributes,
        tuple(None if isinstance(o, Tensor | tuple) else o for o in operands),
    )
    for index, tensor in enumerate(results):
        if tensor._array.dtype.kind in DIFFERENTIABLE_KINDS:
            tensor._node = entry if len(results) == 1 else ResultEdge(entry, index)
    entry.saved = _save(plan, operands, edges, results)
    if thread.anomaly:
        hooks_of(entry).metadata["traceback_"] = here()


# NumPy's kinds and DType's kinds: a tensor on the meta device has the latter.
DIFFERENTIABLE_KINDS = frozenset({"f", "c", "float", "complex", "V"})


def _save(
    plan: Any, operands: Sequence[Any], edges: Sequence[Any], results: Sequence[Any]
) -> tuple[Any, ...]:
    saved: list[Any] = []
    for index in plan.saved_operands:
        operand = operands[index]
        if operand.__class__ is tuple:
            saved.append(tuple(map(save, operand)))
        else:
            saved.append(SavedTensor(operand._array, edges[index], version_of(operand)))
    for index in plan.saved_results:
        result = results[index]
        # Without its edge, which is the entry itself: no reference cycle.
        saved.append(SavedTensor(result._array, None, version_of(result)))
    return tuple(saved)


def save(tensor: Tensor) -> SavedTensor:
    """Keep what backward needs of `tensor`."""
    return SavedTensor(tensor._array, edge_of(tensor), version_of(tensor))


def _shape_and_dtype(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return operand._array.shape, operand._array.dtype
    if operand.__class__ is tuple:
        return tuple(map(_shape_and_dtype, operand))
    return None


def link_views(
    operator: OpDef, source: Tensor, attributes: dict[str, Any], result: Any
) -> None:
    """Note that the result(s) share the memory of `source`."""
    view = source._view
    base, path = (source, ()) if view is None else (view.base, view.path)
    version = version_of(base)
    results = result if result.__class__ is tuple else (result,)
    origin = "multiple" if len(results) > 1 or result.__class__ is tuple else ""
    if not thread.grad_enabled:
        origin = "no_grad"
    elif view is not None and view.origin:
        origin = view.origin
    for index, tensor in enumerate(results):
        if tensor is source or not _shares(tensor, source):
            continue
        step = (operator, attributes, index)
        tensor._view = View(base, (*path, step), base._node, origin)
        if isinstance(tensor._array, ForeignArray):
            _follow(tensor._array, source._array, step)
        tensor._counter = version


def _follow(view: ForeignArray, source: ForeignArray, step: Any) -> None:
    """Let another library's array stand for a part of the one it was made of."""
    operator, attributes, index = step

    def part(xp: Any, array: Any) -> Any:
        found = operator.kernel(xp, array, **attributes)
        return found[index] if found.__class__ in (tuple, list) else found

    if view is not source:
        view.follow(source, part)


def _shares(tensor: Tensor, source: Tensor) -> bool:
    a, b = tensor._array, source._array
    if not hasattr(a, "itemsize") or not hasattr(b, "itemsize"):
        # On the meta device, or an example inside vmap.
        return True
    if isinstance(a, ForeignArray):
        # It is about to follow the other.
        return True
    return a.size == 0 or may_share_memory(a, b)


# -- kernels --------------------------------------------------------------------


def run_kernel(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    """Run the kernel of the operands' device and return new Tensors."""
    arrays = [array_of(operand) for operand in operands]
    device = _common_device(operator, operands, attributes)
    if device is None:
        return _run_meta(operator, operands, attributes)
    if config.log:
        _log(operator, device)
    backend = NUMPY
    if device is not CPU:
        backend = backend_of(device.type)
        arrays = [_uploaded(array, device) for array in arrays]
    value = _run_checked(operator, backend, operands, arrays, attributes)
    if value.__class__ is tuple or value.__class__ is list:
        return tuple([wrap(_as_array(v, backend)) for v in value])
    return wrap(_as_array(value, backend))


def _uploaded(array: Any, device: Device) -> Any:
    """Return an operand on the device; only one without dimensions is elsewhere."""
    if array.__class__ is list:
        return [_uploaded(part, device) for part in array]
    return on_device(array, device) if array.__class__ is np.ndarray else array


def _run_checked(
    operator: OpDef,
    backend: Backend,
    operands: Sequence[Any],
    arrays: list[Any],
    attributes: dict[str, Any],
) -> Any:
    kernel = operator.kernel
    assert kernel is not None, f"{operator.name} has no kernel"
    if operator.family == "custom":
        return kernel(backend.namespace, *arrays, **attributes)
    if backend.foreign:
        return _run_foreign(operator, backend, operands, arrays, attributes)
    if operator.family != "pointwise":
        _abstract(operator, operands, attributes)
        return backend.run(kernel, backend.namespace, *arrays, **attributes)
    try:
        return backend.run(kernel, backend.namespace, *arrays, **attributes)
    except TracegradError:
        raise
    except (ValueError, TypeError, OverflowError):
        _abstract(operator, operands, attributes)
        raise


def _run_foreign(
    operator: OpDef,
    backend: Backend,
    operands: Sequence[Any],
    arrays: list[Any],
    attributes: dict[str, Any],
) -> Any:
    """Run a kernel on another library's arrays, or by NumPy on copies of them."""
    kernel = operator.kernel
    assert kernel is not None
    specs = _abstract(operator, operands, attributes)
    if operator.facts.get("alias"):
        return arrays[0]
    if not operator.is_random and operator.family != "transfer":
        try:
            value = kernel(backend.namespace, *arrays, **attributes)
            found = _as_specified(value, specs, backend)
            return _own_memory(found, arrays)
        except TracegradError:
            raise
        except Exception as error:
            _note_host(operator, backend, error)
    host = [_on_host(array) for array in arrays]
    value = NUMPY.run(kernel, np, *host, **attributes)
    if operator.family == "transfer":
        return value
    if value.__class__ is tuple or value.__class__ is list:
        return tuple(_to_foreign(v, backend) for v in value)
    return _to_foreign(value, backend)


def _as_specified(value: Any, specs: Any, backend: Backend) -> Any:
    """Return what a kernel gave, if its forms are those of abstract evaluation."""
    several = value.__class__ is tuple or value.__class__ is list
    values: Any = value if several else (value,)
    wanted: Any = specs if specs.__class__ is tuple else (specs,)
    for part, spec in zip(values, wanted, strict=True):
        if not isinstance(part, backend.array_type):
            raise MissingError(f"the kernel gave {type(part).__name__}")
        if part.dtype != spec.dtype.numpy or part.shape != tuple(spec.shape):
            raise MissingError(
                f"the library gave {part.dtype}{list(part.shape)}, not {spec}"
            )
    return value


def _own_memory(value: Any, arrays: list[Any]) -> Any:
    """Return results that are no operand: a write into one must not reach it."""
    if value.__class__ is tuple or value.__class__ is list:
        return tuple(_own_memory(part, arrays) for part in value)
    if any(value is array for array in arrays):
        return value.__class__(value.value)
    return value


def _note_host(operator: OpDef, backend: Backend, error: Exception) -> None:
    if "dispatch" in config.log:
        sys.stderr.write(
            f"dispatch: {operator.name} on {backend.name} is computed by NumPy: "
            f"{type(error).__name__}: {error}\n"
        )


def _on_host(array: Any) -> Any:
    if array.__class__ is list:
        return [_on_host(part) for part in array]
    return np.array(array.host()) if isinstance(array, ForeignArray) else array


def _to_foreign(array: Any, backend: Backend) -> Any:
    return backend.namespace.asarray(np.asarray(array))


def array_of(operand: Any) -> Any:
    """Return what kernels take for an operand."""
    if isinstance(operand, Tensor):
        return operand._array
    if operand.__class__ is tuple:
        return [array_of(o) for o in operand]
    if operand.__class__ is Generator:
        return operand.engine
    if operand.__class__ in _EXACT:
        return operand
    return _exact(operand)


_EXACT = frozenset({bool, int, float, complex, type(None)})


def _exact(operand: Any) -> Any:
    """Return the plain number that an instance of a number's subclass is."""
    if isinstance(operand, int):
        return int.__int__(operand)
    if isinstance(operand, float):
        return float.__float__(operand)
    return complex(operand) if isinstance(operand, complex) else operand


def _as_array(value: Any, backend: Backend) -> Any:
    return value if isinstance(value, backend.array_type) else _lifted(value, backend)


def _lifted(value: Any, backend: Backend) -> Any:
    if isinstance(value, Tensor):
        # A transfer: it is on another device.
        return value._array
    if is_array(value):
        # Copied to another device.
        return value
    return backend.namespace.asarray(value)


def _spec_of_operand(operand: Any) -> Any:
    if isinstance(operand, Tensor):
        return spec_of(operand)
    if operand.__class__ is tuple:
        return tuple(map(_spec_of_operand, operand))
    return operand


def abstract_composite(operator: OpDef, specs: Any, attributes: dict[str, Any]) -> Any:
    """Return a composite's result spec(s): its body, run on specs alone."""
    body = operator.body
    assert body is not None
    operands = list(map(_spec_only, specs))
    before = install_recorder(None)
    try:
        result = body(*operands, **attributes)
    finally:
        install_recorder(before)
    if result.__class__ is tuple:
        return tuple(map(spec_of, result))
    return spec_of(result)


def _spec_only(operand: Any) -> Any:
    if operand.__class__ is tuple:
        return tuple(map(_spec_only, operand))
    return wrap(operand) if isinstance(operand, TensorSpec) else operand


def _abstract(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    return operator.abstract(*map(_spec_of_operand, operands), **attributes)


def _run_meta(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Any:
    specs = _abstract(operator, operands, attributes)
    return tuple(map(wrap, specs)) if specs.__class__ is tuple else wrap(specs)


def _common_device(
    operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
) -> Device | None:
    """Return where to compute; None for the meta device.

    Raises
    ------
    DeviceError
        If operands are on different devices, and none of them is a number on the CPU.
    """
    device: Device | None = None
    decided = False
    for tensor in _tensors_of(operands):
        array = tensor._array
        if array.__class__ is np.ndarray and (device is CPU or device is None):
            device, decided = CPU, decided or array.ndim > 0
            continue
        if array.__class__ is TensorSpec:
            if array.device.type == "meta":
                _check_all_meta(operator, operands)
            return None
        own = tensor.device
        if not decided or device == own:
            # A number on the CPU goes along with any device, no other does.
            device, decided = own, True
        elif (own is not CPU or array.ndim > 0) and not _is_index(operator, array):
            raise DeviceError(
                f"{operator.name}: the operands are on {device} and {own}; "
                "copy one with tensor.to(device) first"
            )
    if device is None:
        wanted = attributes.get("device") or _generators_device(operands)
        return None if wanted.type == "meta" else wanted
    return device


def _generators_device(operands: Sequence[Any]) -> Device:
    """Return where a draw takes place; what has no operands at all is on the CPU."""
    first = operands[0] if operands else None
    return first.device if isinstance(first, Generator) else CPU


def _is_index(operator: OpDef, array: Any) -> bool:
    """Return whether an operand says where, which the CPU may say for all devices."""
    anywhere = operator.facts.get("indices_anywhere", False)
    return anywhere and array.__class__ is np.ndarray and array.dtype.kind in "ib"


def _check_all_meta(operator: OpDef, operands: Sequence[Any]) -> None:
    """Refuse data beside a tensor on meta; an index or a mask may be anywhere."""
    for tensor in _tensors_of(operands):
        array = tensor._array
        has_data = array.__class__ is not TensorSpec and array.ndim > 0
        if has_data and array.dtype.kind in DIFFERENTIABLE_KINDS:
            raise DeviceError(
                f"{operator.name}: the operands are on meta and {tensor.device}; "
                "copy one with tensor.to(device) first"
            )


def _tensors_of(operands: Sequence[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for operand in operands:
        if isinstance(operand, Tensor):
            found.append(operand)
        elif operand.__class__ is tuple:
            found.extend(_tensors_of(operand))
    return found


def _log(operator: OpDef, device: Device) -> None:
    if "dispatch" in config.log:
        sys.stderr.write(f"dispatch: {operator.name} on {device}\n")
