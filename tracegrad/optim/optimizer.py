"""Optimizer: parameters in groups, and what is remembered of each parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, final

from tracegrad import enable_grad, no_grad
from tracegrad.dispatch.argument_errors import wrong_type
from tracegrad.dispatch.constructors import check_constructor
from tracegrad.dispatch.state import outside_recording
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotSupportedError,
    StateError,
)
from tracegrad.location import warn
from tracegrad.optim.state_hooks import HookHandle, StateHooks

Closure = Callable[[], Any]


@final
class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class of optimizers.

    Parameters
    ----------
    params : iterable of Tensor, of (name, Tensor) pairs, or of dict
        A dict is a group: ``"params"`` and the settings that are its own.
    defaults : dict
        The settings of groups that do not have their own.

    Attributes
    ----------
    param_groups : list of dict
    state : dict of Tensor to dict
        What is remembered of each parameter; made when its first gradient is seen.

    Raises
    ------
    ArgumentTypeError
        If `params` is one tensor, or holds something else than tensors.
    ArgumentError
        If there is no parameter, one is no leaf, or one is in two groups.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let optimizers of the package check their arguments."""
        super().__init_subclass__(**kwargs)
        check_constructor(cls)

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise ArgumentTypeError(
                "params argument given to the optimizer should be an iterable of "
                "Tensors or dicts, but got a Tensor; give [tensor]"
            )
        if not isinstance(params, Iterable):
            raise ArgumentTypeError(
                "params must be an iterable of Tensors or dicts, not "
                f"{type(params).__name__}"
            )
        self.defaults = defaults
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_hooks: dict[int, tuple[bool, Callable[..., Any]]] = {}
        self._state_hooks = StateHooks()
        groups = list(params)
        if not groups:
            raise ArgumentError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    # -- groups -------------------------------------------------------------------

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with settings of its own.

        Parameters
        ----------
        param_group : dict
            ``"params"``, and settings that differ from the defaults.

        Raises
        ------
        ArgumentTypeError
            If it is no dict, or holds something else than tensors.
        ArgumentError
            If a parameter is no leaf, or is in another group already.
        """
        if not isinstance(param_group, dict):
            raise ArgumentTypeError(
                f"a parameter group is a dict, not {type(param_group).__name__}"
            )
        group = dict(param_group)
        parameters, names = _parameters_and_names(group["params"])
        group["params"] = parameters
        if names:
            group["param_names"] = names
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ArgumentError(f"a parameter group did not specify {name!r}")
            group.setdefault(name, value)
            _check_kind(type(self).__name__, name, group[name], value)
        self._check_parameters(parameters)
        self.param_groups.append(group)

    def _check_parameters(self, parameters: list[Tensor]) -> None:
        for parameter in parameters:
            if not parameter.is_leaf:
                raise ArgumentError(
                    "can't optimize a non-leaf Tensor (one that an operator made); "
                    f"its shape is {list(parameter.shape)}"
                )
        distinct = {id(p) for p in parameters}
        if len(distinct) != len(parameters):
            warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "each is updated as often as it is there",
            )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if distinct & known:
            raise ArgumentError(
                "some parameters appear in more than one parameter group"
            )

    # -- stepping -----------------------------------------------------------------

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients, or fill them with zeros.

        Parameters
        ----------
        set_to_none : bool
            Whether a gradient becomes None, so that `step` skips the parameter.
        """
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    # Without a look at it: a captured step need not know.
                    parameter.grad = None
                    continue
                gradient = parameter.grad
                if gradient is not None:
                    _to_zero(gradient)

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once, by their gradients.

        Parameters
        ----------
        closure : callable, optional
            Computes the gradients anew and returns the loss.

        Returns
        -------
        object
            What `closure` returned; None without one.
        """
        if self._step_hooks:
            closure = self._before_step(closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._init_states()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        state = self.state.get(parameter, {})
                        self._update(parameter, state, group)
        if self._step_hooks:
            self._after_step(closure)
        return loss

    def _before_step(self, closure: Closure | None) -> Any:
        """Call the hooks, and return the closure, which they may replace."""
        for before, hook in list(self._step_hooks.values()):
            changed = hook(self, (closure,), {}) if before else None
            if changed is not None:
                args, kwargs = changed
                closure = args[0] if args else kwargs.get("closure")
        return closure

    def _after_step(self, closure: Closure | None) -> None:
        for before, hook in list(self._step_hooks.values()):
            if not before:
                hook(self, (closure,), {})

    @outside_recording
    def _init_states(self) -> None:
        """Make the state of parameters that have a gradient for the first time.

        Apart from the update and without a look at any value, so that capture can run
        it outside the recording.
        """
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None or self.state.get(parameter):
                    continue
                state = self._init_state(parameter, group)
                if state:
                    self.state[parameter] = state

    def _init_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return what is remembered of a parameter at first."""
        return {}

    def _update(
        self, parameter: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Update one parameter and its state, in place."""
        raise NotSupportedError(f"{type(self).__name__} defines no update")

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> StepHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        It may return new ``(args, kwargs)``.
        """
        return StepHandle(self._step_hooks, True, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> StepHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return StepHandle(self._step_hooks, False, hook)

    # -- saving -------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return state and settings, with numbers in place of the parameters.

        Returns
        -------
        dict
            ``"state"`` by number of the parameter, ``"param_groups"``. The tensors are
            the optimizer's own.
        """
        self._state_hooks.before_saving.call(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            settings = {k: v for k, v in group.items() if k != "params"}
            settings["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(settings)
        state = {numbers.get(id(p), p): kept for p, kept in self.state.items()}
        saved = {"state": state, "param_groups": groups}
        return self._state_hooks.after_saving.passed_on(self, saved)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take state and settings from what `state_dict` returned.

        Parameters
        ----------
        state_dict : dict
            The state is copied, and takes each parameter's dtype and device; the
            count of steps stays as it is.

        Raises
        ------
        StateError
            If the groups, or their sizes, differ.
        """
        state_dict = self._state_hooks.before_loading.passed_on(self, dict(state_dict))
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise StateError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(saved)}, not {len(self.param_groups)}"
            )
        by_number: dict[int, Tensor] = {}
        for old, own in zip(saved, self.param_groups, strict=True):
            if len(old["params"]) != len(own["params"]):
                raise StateError(
                    "loaded state dict contains a parameter group that doesn't match "
                    f"the size of optimizer's group: {len(old['params'])}, "
                    f"not {len(own['params'])}"
                )
            by_number.update(zip(old["params"], own["params"], strict=True))
        state: dict[Any, Any] = defaultdict(dict)
        for key, kept in state_dict["state"].items():
            parameter = by_number.get(key)
            if parameter is None:
                state[key] = kept
            else:
                state[parameter] = {
                    name: _fitted(name, value, parameter)
                    for name, value in kept.items()
                }
        self.state = state
        for old, own in zip(saved, self.param_groups, strict=True):
            parameters = own["params"]
            own.clear()
            own.update(old)
            own["params"] = parameters
        self._state_hooks.after_loading.call(self)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> HookHandle:
        """Call ``hook(optimizer)`` before the state is saved."""
        return self._state_hooks.before_saving.add(hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> HookHandle:
        """Call ``hook(optimizer, state_dict)``, which may return another state."""
        return self._state_hooks.after_saving.add(hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> HookHandle:
        """Call ``hook(optimizer, state_dict)``, which may return another state."""
        return self._state_hooks.before_loading.add(hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> HookHandle:
        """Call ``hook(optimizer)`` after a state was loaded."""
        return self._state_hooks.after_loading.add(hook, prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for index, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {index}")
            settings = sorted(key for key in group if key != "params")
            lines.extend(f"    {key}: {group[key]}" for key in settings)
        return "\n".join([*lines, ")"])


@final
class StepHandle:
    """What registering a step hook returns: it removes the hook again."""

    __slots__ = ("_hooks",)

    def __init__(
        self,
        hooks: dict[int, tuple[bool, Callable[..., Any]]],
        before: bool,
        hook: Callable[..., Any],
    ) -> None:
        self._hooks = hooks
        hooks[id(self)] = (before, hook)

    def remove(self) -> None:
        """Remove the hook; does nothing if it is removed already."""
        self._hooks.pop(id(self), None)


def _parameters_and_names(given: Any) -> tuple[list[Tensor], list[str]]:
    """Return the parameters of a group, and their names if it has them."""
    if isinstance(given, Tensor):
        return [given], []
    if isinstance(given, set):
        raise ArgumentTypeError(
            "optimizer parameters need an order, and a set has none; give a list"
        )
    items = list(given) if isinstance(given, Iterable) else [given]
    pairs = [item for item in items if isinstance(item, tuple)]
    names = [name for name, _ in pairs] if len(pairs) == len(items) else []
    parameters = [item[1] if isinstance(item, tuple) else item for item in items]
    for parameter in parameters:
        if not isinstance(parameter, Tensor):
            raise ArgumentTypeError(
                f"optimizer can only optimize Tensors, not {type(parameter).__name__}"
            )
    return parameters, names


def _to_zero(gradient: Any) -> None:
    if gradient.grad_fn is not None:
        gradient.detach_()
    else:
        gradient.requires_grad_(False)
    gradient.zero_()


def _fitted(name: str, value: Any, parameter: Tensor) -> Any:
    """Return a copy of loaded state in the parameter's dtype, on its device."""
    if isinstance(value, list | tuple):
        return type(value)(_fitted(name, part, parameter) for part in value)
    if not isinstance(value, Tensor):
        return value
    copied: Any = value.detach().clone()  # type: ignore[attr-defined]
    if name == "step" or not parameter.is_floating_point():
        return copied
    return copied.to(dtype=parameter.dtype, device=parameter.device)


def _check_kind(optimizer: str, name: str, value: Any, default: Any) -> None:
    """Refuse a group's setting that is no number where the default is one."""
    numeric = default.__class__ in (int, float)
    if numeric and not isinstance(value, float | int | Tensor):
        raise wrong_type(optimizer, name, "float | Tensor", value)


def check_at_least(name: str, low: float, **settings: Any) -> None:
    """Refuse settings below a bound.

    Raises
    ------
    ArgumentError
        If there is one.
    """
    for what, value in settings.items():
        if not isinstance(value, Tensor) and not low <= value:
            raise ArgumentError(f"{name}: {what} must be at least {low}, not {value}")


def check_within(name: str, low: float, high: float, **settings: Any) -> None:
    """Refuse settings outside of bounds that may be reached.

    Raises
    ------
    ArgumentError
        If there is one.
    """
    for what, value in settings.items():
        if not isinstance(value, Tensor) and not low <= value <= high:
            raise ArgumentError(
                f"{name}: {what} must be in [{low}, {high}], not {value}"
            )


def check_fraction(name: str, **settings: Any) -> None:
    """Refuse settings outside [0, 1).

    Raises
    ------
    ArgumentError
        If there is one.
    """
    for what, value in settings.items():
        if not isinstance(value, Tensor) and not 0.0 <= value < 1.0:
            raise ArgumentError(f"{name}: {what} must be in [0, 1), not {value}")


def check_not_differentiable(name: str, differentiable: bool) -> None:
    """Refuse a step through which gradients are to flow.

    Raises
    ------
    NotSupportedError
        If that is asked for.
    """
    if differentiable:
        raise NotSupportedError(f"{name}: differentiable=True is not available")


def descent(parameter: Any, group: dict[str, Any]) -> Any:
    """Return the gradient to go down by: negative if the aim is a maximum."""
    return -parameter.grad if group["maximize"] else parameter.grad


def decayed(parameter: Any, gradient: Any, group: dict[str, Any]) -> Any:
    """Return the gradient with weight decay added, or take that off the parameter."""
    decay = group["weight_decay"]
    if decay == 0:
        return gradient
    if group.get("decoupled_weight_decay"):
        parameter.mul_(1 - group["lr"] * decay)
        return gradient
    return gradient.add(parameter, alpha=decay)
