"""Random draws: PyTorch's CPU streams, and counted ones on other devices.

A draw takes a generator. In a graph the generator's state is a value: the node has
the next state as its last result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracegrad.device import CPU, Device
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.operator import OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bool_
from tracegrad.errors import DrawError, DTypeError, UnsupportedDTypeError
from tracegrad.ops._families import primitive
from tracegrad.random_streams import draws_of
from tracegrad.sizes import Shape
from tracegrad.spec import TensorSpec

# -- what all share -------------------------------------------------------------------


def draw(
    *, abstract: Callable[..., TensorSpec] | None = None, kernel: Callable[..., Any]
) -> Callable[[Callable[..., Any]], OpDef]:
    """Define a random operator (decorator).

    Parameters
    ----------
    abstract : callable, optional
        Checks the parameters and gives the spec; by default that of the attributes
        ``shape`` and ``dtype``, any floating dtype.
    kernel : callable
        ``kernel(xp, engine, …)``.
    """
    return primitive(
        "random",
        abstract=abstract or _floating_spec,
        kernel=kernel,
        is_random=True,
        public=False,
        method=False,
    )


def _device(generator: Any) -> Device:
    """Return where a generator, or a state in a graph, draws."""
    return getattr(generator, "device", CPU)


def _floating_spec(generator: Any, shape: Shape, dtype: DType, **_: Any) -> TensorSpec:
    if dtype.kind not in ("float", "complex"):
        raise DTypeError(
            f"draws from a continuous distribution are floating, not {dtype.name}; "
            "use randint for integers"
        )
    return TensorSpec(dtype, shape, (), _device(generator))


def _check_probability(name: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise DrawError(f"{name}: a probability is from 0 to 1, not {p}")


# -- continuous -----------------------------------------------------------------------


def _uniform_abstract(
    generator: Any, shape: Shape, dtype: DType, low: float, high: float
) -> TensorSpec:
    if not low <= high:
        raise DrawError(f"uniform: draws come from [{low}, {high}), which is empty")
    return _floating_spec(generator, shape, dtype)


@draw(
    abstract=_uniform_abstract,
    kernel=lambda xp, engine, shape, dtype, low, high: draws_of(engine).uniform(
        engine, shape, dtype.numpy, low, high
    ),
)
def uniform(
    generator: Generator,
    shape: Shape,
    dtype: DType,
    low: float = 0.0,
    high: float = 1.0,
) -> Tensor:
    """Uniform draws from [low, high)."""


def _normal_abstract(
    generator: Any,
    shape: Shape,
    dtype: DType,
    mean: float,
    std: float,
    contiguous: bool,
) -> TensorSpec:
    if not std >= 0.0:
        raise DrawError(f"normal: the standard deviation can't be {std}")
    return _floating_spec(generator, shape, dtype)


@draw(
    abstract=_normal_abstract,
    kernel=lambda xp, engine, shape, dtype, mean, std, contiguous: draws_of(
        engine
    ).normal(engine, shape, dtype.numpy, mean, std, contiguous=contiguous),
)
def gaussian(
    generator: Generator,
    shape: Shape,
    dtype: DType,
    mean: float = 0.0,
    std: float = 1.0,
    contiguous: bool = True,
) -> Tensor:
    """Normal draws; a target that is not contiguous has another stream."""


def _exponential_abstract(
    generator: Any, shape: Shape, dtype: DType, rate: float
) -> TensorSpec:
    if not rate > 0.0:
        raise DrawError(f"exponential: the rate must be positive, not {rate}")
    if dtype.kind != "float":
        raise DTypeError(f"exponential draws are real, not {dtype.name}")
    return TensorSpec(dtype, shape, (), _device(generator))


@draw(
    abstract=_exponential_abstract,
    kernel=lambda xp, engine, shape, dtype, rate: draws_of(engine).exponential(
        engine, shape, dtype.numpy, rate
    ),
)
def exponential(
    generator: Generator, shape: Shape, dtype: DType, rate: float = 1.0
) -> Tensor:
    """Exponential draws."""


# -- discrete -------------------------------------------------------------------------


def _bernoulli_abstract(
    generator: Any, shape: Shape, dtype: DType, p: float
) -> TensorSpec:
    _check_probability("bernoulli", p)
    return TensorSpec(dtype, shape, (), _device(generator))


@draw(
    abstract=_bernoulli_abstract,
    kernel=lambda xp, engine, shape, dtype, p: draws_of(engine).bernoulli(
        engine, shape, p, dtype.numpy
    ),
)
def bernoulli_draw(
    generator: Generator, shape: Shape, dtype: DType, p: float
) -> Tensor:
    """Ones with probability `p`, else zeros."""


def _each_abstract(generator: Any, p: TensorSpec, dtype: DType) -> TensorSpec:
    if p.dtype.kind != "float":
        raise DTypeError(f"bernoulli: probabilities are floating, not {p.dtype.name}")
    return TensorSpec(dtype, p.shape, (), p.device)


def _each_kernel(xp: Any, engine: Any, p: Any, dtype: DType) -> Any:
    try:
        return draws_of(engine).bernoulli_each(engine, p, dtype.numpy)
    except ValueError as error:
        raise DrawError(str(error)) from None


@draw(abstract=_each_abstract, kernel=_each_kernel)
def bernoulli_each(generator: Generator, p: Tensor, dtype: DType) -> Tensor:
    """Ones with a probability per element, else zeros."""


bernoulli_each.may_raise = True


def _integers_abstract(
    generator: Any, shape: Shape, dtype: DType, low: int, high: int | None
) -> TensorSpec:
    if high is not None and low >= high:
        raise DrawError(f"randint: draws come from [{low}, {high}), which is empty")
    if dtype.kind == "complex":
        raise DTypeError(f"randint draws real numbers, not {dtype.name}")
    return TensorSpec(dtype, shape, (), _device(generator))


def _integers_kernel(
    xp: Any, engine: Any, shape: Any, dtype: DType, low: int, high: int | None
) -> Any:
    try:
        return draws_of(engine).randint(engine, shape, low, high, dtype.numpy)
    except ValueError as error:
        raise DrawError(str(error)) from None


@draw(abstract=_integers_abstract, kernel=_integers_kernel)
def integers(
    generator: Generator, shape: Shape, dtype: DType, low: int, high: int | None
) -> Tensor:
    """Integer draws from [low, high); None is the end of the dtype's range."""


integers.may_raise = True


@draw(
    abstract=lambda generator, shape, dtype: TensorSpec(
        dtype, shape, (), _device(generator)
    ),
    kernel=lambda xp, engine, shape, dtype: draws_of(engine).random_integers(
        engine, shape, dtype.numpy
    ),
)
def any_integers(generator: Generator, shape: Shape, dtype: DType) -> Tensor:
    """Integer draws from zero to the largest integer of the dtype."""


def _permutation_abstract(generator: Any, n: int, dtype: DType) -> TensorSpec:
    if n < 0:
        raise DrawError(f"randperm: {n} numbers can't be permuted")
    if dtype is bool_ or dtype.kind == "complex":
        raise UnsupportedDTypeError(f"randperm is not defined for {dtype.name}")
    return TensorSpec(dtype, (n,), (), _device(generator))


@draw(
    abstract=_permutation_abstract,
    kernel=lambda xp, engine, n, dtype: draws_of(engine).randperm(
        engine, n, dtype.numpy
    ),
)
def permutation(generator: Generator, n: int, dtype: DType) -> Tensor:
    """The numbers below `n`, shuffled."""


def _reseed_kernel(xp: Any, engine: Any, seed: int) -> Any:
    engine.manual_seed(seed)
    return ()


@primitive(
    "random",
    abstract=lambda generator, seed: (),
    kernel=_reseed_kernel,
    is_random=True,
    public=False,
    method=False,
)
def reseed(generator: Generator, seed: int) -> tuple[()]:
    """The stream restarted from a seed: how graphs hold ``manual_seed``."""
