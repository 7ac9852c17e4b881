"""One call of a custom operator: its arguments taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tracegrad.device import device
from tracegrad.dispatch.arguments import hashable
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, dtype_given
from tracegrad.errors import ArgumentTypeError
from tracegrad.library.schema import Schema, SchemaArgument

_NUMBERS = {"bool": (bool,), "SymInt": (int,), "int": (int,), "float": (int, float)}
_NUMBERS |= {"Scalar": (bool, int, float, complex), "str": (str,)}
_NUMBERS |= {"complex": (int, float, complex)}


def canonical(name: str, schema: Schema, values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments of a call, checked, lists as tuples.

    Raises
    ------
    ArgumentTypeError
        If one has another type than the schema states.
    """
    return tuple(
        _checked(name, argument, value)
        for argument, value in zip(schema.arguments, values, strict=True)
    )


def _checked(name: str, argument: SchemaArgument, value: Any) -> Any:
    wanted = argument.type
    if value is None and wanted.endswith("?"):
        return None
    wanted = wanted.removesuffix("?")
    if wanted.endswith("[]"):
        if not isinstance(value, list | tuple):
            raise _wrong(name, argument, value)
        inner = wanted.removesuffix("[]")
        return tuple(_element(name, argument, inner, item) for item in value)
    return _element(name, argument, wanted, value)


def _element(name: str, argument: SchemaArgument, wanted: str, value: Any) -> Any:
    optional = wanted.endswith("?")
    wanted = wanted.removesuffix("?")
    if value is None and optional:
        return None
    if wanted == "Tensor":
        if isinstance(value, np.ndarray):
            return Tensor.from_numpy(value)  # type: ignore[attr-defined]
        if not isinstance(value, Tensor):
            raise _wrong(name, argument, value)
        return value
    if wanted == "ScalarType":
        return dtype_given(value, f"{name}(): argument {argument.name!r}")
    if wanted == "Device":
        # A text: emitted modules hold no devices.
        return str(device(value))
    value = hashable(value)
    if not isinstance(value, _NUMBERS[wanted]):
        raise _wrong(name, argument, value)
    return value


def _wrong(name: str, argument: SchemaArgument, value: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name}(): argument {argument.name!r} must be {argument.type}, not "
        f"{type(value).__name__}"
    )


def for_user(argument: SchemaArgument, value: Any) -> Any:
    """Return an argument in the form in which the user's function gets it."""
    if value is None:
        return None
    if argument.type.removesuffix("?").endswith("[]"):
        return list(value)
    if argument.type.startswith("Device"):
        return device(value)
    if argument.type.startswith("ScalarType") and not isinstance(value, DType):
        # Emitted modules have dtypes of their own.
        return dtype_given(value.numpy, argument.name)
    return value


@final
@dataclass(frozen=True, slots=True)
class Form:
    """The arguments of a call with its tensors taken out.

    Attributes
    ----------
    schema : Schema
    values : tuple
        The arguments; a tensor's place has its index among the tensors, a list's a
        tuple of those.
    count : int
        How many tensors there are.
    """

    schema: Schema
    values: tuple[Any, ...]
    count: int

    @classmethod
    def of(cls, schema: Schema, values: Sequence[Any]) -> tuple[Form, tuple[Any, ...]]:
        """Return the form of arguments, and the tensors among them."""
        tensors: list[Any] = []
        places: list[Any] = []
        for argument, value in zip(schema.arguments, values, strict=True):
            if not argument.is_tensor or value is None:
                places.append(value)
            elif isinstance(value, tuple):
                places.append(tuple(range(len(tensors), len(tensors) + len(value))))
                tensors.extend(value)
            else:
                places.append(len(tensors))
                tensors.append(value)
        return cls(schema, tuple(places), len(tensors)), tuple(tensors)

    def fill(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments, with others for their tensors."""
        found = []
        for argument, value in zip(self.schema.arguments, self.values, strict=True):
            if not argument.is_tensor or value is None:
                found.append(value)
            elif isinstance(value, tuple):
                found.append(tuple(tensors[place] for place in value))
            else:
                found.append(tensors[value])
        return tuple(found)

    def for_user(
        self, tensors: Sequence[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword-only arguments for the user's function."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument, value in zip(
            self.schema.arguments, self.fill(tensors), strict=True
        ):
            given = for_user(argument, value)
            if argument.keyword_only:
                keywords[argument.name] = given
            else:
                positional.append(given)
        return tuple(positional), keywords

    def per_tensor(self, parts: Sequence[Any]) -> list[Any]:
        """Return what is given for each positional argument as one for each tensor.

        A gradient for a list is a list, or None.
        """
        found: list[Any] = [None] * self.count
        positional = [
            (a, v)
            for a, v in zip(self.schema.arguments, self.values, strict=True)
            if not a.keyword_only
        ]
        for (argument, place), part in zip(positional, parts, strict=False):
            if not argument.is_tensor or place is None or part is None:
                continue
            if isinstance(place, tuple):
                for index, item in zip(place, part, strict=True):
                    found[index] = item
            else:
                found[place] = part
        return found


def written_tensors(schema: Schema, values: Sequence[Any]) -> list[Tensor]:
    """Return the tensors that the arguments to be written hold."""
    found: list[Tensor] = []
    for argument, value in zip(schema.arguments, values, strict=True):
        if argument.is_written and value is not None:
            found.extend(value if isinstance(value, tuple) else (value,))
    return found


def all_tensors(values: Sequence[Any]) -> list[Tensor]:
    """Return all tensors among arguments."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, tuple):
            found.extend(all_tensors(value))
        elif isinstance(value, Tensor):
            found.append(value)
    return found
