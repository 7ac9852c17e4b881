"""GradScaler: losses times a factor, lest small gradients in float16 be zero."""

from __future__ import annotations

from enum import Enum
from typing import Any, final

from tracegrad import full, no_grad, tensor
from tracegrad.device import backend_of
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float32, int32
from tracegrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    AssertedError,
    DeviceError,
    StateError,
)
from tracegrad.location import warn


class OptState(Enum):
    """What was done with an optimizer since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


@final
class _Seen:
    """What is known of one optimizer's gradients since the last update."""

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.found_inf: Any = None


class GradScaler:
    """Scales losses up, gradients down again, and leaves out steps that overflowed.

    Parameters
    ----------
    device : str
        On which kind of device; where that can't be used it warns and does nothing.
    init_scale : float
        The factor to begin with.
    growth_factor : float
        What it is multiplied with after `growth_interval` steps without overflow.
    backoff_factor : float
        What it is multiplied with after an overflow.
    growth_interval : int
    enabled : bool
        If False, losses and steps pass through as they are.

    Raises
    ------
    AssertedError
        If a factor makes no sense.

    Notes
    -----
    Source: Micikevicius et al., "Mixed Precision Training" (2018).

    Examples
    --------
    >>> scaler = GradScaler("cpu", init_scale=4.0)
    >>> scaler.get_scale()
    4.0
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled and _is_usable(device)
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertedError("GradScaler: the growth factor must be > 1.0")
        if backoff_factor >= 1.0:
            raise AssertedError("GradScaler: the backoff factor must be < 1.0")
        self._init_scale = init_scale
        self._scale: Any = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Any = None
        self._seen: dict[int, _Seen] = {}

    # -- scaling ------------------------------------------------------------------

    def _lazy_init(self) -> None:
        if self._scale is None:
            self._scale = full((), self._init_scale, dtype=float32)
            self._growth_tracker = full((), self._init_growth_tracker, dtype=int32)

    def scale(self, outputs: Any) -> Any:
        """Multiply a loss, or losses in containers, by the factor.

        Raises
        ------
        ArgumentValueError
            If there is something else than tensors.
        """
        if not self._enabled:
            return outputs
        self._lazy_init()
        return self._scaled(outputs)

    def _scaled(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return value * self._scale.to(value.device)  # type: ignore[operator]
        if isinstance(value, list | tuple):
            parts = [self._scaled(part) for part in value]
            if hasattr(value, "_fields"):
                return type(value)(*parts)
            return type(value)(parts)
        raise ArgumentValueError(
            f"GradScaler.scale() takes tensors and lists of them, not {value!r}"
        )

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, in place.

        Raises
        ------
        StateError
            If that was done since the last update, or the step too.
        """
        if not self._enabled:
            return
        self._check_started("unscale_")
        seen = self._seen.setdefault(id(optimizer), _Seen())
        if seen.stage is OptState.UNSCALED:
            raise StateError(
                "unscale_() was already called on this optimizer since the last "
                "update()"
            )
        if seen.stage is OptState.STEPPED:
            raise StateError("unscale_() is called after step()")
        # By the reciprocal, computed in double precision as PyTorch does.
        factor = self._scale.double().reciprocal().float()
        seen.found_inf = self._unscale(optimizer, factor)
        seen.stage = OptState.UNSCALED

    def _unscale(self, optimizer: Any, factor: Any) -> Any:
        """Unscale the gradients; return 1 if one is infinite or NaN, else 0."""
        found = full((), 0.0, dtype=float32)
        with no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is None:
                        continue
                    if gradient.dtype.name == "float16":
                        raise ArgumentValueError(
                            "GradScaler: attempting to unscale float16 gradients; keep "
                            "parameters in float32 and use autocast"
                        )
                    found = found.maximum((~gradient.isfinite()).any().float())
                    gradient.mul_(factor.to(gradient.device))
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale if that was not done, and step if no gradient is infinite or NaN.

        Returns
        -------
        object
            What the optimizer's step returned; None if there was none.

        Raises
        ------
        StateError
            If the step was done since the last update.
        ArgumentTypeError
            If there is a closure, which would need scaling of its own.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise ArgumentTypeError("GradScaler.step() takes no closure")
        self._check_started("step")
        seen = self._seen.setdefault(id(optimizer), _Seen())
        if seen.stage is OptState.STEPPED:
            raise StateError("step() was already called since the last update()")
        if seen.stage is OptState.READY:
            self.unscale_(optimizer)
        result = None
        if not seen.found_inf.item():
            result = optimizer.step(*args, **kwargs)
        seen.stage = OptState.STEPPED
        return result

    # -- the factor ---------------------------------------------------------------

    def update(self, new_scale: Any = None) -> None:
        """Change the factor by what was found since the last update.

        Parameters
        ----------
        new_scale : float or Tensor, optional
            What it becomes instead.

        Raises
        ------
        AssertedError
            If no gradients were looked at.
        """
        if not self._enabled:
            return
        self._check_started("update")
        if new_scale is not None:
            self._scale.fill_(float(new_scale))
        else:
            self._adapt()
        self._seen = {}

    def _adapt(self) -> None:
        found = [s.found_inf for s in self._seen.values() if s.found_inf is not None]
        if not found:
            raise AssertedError("no inf checks were recorded prior to update()")
        if any(flag.item() for flag in found):
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker.fill_(0)
            return
        steps = self._growth_tracker.item() + 1
        if steps == self._growth_interval:
            grown = self._scale * self._growth_factor
            # An infinite factor would make all that follows infinite.
            if grown.isfinite().item():
                self._scale.copy_(grown)
            steps = 0
        self._growth_tracker.fill_(steps)

    def _check_started(self, name: str) -> None:
        if self._scale is None:
            raise AssertedError(
                f"GradScaler.{name}() is called, but no loss was scaled: call "
                "scale(loss).backward() first"
            )

    def get_scale(self) -> float:
        """Return the factor; 1 if it is not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """Return what the factor grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the factor grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return what the factor falls by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the factor falls by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return after how many steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps the factor grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether it does anything."""
        return self._enabled

    # -- saving -------------------------------------------------------------------

    def _growth_steps(self) -> int:
        if self._growth_tracker is None:
            return self._init_growth_tracker
        return int(self._growth_tracker.item())

    def state_dict(self) -> dict[str, Any]:
        """Return the factor and how it changes; empty if it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_steps(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` returned.

        Raises
        ------
        StateError
            If it is empty.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise StateError(
                "the state is empty: it was saved from a GradScaler that was disabled"
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale = tensor(self._init_scale, dtype=float32)
            self._growth_tracker = tensor(self._init_growth_tracker, dtype=int32)


def _is_usable(device: str) -> bool:
    """Return whether a kind of device can be used; warn if not."""
    try:
        backend_of(device)
    except DeviceError:
        warn(f"GradScaler is enabled, but {device!r} is not available: it is disabled")
        return False
    return True
