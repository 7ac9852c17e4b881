"""Parameters that are computed from others each time they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tracegrad import no_grad
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentError, ArgumentValueError
from tracegrad.nn.modules.container import ModuleDict, ModuleList
from tracegrad.nn.modules.module import Module

# What was computed within `cached()`, by module and name; None outside.
_cache: dict[tuple[int, str], Tensor] | None = None


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within the block."""
    global _cache
    outer = _cache
    _cache = {} if outer is None else outer
    try:
        yield
    finally:
        _cache = outer


class ParametrizationList(ModuleList):
    """The functions that make a tensor of its original, in order.

    Parameters
    ----------
    modules : list of Module
    original : Tensor
        What the tensor was; ``right_inverse`` of the functions is stored.
    unsafe : bool
        Whether shape and dtype may change.

    Attributes
    ----------
    original : Parameter or Tensor
        ``original0``, ``original1``, … if there are several.
    """

    def __init__(self, modules: Any, original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        inverse = _inverse_of(list(self), original)
        self.is_tensor = isinstance(inverse, Tensor)
        if self.is_tensor:
            # The very object stays, so that an optimizer keeps hold of it.
            _hold(self, "original", _renewed(original, inverse))
            return
        self.ntensors = len(inverse)
        for i, part in enumerate(inverse):
            like = isinstance(original, Parameter)
            _hold(self, f"original{i}", Parameter(part.detach()) if like else part)

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the original so that the result becomes `value`, if it can."""
        with no_grad():
            inverse = _inverse_of(list(self), value)
            given = [inverse] if self.is_tensor else inverse
            for own, part in zip(self._originals(), given, strict=True):
                own.copy_(part)

    def forward(self) -> Any:
        """Return the tensor."""
        values = self._originals()
        for function in self:
            values = [function(*values)]
        return values[0]


def _inverse_of(functions: list[Any], value: Any) -> Any:
    for function in reversed(functions):
        if hasattr(function, "right_inverse"):
            with no_grad():
                value = function.right_inverse(value)
    return value


def _renewed(original: Any, inverse: Any) -> Any:
    if inverse is original:
        return original
    if isinstance(original, Parameter):
        original.data = inverse.detach()
        return original
    return inverse


def _hold(module: Any, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        functions = self.parametrizations[name]
        if _cache is None:
            return functions()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = functions()
        return _cache[key]

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make a parameter or buffer be computed by a module each time it is read.

    Parameters
    ----------
    module : Module
    tensor_name : str
    parametrization : Module
        Its ``forward`` makes the tensor of the original; ``right_inverse``, if it has
        one, makes the original of a tensor.
    unsafe : bool
        Whether shape and dtype may change.

    Returns
    -------
    Module
        The module.

    Raises
    ------
    ArgumentError
        If shape or dtype change.
    ArgumentValueError
        If there is no such tensor.

    Examples
    --------
    >>> import tracegrad as tg
    >>> class Symmetric(tg.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(tg.nn.Linear(2, 2), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _check_same(getattr(module, tensor_name), parametrization, unsafe)
        parametrizations: Any = module.parametrizations
        parametrizations[tensor_name].append(parametrization)
        return module
    held: Any = module._parameters.get(tensor_name)
    if held is None:
        held = module._buffers.get(tensor_name)
    if held is None:
        raise ArgumentValueError(
            f"{type(module).__name__} has no parameter or buffer {tensor_name!r} to "
            "parametrize"
        )
    before = (tuple(held.shape), held.dtype)
    functions = ParametrizationList([parametrization], held, unsafe)
    with no_grad():
        made = functions()
    if not unsafe and (tuple(made.shape), made.dtype) != before:
        raise ArgumentError(
            f"the parametrization makes {made.dtype} of shape {list(made.shape)}, not "
            f"{before[1]} of shape {list(before[0])}; give unsafe=True if that is meant"
        )
    delattr(module, tensor_name)
    _make_place(module)
    module.parametrizations[tensor_name] = functions
    setattr(type(module), tensor_name, _property(tensor_name))
    return module


def _check_same(value: Any, parametrization: Module, unsafe: bool) -> None:
    if unsafe:
        return
    with no_grad():
        made = parametrization(value)
    if tuple(made.shape) != tuple(value.shape) or made.dtype != value.dtype:
        raise ArgumentError(
            f"the parametrization makes {made.dtype} of shape {list(made.shape)}, not "
            f"{value.dtype} of shape {list(value.shape)}"
        )


def _make_place(module: Any) -> None:
    """Give the module a class of its own, to which properties can be added."""
    if is_parametrized(module):
        return
    own = type(module)
    module.__class__ = type(f"Parametrized{own.__name__}", (own,), {})
    module.parametrizations = ModuleDict()


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a module, or one of its tensors, is parametrized."""
    held: Any = module._modules.get("parametrizations")
    if held is None:
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a parametrized tensor an ordinary one again, and return the module.

    Parameters
    ----------
    module : Module
    tensor_name : str
    leave_parametrized : bool
        Whether it keeps its computed value, not its original one.

    Raises
    ------
    ArgumentError
        If it is not parametrized, or several originals cannot be kept.
    """
    if not is_parametrized(module, tensor_name):
        raise ArgumentError(
            f"{type(module).__name__} has no parametrization on {tensor_name!r}"
        )
    held: Any = module
    functions = held.parametrizations[tensor_name]
    originals = functions._originals()
    if not leave_parametrized and not functions.is_tensor:
        raise ArgumentError(
            "a tensor made of several others can only be left parametrized"
        )
    if leave_parametrized:
        with no_grad():
            value = functions().detach()
        if not functions.is_tensor:
            kept: Any = Parameter(value)
        else:
            kept = _renewed(originals[0], value)
    else:
        kept = originals[0]
    delattr(type(module), tensor_name)
    del held.parametrizations[tensor_name]
    _hold(module, tensor_name, kept)
    if not is_parametrized(module):
        del held.parametrizations
        held.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that the module was of."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize one module as another, with the same originals; return it."""
    held: Any = from_module
    if not is_parametrized(from_module):
        return to_module
    names = [tensor_name] if tensor_name else list(held.parametrizations.keys())
    target: Any = to_module
    for name in names:
        source = held.parametrizations[name]
        for function in source:
            register_parametrization(to_module, name, function, unsafe=source.unsafe)
        copied = target.parametrizations[name]
        for own, given in zip(copied._originals(), source._originals(), strict=True):
            own.data = given.data
    return to_module
