"""The part of Module that finds things by name: parameters, buffers, modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentTypeError

if TYPE_CHECKING:
    from tracegrad.nn.modules.module import Module


class ModuleNaming:
    """Registers and finds parameters, buffers and modules."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    # -- registering ------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None keeps the name free for one.

        Raises
        ------
        ArgumentTypeError
            If it is no Parameter.
        ValueError
            If it is no leaf: it must be computed again in each `forward`.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                "cannot assign parameter before Module.__init__() call"
            )
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise ArgumentTypeError(
                f"register_parameter({name!r}) takes a tracegrad.nn.Parameter or None, "
                f"not {type(param).__name__}"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"the parameter {name!r} is not a leaf of the tape; make the module "
                "compute it in forward() instead"
            )
        self._parameters[name] = param

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Add a tensor that belongs to the module's state and is no parameter.

        Parameters
        ----------
        name : str
        tensor : Tensor or None
        persistent : bool
            Whether `state_dict` holds it.

        Raises
        ------
        ArgumentTypeError
            If it is no Tensor.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"register_buffer({name!r}) takes a Tensor or None, "
                f"not {type(tensor).__name__}"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under `name`.

        Raises
        ------
        ArgumentTypeError
            If it is no Module.
        KeyError
            If `name` is taken, empty, or has a dot.
        """
        if module is not None and not isinstance(module, ModuleNaming):
            raise ArgumentTypeError(
                f"add_module({name!r}) takes a Module, not {type(module).__name__}"
            )
        self._check_name("module", name, "_modules")
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a module under `name`; the same as `add_module`."""
        self.add_module(name, module)

    def _check_name(self, what: str, name: str, kind: str) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"the name of a {what} is a string, not {type(name).__name__}"
            )
        if "." in name:
            raise KeyError(f"the name of a {what} can't contain a dot: {name!r}")
        if name == "":
            raise KeyError(f"the name of a {what} can't be empty")
        if name not in self.__dict__[kind] and hasattr(self, name):
            raise KeyError(f"attribute {name!r} already exists")

    # -- going through ------------------------------------------------------------

    def named_modules(
        self,
        memo: set[Any] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module and all below it, with their dotted names."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, below, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Yield this module and all below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the modules directly below, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Yield the modules directly below."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters with their dotted names.

        Parameters
        ----------
        prefix : str
            What to put before each name.
        recurse : bool
            Whether to go into the modules below.
        remove_duplicate : bool
            Whether to yield a parameter that has several names once.
        """
        found = self._named_members("_parameters", prefix, recurse, remove_duplicate)
        return found  # type: ignore[return-value]

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield the buffers with their dotted names; see `named_parameters`."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Tensor]]:
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        seen: set[int] = set()
        for path, module in modules:
            for name, member in module.__dict__[kind].items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    # -- by dotted name -------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """Return the module of a dotted name; of "" this module itself.

        Raises
        ------
        AttributeError
            If there is none.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if name not in found._modules:
                raise AttributeError(
                    f"{type(found).__name__} has no module {name!r} (of {target!r})"
                )
            found = found._modules[name]
        return found

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter of a dotted name.

        Raises
        ------
        AttributeError
            If there is none.
        """
        return self._member("_parameters", target)

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer of a dotted name.

        Raises
        ------
        AttributeError
            If there is none.
        """
        return self._member("_buffers", target)

    def _member(self, kind: str, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = module.__dict__[kind].get(name)
        if found is None:
            raise AttributeError(
                f"{type(module).__name__} has no {kind[1:-1]} {name!r} (of {target!r})"
            )
        return found
