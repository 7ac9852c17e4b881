"""The part of Module that gives out its state and takes it back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tracegrad.dispatch.state import set_grad_enabled
from tracegrad.dispatch.tensor import Parameter, Tensor
from tracegrad.errors import ArgumentTypeError, NotSupportedError, StateError
from tracegrad.nn.modules._hooks import Hook, RemovableHandle, add_hook, hooks_of

if TYPE_CHECKING:
    from tracegrad.nn.modules.module import Module

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What did not fit when a state was loaded.

    Attributes
    ----------
    missing_keys : list of str
        Names that the module has and the state has not.
    unexpected_keys : list of str
        Names that the state has and the module has not.
    """

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class ModuleState:
    """Gives out parameters and buffers by name, and takes them back."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _state_hooks: dict[int, Hook]

    def get_extra_state(self) -> Any:
        """Return state beside tensors; a subclass may define it.

        Raises
        ------
        NotSupportedError
            If the subclass does not.
        """
        raise NotSupportedError(f"{type(self).__name__} defines no extra state")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned; a subclass may define it.

        Raises
        ------
        NotSupportedError
            If the subclass does not.
        """
        raise NotSupportedError(f"{type(self).__name__} takes no extra state")

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not ModuleState.get_extra_state

    # -- out ------------------------------------------------------------------------

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the parameters and persistent buffers by dotted name.

        Parameters
        ----------
        destination : dict, optional
            Where to put them; a new dictionary if not given.
        prefix : str
            What to put before each name.
        keep_vars : bool
            Whether to give the parameters themselves, not detached aliases.

        Returns
        -------
        dict
            The tensors share memory with the module's.
        """
        result = OrderedDict() if destination is None else destination
        for hook in hooks_of(self._state_hooks, "save_pre"):
            hook.function(self, prefix, keep_vars)
        for name, tensor in self._own_state().items():
            result[prefix + name] = tensor if keep_vars else tensor.detach()  # type: ignore[attr-defined]
        if self._has_extra_state():
            result[prefix + _EXTRA] = self.get_extra_state()
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}{name}."
                module.state_dict(destination=result, prefix=below, keep_vars=keep_vars)
        for hook in hooks_of(self._state_hooks, "save"):
            hook.function(self, result, prefix, {})
        return result

    def _own_state(self) -> dict[str, Tensor]:
        """Return the module's own parameters and persistent buffers."""
        hidden = self._non_persistent_buffers_set
        found = {n: p for n, p in self._parameters.items() if p is not None}
        kept = {
            name: buffer
            for name, buffer in self._buffers.items()
            if buffer is not None and name not in hidden
        }
        return {**found, **kept}

    # -- in ---------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy a state into the module's parameters and buffers.

        Parameters
        ----------
        state_dict : mapping of str to Tensor
        strict : bool
            Whether the names must be the module's, no more and no fewer.
        assign : bool
            Whether to take the state's tensors themselves, not copy from them.

        Returns
        -------
        IncompatibleKeys
            What was missing and what was unexpected.

        Raises
        ------
        StateError
            If shapes differ, or names do and `strict` is set. What fits is loaded.
        """
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(
                "load_state_dict takes a mapping of names to tensors, "
                f"not {type(state_dict).__name__}"
            )
        state = OrderedDict(state_dict)
        result = IncompatibleKeys([], [])
        errors: list[str] = []
        self._load(state, "", assign, result.missing_keys, errors)
        known = self._known_names("")
        result.unexpected_keys.extend(name for name in state if name not in known)
        for hook in hooks_of(self._state_hooks, "load"):
            hook.function(self, result)
        if strict:
            errors = [*_key_errors(result), *errors]
        if errors:
            listed = "\n\t".join(errors)
            raise StateError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"
            )
        return result

    def _known_names(self, prefix: str) -> set[str]:
        known = {prefix + name for name in self._own_state()}
        if self._has_extra_state():
            known.add(prefix + _EXTRA)
        for name, module in self._modules.items():
            if module is not None:
                known |= module._known_names(f"{prefix}{name}.")
        return known

    def _load(
        self,
        state: dict[str, Any],
        prefix: str,
        assign: bool,
        missing: list[str],
        errors: list[str],
    ) -> None:
        for hook in hooks_of(self._state_hooks, "load_pre"):
            hook.function(self, state, prefix, {}, True, missing, [], errors)
        for name, tensor in self._own_state().items():
            given = state.get(prefix + name)
            if given is None:
                missing.append(prefix + name)
            else:
                error = self._take(name, tensor, given, assign)
                if error:
                    errors.append(f"{prefix}{name}: {error}")
        if self._has_extra_state():
            if prefix + _EXTRA in state:
                self.set_extra_state(state[prefix + _EXTRA])
            else:
                missing.append(prefix + _EXTRA)
        for name, module in self._modules.items():
            if module is not None:
                module._load(state, f"{prefix}{name}.", assign, missing, errors)

    def _take(self, name: str, own: Tensor, given: Any, assign: bool) -> str:
        """Load one tensor; return what is wrong with it, or nothing."""
        if not isinstance(given, Tensor):
            return f"a Tensor is expected, not {type(given).__name__}"
        if own.ndim == 0 and given.shape == (1,):
            given = given[0]  # type: ignore[index]
        if own.shape != given.shape:
            return (
                f"size mismatch: the shape in the state is {list(given.shape)}, "
                f"in the module {list(own.shape)}"
            )
        if assign:
            self._assign(name, own, given)
            return ""
        before = set_grad_enabled(False)
        try:
            own.copy_(given)  # type: ignore[attr-defined]
        finally:
            set_grad_enabled(before)
        return ""

    def _assign(self, name: str, own: Tensor, given: Tensor) -> None:
        if name not in self._parameters:
            self._buffers[name] = given
        elif isinstance(given, Parameter):
            self._parameters[name] = given
        else:
            self._parameters[name] = Parameter(given, own.requires_grad)

    # -- hooks --------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is collected."""
        return add_hook(self._state_hooks, Hook("save_pre", hook))

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, metadata)`` after that."""
        return add_hook(self._state_hooks, Hook("save", hook))

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call a hook before the module's own state is loaded.

        It gets module, state, prefix, metadata, strict, and the lists of missing
        names, unexpected names and errors.
        """
        return add_hook(self._state_hooks, Hook("load_pre", hook))

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after a state was loaded."""
        return add_hook(self._state_hooks, Hook("load", hook))


def _key_errors(keys: IncompatibleKeys) -> list[str]:
    errors = []
    if keys.unexpected_keys:
        names = ", ".join(f'"{name}"' for name in keys.unexpected_keys)
        errors.append(f"Unexpected key(s) in state_dict: {names}. ")
    if keys.missing_keys:
        names = ", ".join(f'"{name}"' for name in keys.missing_keys)
        errors.append(f"Missing key(s) in state_dict: {names}. ")
    return errors
