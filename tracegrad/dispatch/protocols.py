"""What lower floors know of higher things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from tracegrad.dispatch.operator import OpDef
from tracegrad.spec import Spec


class Recorder(Protocol):
    """What records the operators of a capture (floor 8 installs it)."""

    def record(
        self,
        operator: OpDef,
        operands: Sequence[Any],
        attributes: dict[str, Any],
        run: Callable[..., Any],
    ) -> Any:
        """Record one application, run it and return its result."""

    def write(self, target: Any, value: Any) -> None:
        """Note that `target`'s memory is about to hold `value`."""

    def read_grad(self, tensor: Any) -> Any:
        """Return ``tensor.grad``, noting that it was read."""

    def bind_grad(self, target: Any, value: Any) -> None:
        """Note that `target.grad` is `value` from now on."""

    def took(self, tensor: Any, value: Any) -> Any:
        """Note that a tensor became the Python value `value`; return a stand-in."""

    def reseed(self, generator: Any, seed: int) -> None:
        """Note that a generator's stream is about to restart from `seed`."""

    def unknown_state(self, generator: Any, how: str) -> None:
        """Note that a generator's state goes to or comes from Python."""

    def touches(self, tensor: Any, what: str, hook: bool = False) -> None:
        """Note that hooks, or the tape position, of a tensor are about to change."""

    def backward(self, edges: Sequence[Any], needed: set[Any] | None) -> None:
        """Note that cotangents are about to flow back from `edges`."""

    def fail(self, reason: str) -> None:
        """Note why what runs can't be recorded."""

    def vouched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` as one whose own code need not be recorded."""

    def created(self, tensor: Any, how: str) -> None:
        """Note a tensor that was made by other means than an operator."""


class Transform(Protocol):
    """A functional transform such as jvp or vmap (floor 10 installs it).

    Attributes
    ----------
    functional : bool
        Whether the eager tape must not be run inside.
    """

    functional: bool

    def bind(
        self, operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """Apply the operator under this transform."""

    def write(self, target: Any, value: Any) -> None:
        """Write `value` into `target`, through `tracegrad.dispatch.inplace.write`."""

    def call(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Apply a function whose derivative the user wrote (autograd.Function)."""


class Autocast(Protocol):
    """What chooses the dtypes that operators compute in (`tracegrad.amp` installs it).

    Attributes
    ----------
    key : hashable
        What it does: programs captured under it serve where an equal key is installed.
    """

    key: Any

    def bind(
        self, operator: OpDef, operands: Sequence[Any], attributes: dict[str, Any]
    ) -> Any:
        """Apply the operator on operands of the dtypes chosen."""


@runtime_checkable
class Stateful(Protocol):
    """Named state to guard and write back: modules, optimizers, generators."""

    def named_state(self) -> dict[str, Any]:
        """Return the state's parts by name."""


class SubGraph(Protocol):
    """A graph that an operator holds as an attribute."""

    @property
    def input_specs(self) -> tuple[Spec, ...]:
        """Specs of the inputs."""

    @property
    def output_specs(self) -> tuple[Spec, ...]:
        """Specs of the outputs."""

    def interpret(self, *inputs: Any) -> tuple[Any, ...]:
        """Run it through the dispatcher."""
