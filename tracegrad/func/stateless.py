"""`functional_call`: a module as a function of its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentTypeError


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with other tensors in place of its parameters and buffers.

    Parameters
    ----------
    module : Module
    parameter_and_buffer_dicts : dict or sequence of dict
        Tensors by the names of ``named_parameters`` and ``named_buffers``; the module
        keeps its own for the others.
    args : tuple or object
        The positional arguments; anything but a tuple is the only one.
    kwargs : dict, optional
    tie_weights : bool
        Whether a tensor that has several names is replaced under all of them.
    strict : bool
        Whether every parameter and buffer must be given.

    Raises
    ------
    ArgumentError
        If a name is unknown, given twice, or missing where `strict`.
    """
    given = _merged(parameter_and_buffer_dicts)
    own = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    unknown = [name for name in given if name not in own]
    missing = [name for name in own if name not in given]
    if unknown or (strict and missing):
        raise ArgumentError(
            f"functional_call: {type(module).__name__} has no {unknown}; "
            f"not given are {missing}"
        )
    if tie_weights:
        given = _tied(given, own)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given):
        return module(*positional, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Tensor]:
    several = [dicts] if isinstance(dicts, Mapping) else list(dicts)
    merged: dict[str, Tensor] = {}
    for part in several:
        twice = merged.keys() & part.keys()
        if twice:
            raise ArgumentError(f"functional_call: given twice: {sorted(twice)}")
        merged.update(part)
    for name, tensor in merged.items():
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"functional_call: {name} must be a Tensor, not {type(tensor).__name__}"
            )
    return merged


def _tied(given: dict[str, Tensor], own: dict[str, Tensor]) -> dict[str, Tensor]:
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    found = dict(given)
    for group in names.values():
        values = [given[name] for name in group if name in given]
        if any(value is not values[0] for value in values):
            raise ArgumentError(
                f"functional_call: {group} are one tensor and were given different "
                "ones; "
                "pass tie_weights=False"
            )
        found.update({name: values[0] for name in group if values})
    return found


@contextmanager
def _replaced(module: Any, given: Mapping[str, Tensor]) -> Iterator[None]:
    """Run a block in which the module holds other tensors."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for path, tensor in given.items():
            owner, name = _owner(module, path)
            place = owner._parameters if name in owner._parameters else owner._buffers
            before.append((place, name, place[name]))
            place[name] = tensor
        yield
    finally:
        for place, name, tensor in reversed(before):
            place[name] = tensor


def _owner(module: Any, path: str) -> tuple[Any, str]:
    *parts, name = path.split(".")
    for part in parts:
        module = module._modules[part]
    return module, name
