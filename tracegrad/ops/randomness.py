"""Random draws: PyTorch's CPU streams.

A draw takes a generator. In a graph the generator's state is a value: the node has
the next state as its last result.
"""

from __future__ import annotations

from typing import Any

from tracegrad import random_streams
from tracegrad.device import Device
from tracegrad.dispatch.generator import Generator, default_generator
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, get_default_dtype
from tracegrad.ops._families import primitive
from tracegrad.ops.creation import shape_of
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec


def _uniform_kernel(xp: Any, engine: Any, shape: Shape, dtype: DType) -> Any:
    return random_streams.uniform(engine, shape, dtype.numpy)


@primitive(
    "random",
    name="rand",
    abstract=lambda generator, shape, dtype: TensorSpec(dtype, shape),
    kernel=_uniform_kernel,
    is_random=True,
    public=False,
    method=False,
)
def uniform(generator: Generator, shape: Shape, dtype: DType) -> Tensor:
    """Uniform draws from [0, 1)."""


@public_function(method=False)
def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of uniform draws from [0, 1)."""
    drawn: Tensor = uniform(
        generator or default_generator, shape_of(size), dtype or get_default_dtype()
    )
    return drawn.requires_grad_() if requires_grad else drawn


def manual_seed(seed: int) -> Generator:
    """Restart the default generator's stream from `seed` and return it."""
    return default_generator.manual_seed(seed)


public_function(method=False)(manual_seed)
