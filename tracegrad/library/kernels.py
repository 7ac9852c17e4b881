"""Running what users registered: kernels on real memory, fakes on specs alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracegrad.device import device_of_array
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dispatch.state import (
    install_recorder,
    install_transforms,
    no_tape,
)
from tracegrad.dispatch.storage import owner_of
from tracegrad.dispatch.tensor import Tensor, spec_of, wrap
from tracegrad.errors import ArgumentTypeError, InplaceError, NotSupportedError
from tracegrad.library.calls import Form, all_tensors
from tracegrad.library.schema import Schema


def kernel_of(name: str) -> Callable[..., Any]:
    """Return the kernel of a custom operator, for emitted modules."""
    kernel = OPERATORS[name].kernel
    assert kernel is not None
    return kernel


def below(function: Callable[[], Any]) -> Any:
    """Call a function off the tape, unrecorded, under no transform."""
    recorder = install_recorder(None)
    transforms = install_transforms(())
    try:
        with no_tape():
            return function()
    finally:
        install_transforms(transforms)
        install_recorder(recorder)


def run_on_memory(
    name: str, schema: Schema, function: Callable[..., Any], values: Sequence[Any]
) -> tuple[Any, ...]:
    """Call the user's kernel on the memory of the arguments; return new tensors.

    Raises
    ------
    InplaceError
        If it writes an argument that ``mutates_args`` does not name, or gives an
        argument, or a view of one, back.
    ArgumentTypeError
        If its result is not what the schema states.
    """
    form, tensors = Form.of(schema, values)
    given = [wrap(tensor._array) for tensor in tensors]
    positional, keywords = form.for_user(given)
    result = below(lambda: function(*positional, **keywords))
    _refuse_undeclared(name, schema, form, given)
    results = results_of(name, schema, result)
    _refuse_aliases(name, given, results)
    return tuple(wrap(tensor._array) for tensor in results)


def _refuse_undeclared(
    name: str, schema: Schema, form: Form, given: Sequence[Tensor]
) -> None:
    for argument, value in zip(schema.arguments, form.fill(given), strict=True):
        if argument.is_written or not argument.is_tensor or value is None:
            continue
        for tensor in value if isinstance(value, tuple) else (value,):
            if tensor._counter is not None and tensor._counter[0]:
                raise undeclared_write(name, argument.name)


def undeclared_write(name: str, argument: str) -> InplaceError:
    """Return the error for a write that the operator does not declare."""
    return InplaceError(
        f"{name} writes its argument {argument!r}, which mutates_args does not name; "
        f"name it there, or write into {argument}.clone()"
    )


def results_of(name: str, schema: Schema, result: Any) -> tuple[Tensor, ...]:
    """Return what a kernel or a fake gave as tensors, checked against the schema."""
    if not schema.returns:
        if result is not None:
            raise _wrong_result(name, schema, result)
        return ()
    if schema.gives_list:
        found = tuple(result) if isinstance(result, list | tuple) else None
    elif len(schema.returns) == 1:
        found = (result,)
    else:
        found = tuple(result) if isinstance(result, tuple | list) else None
        if found is not None and len(found) != len(schema.returns):
            found = None
    if found is None or not all(isinstance(t, Tensor) for t in found):
        raise _wrong_result(name, schema, result)
    return found


def _wrong_result(name: str, schema: Schema, result: Any) -> ArgumentTypeError:
    if isinstance(result, tuple | list):
        got = f"{len(result)} of {[type(r).__name__ for r in result]}"
    else:
        got = type(result).__name__
    return ArgumentTypeError(f"{name} gave {got}; its schema is {schema.text}")


def _refuse_aliases(
    name: str, given: Sequence[Tensor], results: Sequence[Tensor]
) -> None:
    owners = [owner_of(t._array) for t in given if not t.is_meta]
    for result in results:
        if result.is_meta:
            continue
        own = owner_of(result._array)
        if any(own is other for other in owners) and result.numel():
            raise InplaceError(
                f"{name} gave an argument, or another result, or a view of one, back; "
                "a custom operator's results must be memory of their own: return a "
                "clone()"
            )
        owners.append(own)


def run_functional(
    name: str,
    schema: Schema,
    choose: Callable[[str], Callable[..., Any]],
    values: Sequence[Any],
) -> Any:
    """Call the user's kernel on arrays, copies of those that it writes.

    Returns
    -------
    array, or tuple of array
        The results, then the new contents of the arguments that are written.
    """
    form, arrays = Form.of(schema, values)
    copied = set(written_places(form))
    tensors = [
        wrap(array.copy() if place in copied else array)
        for place, array in enumerate(arrays)
    ]
    function = choose(kernel_device(form, arrays))
    results = run_on_memory(name, schema, function, form.fill(tensors))
    found = [tensor._array for tensor in results]
    found += [tensors[place]._array for place in sorted(copied)]
    return found[0] if is_single(schema) else tuple(found)


def written_places(form: Form) -> list[int]:
    """Return the places, among the tensors, of those that are written."""
    found: list[int] = []
    for argument, value in zip(form.schema.arguments, form.values, strict=True):
        if argument.is_written and value is not None:
            found.extend(value if isinstance(value, tuple) else (value,))
    return found


def is_single(schema: Schema) -> bool:
    """Return whether the functional operator gives one tensor, not a tuple."""
    return schema.returns == ("Tensor",) and not schema.written


def kernel_device(form: Form, arrays: Sequence[Any]) -> str:
    """Return the type of device on which the arguments are."""
    for array in arrays:
        return device_of_array(array).type
    for argument, value in zip(form.schema.arguments, form.values, strict=True):
        if argument.type.startswith("Device") and value is not None:
            return str(value).partition(":")[0]
    return "cpu"


def run_fake(
    name: str, schema: Schema, fake: Callable[..., Any] | None, values: Sequence[Any]
) -> Any:
    """Return the specs of the results, of the new contents of arguments after them.

    Raises
    ------
    NotSupportedError
        If no fake is registered.
    """
    if fake is None and schema.returns:
        raise NotSupportedError(
            f"{name} has no fake, which says shape and dtype of the results without "
            "data; state one with register_fake"
        )
    form, specs = Form.of(schema, values)
    given = [wrap(spec) for spec in specs]
    results: tuple[Tensor, ...] = ()
    if fake is not None:
        positional, keywords = form.for_user(given)
        results = results_of(name, schema, below(lambda: fake(*positional, **keywords)))
    found = [spec_of(tensor) for tensor in results]
    found += [_dense(specs[place]) for place in sorted(written_places(form))]
    return found[0] if is_single(schema) else tuple(found)


def _dense(spec: Any) -> Any:
    return type(spec)(spec.dtype, spec.shape, (), spec.device)


def overlap(written: Sequence[Tensor], values: Sequence[Any]) -> bool:
    """Return whether memory that is written is also that of another argument."""
    everything = all_tensors(values)
    for target in written:
        array = target._array
        twins = [t for t in everything if _may_share(t._array, array)]
        if len(twins) > 1:
            return True
    return False


def _may_share(a: Any, b: Any) -> bool:
    from_numpy = hasattr(a, "__array_interface__") and hasattr(b, "__array_interface__")
    return bool(np.shares_memory(a, b)) if from_numpy else a is b
