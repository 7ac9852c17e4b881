"""Module: a tree of parameters, buffers and modules, and a function over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import tracegrad as tg
from tracegrad.device import Device
from tracegrad.dispatch.constructors import check_constructor
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import NotSupportedError
from tracegrad.nn.modules._conversion import Conversion
from tracegrad.nn.modules._hooks import Hook, RemovableHandle, add_hook, run_with_hooks
from tracegrad.nn.modules._naming import ModuleNaming
from tracegrad.nn.modules._state import ModuleState
from tracegrad.ops.creation import empty_like

Self = TypeVar("Self", bound="Module")


class Module(ModuleNaming, ModuleState):
    """Base class of layers and models.

    A subclass calls ``super().__init__()``, assigns parameters and modules to
    attributes and defines `forward`.

    Attributes
    ----------
    training : bool
        Whether layers such as dropout behave as in training.

    Examples
    --------
    >>> class Double(Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Double()(3)
    6
    """

    # Says to capture that `__getattr__` looks in these dictionaries and nowhere else.
    __guard_dicts__ = ("_parameters", "_buffers", "_modules")

    training: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let layers of the package check their arguments."""
        super().__init_subclass__(**kwargs)
        check_constructor(cls)

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_modules"] = {}
        own["_non_persistent_buffers_set"] = set()
        # A dict once there is a hook: that there is none is read at each call.
        own["_call_hooks"] = None
        own["_state_hooks"] = {}

    # -- calling ----------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; a subclass defines it.

        Raises
        ------
        NotSupportedError
            If the subclass does not.
        """
        raise NotSupportedError(
            f"{type(self).__name__} does not define forward(); a module needs one"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the hooks and `forward`."""
        if self._call_hooks is None:
            return self.forward(*args, **kwargs)
        return run_with_hooks(self, args, kwargs)

    # -- attributes -------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind in own and name in own[kind]:
                return own[kind][name]
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._prepare(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._prepare(name, "_modules")
            own["_modules"][name] = value
        else:
            kind = self._kind_of(name)
            if kind is None:
                object.__setattr__(self, name, value)
                return
            if value is not None and not (
                kind == "_buffers" and isinstance(value, Tensor)
            ):
                raise TypeError(
                    f"cannot assign {type(value).__name__} to {name!r} of "
                    f"{type(self).__name__}: it is one of its {kind[1:]}; "
                    f"assign {_WANTED[kind]} or None, or delete it first"
                )
            own[kind][name] = value

    def _kind_of(self, name: str) -> str | None:
        """Return the dictionary that holds `name`."""
        own = self.__dict__
        for kind in ("_parameters", "_modules", "_buffers"):
            if kind in own and name in own[kind]:
                return kind
        return None

    def _prepare(self, name: str, wanted: str) -> None:
        """Forget what `name` was, unless it is in the dictionary it goes to."""
        own = self.__dict__
        if wanted not in own:
            raise AttributeError(
                f"cannot assign {name!r} before Module.__init__() call; "
                f"{type(self).__name__}.__init__ must call super().__init__() first"
            )
        own.pop(name, None)
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind != wanted:
                own[kind].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        kind = self._kind_of(name)
        if kind is None:
            object.__delattr__(self, name)
            return
        del self.__dict__[kind][name]
        self.__dict__["_non_persistent_buffers_set"].discard(name)

    def __dir__(self) -> list[str]:
        own = self.__dict__
        names = [*own["_parameters"], *own["_buffers"], *own["_modules"]]
        return sorted({*object.__dir__(self), *names})

    # -- modes ------------------------------------------------------------------

    def train(self: Self, mode: bool = True) -> Self:
        """Set `training` of this module and all below it, and return it.

        Raises
        ------
        ValueError
            If `mode` is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, not {mode!r}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Set `training` to False here and below, and return the module."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Say for all parameters whether gradients are wanted; return the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or fill them with zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on all modules below, then on this one, and return it."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # -- dtype and device ---------------------------------------------------------

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating parameters and buffers, and move all, in place.

        Parameters
        ----------
        *args, **kwargs
            A device, a dtype, both, or a tensor that has them; `non_blocking` is
            accepted and does nothing.

        Raises
        ------
        ArgumentTypeError
            If the dtype is neither floating nor complex, or an argument is unknown.
        """
        return self._apply(Conversion.of(args, kwargs))

    def to_empty(
        self: Self, *, device: Device | str | None, recurse: bool = True
    ) -> Self:
        """Move parameters and buffers without their values, in place.

        Parameters
        ----------
        device : Device or str
            Where they are made anew, uninitialised.
        recurse : bool
            Whether those of the children too.
        """

        def emptied(tensor: Tensor) -> Tensor:
            found: Tensor = empty_like(tensor, device=device)
            return found

        return self._apply(emptied, recurse)

    def float(self: Self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._apply(Conversion.named("float32"))

    def double(self: Self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._apply(Conversion.named("float64"))

    def half(self: Self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._apply(Conversion.named("float16"))

    def bfloat16(self: Self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._apply(Conversion.named("bfloat16"))

    def cpu(self: Self) -> Self:
        """Move parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self: Self, device: Any = None) -> Self:
        """Move parameters and buffers to a CUDA device."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def type(self: Self, dst_type: Any) -> Self:
        """Convert floating parameters and buffers to a dtype, or a type of tensors."""
        return self._apply(lambda tensor: tensor.type(dst_type))  # type: ignore[attr-defined]

    def share_memory(self: Self) -> Self:
        """Return the module itself: processes get copies."""
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Let `forward` be captured by `tracegrad.trace` from now on.

        The arguments are those of PyTorch's compiler, and are not needed here.
        """
        self.__dict__["forward"] = tg.trace(self.forward)

    def _apply(
        self: Self, fn: Callable[[Tensor], Tensor], recurse: bool = True
    ) -> Self:
        """Replace the data of all parameters and buffers by what `fn` makes of it."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        parameters: dict[str, Any] = self._parameters
        for parameter in parameters.values():
            if parameter is None:
                continue
            parameter.data = fn(parameter.data)
            if parameter.grad is not None:
                parameter.grad = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    # -- hooks --------------------------------------------------------------------

    def _made_call_hooks(self) -> dict[int, Hook]:
        if self._call_hooks is None:
            self.__dict__["_call_hooks"] = {}
        hooks: dict[int, Hook] = self._call_hooks
        return hooks

    def register_forward_pre_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each `forward`.

        What it returns, if not None, takes the place of the arguments.
        """
        return add_hook(
            self._made_call_hooks(), Hook("forward_pre", hook, with_kwargs), prepend
        )

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, result)`` after each `forward`.

        What it returns, if not None, takes the place of the result.
        """
        return add_hook(
            self._made_call_hooks(), Hook("forward", hook, with_kwargs), prepend
        )

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when backward reaches the result.

        What it returns, if not None, takes the place of the result's gradients.
        """
        return add_hook(self._made_call_hooks(), Hook("backward_pre", hook), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when backward has passed.

        `grad_input` has None for arguments that need no gradient. What the hook
        returns, if not None, takes the place of `grad_input`.
        """
        return add_hook(self._made_call_hooks(), Hook("backward", hook), prepend)

    # -- printing -----------------------------------------------------------------

    def extra_repr(self) -> str:
        """Return what `repr` shows in the module's own line."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [
            f"({name}): {_indented(repr(module))}"
            for name, module in self._modules.items()
        ]
        head = extra.split("\n") if extra else []
        if not lines and len(head) < 2:
            return f"{self._get_name()}({extra})"
        body = "\n  ".join([*head, *lines])
        return f"{self._get_name()}(\n  {body}\n)"


_WANTED = {
    "_parameters": "a tracegrad.nn.Parameter",
    "_buffers": "a Tensor",
    "_modules": "a Module",
}


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Forget a parameter's gradient, or fill it with zeros."""
    if set_to_none:
        # Without a look at it: a captured step need not know.
        parameter.grad = None
        return
    gradient: Any = parameter.grad
    if gradient is None:
        return
    if gradient.grad_fn is not None:
        gradient.detach_()
    else:
        gradient.requires_grad_(False)
    gradient.zero_()


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
