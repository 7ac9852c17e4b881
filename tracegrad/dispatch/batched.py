"""A tensor with a hidden batch dimension: what a function sees inside `vmap`.

It shows shape, strides and dtype of one example; the data of all is in another
tensor, batch dimension first. Code that asks only for what a spec knows (rules,
composites, canonical forms) does not see the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, final

from tracegrad.device import Device
from tracegrad.dispatch.tensor import Tensor, spec_of, version_of, wrap
from tracegrad.dtypes import DType
from tracegrad.errors import ScalarError, TransformError
from tracegrad.sizes import Dimension, Shape, numel
from tracegrad.spec import TensorSpec


@final
@dataclass(frozen=True, slots=True)
class ExampleArray:
    """What a batched tensor has in place of an array: one example's form.

    Attributes
    ----------
    spec : TensorSpec
    """

    spec: TensorSpec

    @property
    def shape(self) -> Shape:
        """The sizes without the batch dimension."""
        return self.spec.shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions without the batch dimension."""
        return len(self.spec.shape)

    @property
    def size(self) -> Dimension:
        """The number of elements of one example."""
        return numel(self.spec.shape)


@final
class BatchedTensor(Tensor):
    """One example of a batch, standing for all of them.

    Attributes
    ----------
    value : Tensor
        All examples, the batch dimension first.
    level : object
        The transform that it belongs to.
    """

    __slots__ = ("level", "value")

    value: Tensor
    level: Any

    @property
    def device(self) -> Device:
        """Where the data lives."""
        if not self.level.entered:
            raise TransformError(
                "a tensor from inside vmap is used outside of it; return it from the "
                "function instead"
            )
        return self.value.device

    @property
    def is_meta(self) -> bool:
        """Whether there is a spec only."""
        return self.value.is_meta

    def item(self) -> NoReturn:
        """Refuse: there is a value for each example."""
        raise _no_value("item()")

    def tolist(self) -> NoReturn:
        """Refuse: there is a value for each example."""
        raise _no_value("tolist()")

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Refuse: there is an array for each example."""
        raise _no_value("numpy()")

    def __bool__(self) -> NoReturn:
        raise _no_value("the truth of a tensor (if, while, and, or, not)")

    def __int__(self) -> NoReturn:
        raise _no_value("int()")

    def __float__(self) -> NoReturn:
        raise _no_value("float()")

    def __index__(self) -> NoReturn:
        raise _no_value("a tensor as a Python index")

    def __repr__(self) -> str:
        return f"BatchedTensor(level={self.level.depth}, value={self.value!r})"


def _no_value(what: str) -> ScalarError:
    return ScalarError(
        f"{what} is not possible inside vmap: the value differs from example to "
        "example; "
        "use operators such as where() instead"
    )


def batched(value: Tensor, level: Any) -> BatchedTensor:
    """Return the tensor that shows one example of `value`."""
    spec = spec_of(value)
    example = TensorSpec(spec.dtype, spec.shape[1:], spec.strides[1:], spec.device)
    result = wrap(ExampleArray(example), BatchedTensor)
    assert isinstance(result, BatchedTensor)
    result.value = value
    result.level = level
    result._counter = version_of(value)
    return result
