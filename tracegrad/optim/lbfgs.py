"""LBFGS: a quasi-Newton method of the whole vector of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad import enable_grad, no_grad
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, ArgumentTypeError, ArgumentValueError
from tracegrad.ops.creation import zeros_like
from tracegrad.ops.joining import cat
from tracegrad.optim.line_search import Point, strong_wolfe
from tracegrad.optim.optimizer import Optimizer, check_at_least

# A smaller curvature along a step says too little to be kept.
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """Steps by an inverse Hessian that the last gradients tell, in one closure call.

    Parameters
    ----------
    params : iterable of Tensor
        One group.
    lr : float or Tensor
        The step size; where the line search begins.
    max_iter : int
        How many iterations one `step` makes.
    max_eval : int, optional
        How often one `step` calls the closure; 5/4 of `max_iter` if not given.
    tolerance_grad : float
        The largest gradient at which a step is done.
    tolerance_change : float
        The smallest change of a parameter, or of the loss, that is progress.
    history_size : int
        How many gradients are kept.
    line_search_fn : str, optional
        ``"strong_wolfe"``; without it, each iteration makes one step of size `lr`.

    Raises
    ------
    ArgumentError
        If there are several groups, or `lr` is negative.

    Notes
    -----
    It looks at numbers to decide how to go on: a captured step runs eagerly.

    Source: Nocedal, "Updating Quasi-Newton Matrices with Limited Storage" (1980);
    Nocedal, Wright, "Numerical Optimization" (2006), algorithms 7.4 and 7.5.
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_at_least("LBFGS", 0.0, lr=lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ArgumentError("LBFGS has one group of parameters, with one setting")
        self._params: list[Any] = self.param_groups[0]["params"]

    def _gather_flat_grad(self) -> Any:
        parts = []
        for parameter in self._params:
            gradient = parameter.grad
            if gradient is None:
                gradient = zeros_like(parameter)
            parts.append(gradient.reshape(-1))
        return cat(parts, 0)

    def _add_grad(self, step_size: float, direction: Any) -> None:
        offset = 0
        for parameter in self._params:
            count = parameter.numel()
            part = direction[offset : offset + count].reshape(parameter.shape)
            parameter.add_(part, alpha=step_size)
            offset += count

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make up to `max_iter` iterations.

        Parameters
        ----------
        closure : callable
            Forgets the gradients, computes them anew and returns the loss.

        Returns
        -------
        Tensor
            The loss before the step.

        Raises
        ------
        ArgumentTypeError
            If there is no closure.
        ArgumentValueError
            If `line_search_fn` is not known.
        """
        if closure is None:
            raise ArgumentTypeError("LBFGS.step() needs a closure that gives the loss")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise ArgumentValueError("LBFGS: line_search_fn can only be 'strong_wolfe'")
        closure = self._before_step(closure)
        with no_grad():
            loss = _Run(self, closure, group).run()
        self._after_step(closure)
        return loss


class _Run:
    """One call of `step`."""

    def __init__(
        self, optimizer: LBFGS, closure: Callable[[], Any], group: dict[str, Any]
    ) -> None:
        self._optimizer = optimizer
        self._closure = closure
        self._group = group
        self._state = optimizer.state[optimizer._params[0]]
        self._state.setdefault("func_evals", 0)
        self._state.setdefault("n_iter", 0)
        self._evaluations = 0

    def _evaluate(self) -> Point:
        with enable_grad():
            loss = self._closure()
        self._first_loss = getattr(self, "_first_loss", loss)
        self._evaluations += 1
        self._state["func_evals"] += 1
        value = loss.detach() if isinstance(loss, Tensor) else loss
        return Point(float(value), self._optimizer._gather_flat_grad())

    def run(self) -> Any:
        here = self._evaluate()
        if self._is_flat(here.gradient):
            return self._first_loss
        state, group = self._state, self._group
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            self._aim(here.gradient)
            before = here
            state["prev_flat_grad"] = here.gradient.clone()
            state["prev_loss"] = here.loss
            slope = here.gradient.dot(state["d"]).item()
            self._set_first_size(here.gradient)
            if slope > -group["tolerance_change"]:
                break
            here = self._move(here, slope, iteration == group["max_iter"])
            if iteration == group["max_iter"] or self._is_over(before, here):
                break
        return self._first_loss

    def _set_first_size(self, gradient: Any) -> None:
        lr = float(self._group["lr"])
        if self._state["n_iter"] == 1:
            lr *= min(1.0, 1.0 / gradient.abs().sum().item())
        self._state["t"] = lr

    def _is_flat(self, gradient: Any) -> bool:
        return bool(gradient.abs().max().item() <= self._group["tolerance_grad"])

    def _is_over(self, before: Point, here: Point) -> bool:
        state, group = self._state, self._group
        if self._evaluations >= group["max_eval"] or self._is_flat(here.gradient):
            return True
        change = (state["d"] * state["t"]).abs().max().item()
        least = group["tolerance_change"]
        return bool(change <= least or abs(here.loss - before.loss) < least)

    def _aim(self, gradient: Any) -> None:
        """Set the direction of the next step."""
        state = self._state
        if state["n_iter"] == 1:
            state["d"] = gradient.neg()
            state["old_dirs"], state["old_stps"], state["ro"] = [], [], []
            state["H_diag"] = 1
            return
        self._remember(gradient)
        changes, steps, scales = state["old_dirs"], state["old_stps"], state["ro"]
        direction = gradient.neg()
        weights: list[Any] = [None] * len(changes)
        for i in reversed(range(len(changes))):
            weights[i] = steps[i].dot(direction) * scales[i]
            direction = direction - changes[i] * weights[i]
        direction = direction * state["H_diag"]
        for i in range(len(changes)):
            back = changes[i].dot(direction) * scales[i]
            direction = direction + steps[i] * (weights[i] - back)
        state["d"] = direction
        state["al"] = weights + [None] * (self._group["history_size"] - len(weights))

    def _remember(self, gradient: Any) -> None:
        """Keep what the last step tells of the Hessian."""
        state = self._state
        change = gradient - state["prev_flat_grad"]
        step = state["d"] * state["t"]
        curvature = change.dot(step)
        if not curvature.item() > _LEAST_CURVATURE:
            return
        if len(state["old_dirs"]) == self._group["history_size"]:
            for name in ("old_dirs", "old_stps", "ro"):
                state[name].pop(0)
        state["old_dirs"].append(change)
        state["old_stps"].append(step)
        state["ro"].append(1.0 / curvature)
        state["H_diag"] = curvature / change.dot(change)

    def _move(self, here: Point, slope: float, is_last: bool) -> Point:
        state = self._state
        if self._group["line_search_fn"] is not None:
            return self._search(here, slope)
        self._optimizer._add_grad(state["t"], state["d"])
        # Behind the last iteration nobody asks for the gradient.
        return here if is_last else self._evaluate()

    def _search(self, here: Point, slope: float) -> Point:
        state = self._state
        start = [parameter.clone() for parameter in self._optimizer._params]

        def at(size: float) -> Point:
            self._optimizer._add_grad(size, state["d"])
            found = self._evaluate()
            for parameter, value in zip(self._optimizer._params, start, strict=True):
                parameter.copy_(value)
            return found

        left = self._group["max_eval"] - self._evaluations
        found, state["t"] = strong_wolfe(at, state["t"], state["d"], here, slope, left)
        self._optimizer._add_grad(state["t"], state["d"])
        return found
