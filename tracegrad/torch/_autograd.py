"""Names of ``torch.autograd`` that are old."""

from __future__ import annotations

from typing import Any

import tracegrad as tg


class _VariableType(type(tg.Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, tg.Tensor)


class Variable(metaclass=_VariableType):
    """The old name of a tensor; calling it returns one that shares the data's memory.

    Parameters
    ----------
    data : Tensor
    requires_grad : bool
    """

    def __new__(  # type: ignore[misc]
        cls, data: tg.Tensor, requires_grad: bool = False, volatile: bool = False
    ) -> tg.Tensor:
        """Return the tensor."""
        alias = data.detach()
        return alias.requires_grad_() if requires_grad else alias
