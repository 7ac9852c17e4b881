"""Modules and parameters in sequences and dictionaries."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentTypeError, IndexRangeError, NotSupportedError
from tracegrad.nn.modules.module import Module

S = TypeVar("S", bound="_Listed")


def position(index: Any, length: int) -> int:
    """Return an index counted from the front.

    Raises
    ------
    IndexRangeError
        If it is out of range.
    """
    place = operator.index(index)
    if not -length <= place < length:
        raise IndexRangeError(f"index {place} is out of range for {length} items")
    return place % length


class _Listed(Module):
    """Modules that are named 0, 1, 2, …, in order."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.values())[index])
        return list(self._modules.values())[position(index, len(self))]

    def __setitem__(self, index: int, module: Module) -> None:
        names = list(self._modules)
        setattr(self, names[position(index, len(self))], module)

    def __delitem__(self, index: Any) -> None:
        modules = list(self._modules.values())
        del modules[index if isinstance(index, slice) else position(index, len(self))]
        self._renumber(modules)

    def _of(self, modules: Iterable[Any]) -> Any:
        raise NotSupportedError("a list of modules makes its own slices")

    def _renumber(self, modules: list[Any]) -> None:
        self._modules.clear()
        for index, module in enumerate(modules):
            self._modules[str(index)] = module

    def append(self: S, module: Module) -> S:
        """Add a module at the end, and return the container."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self: S, index: int, module: Module) -> S:
        """Add a module before the one at `index`, and return the container."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self: S, modules: Iterable[Module]) -> S:
        """Add modules at the end, and return the container.

        Raises
        ------
        ArgumentTypeError
            If `modules` is no iterable.
        """
        if not isinstance(modules, Iterable):
            raise ArgumentTypeError(
                f"extend takes an iterable of modules, not {type(modules).__name__}"
            )
        for module in modules:
            self.append(module)
        return self

    def pop(self, index: int) -> Any:
        """Remove the module at `index` and return it."""
        found = self[index]
        del self[index]
        return found


class Sequential(_Listed):
    """Modules of which each gets what the one before returned.

    Parameters
    ----------
    *args : Module, or one dict of str to Module
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def forward(self, input: Any) -> Any:
        """Run the modules one after the other."""
        modules: Any = self._modules
        for module in modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Sequential(dict(list(self._modules.items())[index]))
        return super().__getitem__(index)

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ArgumentTypeError(
                f"a Sequential is joined to a Sequential, not {type(other).__name__}"
            )
        return Sequential(*self, *other)


class ModuleList(_Listed):
    """A list of modules.

    Parameters
    ----------
    modules : iterable of Module, optional
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _of(self, modules: Iterable[Any]) -> ModuleList:
        return ModuleList(modules)

    def __repr__(self) -> str:
        lines = []
        texts = [repr(module) for module in self]
        start = 0
        for text, equal in groupby(texts):
            stop = start + len(list(equal))
            # Equal modules in a row are shown once, with their numbers.
            if stop - start == 1:
                head = f"({start}): {text}"
            else:
                head = f"({start}-{stop - 1}): {stop - start} x {text}"
            lines.append(head.replace("\n", "\n  "))
            start = stop
        if not lines:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])


class ModuleDict(Module):
    """A dictionary of modules.

    Parameters
    ----------
    modules : mapping of str to Module, or iterable of pairs, optional
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return names and modules."""
        return self._modules.items()

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs."""
        pairs = (
            modules.items() if isinstance(modules, Mapping | ModuleDict) else modules
        )
        for name, module in pairs:
            self[name] = module


class ParameterList(Module):
    """A list of parameters; plain tensors become parameters.

    Parameters
    ----------
    values : iterable of Tensor, optional
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __getitem__(self, index: Any) -> Any:
        values = list(self._parameters.values())
        if isinstance(index, slice):
            return ParameterList(values[index])
        return values[position(index, len(self))]

    def __setitem__(self, index: int, value: Any) -> None:
        self._parameters[str(position(index, len(self)))] = _parameter(value)

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end, and return the list."""
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end, and return the list."""
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def extra_repr(self) -> str:
        """Return a line per parameter."""
        return _described(self._parameters)


class ParameterDict(Module):
    """A dictionary of parameters; plain tensors become parameters.

    Parameters
    ----------
    parameters : mapping of str to Tensor, or iterable of pairs, optional
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: str) -> bool:
        return key in self._parameters

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._parameters.keys()

    def values(self) -> Iterable[Any]:
        """Return the parameters."""
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return names and parameters."""
        return self._parameters.items()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the parameter of a name, or `default`."""
        return self._parameters.get(key, default)

    def pop(self, key: str) -> Any:
        """Remove a parameter and return it."""
        return self._parameters.pop(key)

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping or from pairs."""
        mapping = isinstance(parameters, Mapping | ParameterDict)
        for name, value in parameters.items() if mapping else parameters:
            self[name] = value

    def extra_repr(self) -> str:
        """Return a line per parameter."""
        return _described(self._parameters)


def _parameter(value: Any) -> Parameter | None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _described(parameters: Mapping[str, Any]) -> str:
    lines = []
    for name, parameter in parameters.items():
        size = "x".join(str(s) for s in parameter.shape)
        kind = f"[{parameter.dtype} of size {size}]"
        lines.append(f"  ({name}): Parameter containing: {kind}")
    return "\n".join(lines)
