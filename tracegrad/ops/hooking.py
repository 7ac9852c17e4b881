"""An identity whose derivative is a function: how module hooks get into backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._families import composite
from tracegrad.ops.view_writes import alias

# Receives the cotangents of all tensors at once, None where there is none, and
# returns those to go on with.
PullHook = Callable[[list[Tensor | None]], Sequence[Tensor | None]]


@composite(public=False, method=False)
def hooked(tensors: Sequence[Tensor], hook: PullHook) -> tuple[Tensor, ...]:
    """The tensors themselves, as views; backward hands their cotangents to `hook`."""
    return tuple(alias(tensor) for tensor in tensors)


def _hooked_vjp(cts: Any, hook: PullHook) -> Sequence[Tensor | None]:
    arrived = cts if isinstance(cts, list) else [cts]
    return hook(arrived)


hooked.vjp(tensors=_hooked_vjp)
