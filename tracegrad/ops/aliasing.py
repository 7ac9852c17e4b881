"""Another Tensor over the same memory, no view: functional transforms mark it."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.ops._families import primitive


def _same(xp: Any, input: Any) -> Any:
    return input[...]


@primitive(
    "view",
    abstract=lambda input: input,
    kernel=_same,
    public=False,
    method=False,
    may_alias=True,
    alias=True,
    numpy="{input}",
    linear_in=("input",),
    examples=lambda rng: [((rng.standard_normal((2, 3)),), {})],
)
def marked(input: Tensor) -> Tensor:
    """The same memory, as a tensor that a functional transform marks as its own."""


marked.vjp(input=lambda ct: ct)
