"""Results with names: what PyTorch calls ``torch.return_types``."""

from __future__ import annotations

from typing import NamedTuple

from tracegrad.dispatch.tensor import Tensor


class ValuesIndices(NamedTuple):
    """Elements and where they were."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """The smallest and the largest element."""

    min: Tensor
    max: Tensor
