"""Draws from distributions with a tensor of parameters, and places by weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracegrad.dispatch.generator import Generator, default_for
from tracegrad.dispatch.inplace import check_writable, write
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, int64
from tracegrad.errors import (
    ArgumentValueError,
    DrawError,
    DTypeError,
    NotSupportedError,
    ShapeError,
)
from tracegrad.ops._families import primitive
from tracegrad.ops.drawing import in_memory_order
from tracegrad.ops.pathwise import beta_slope, gamma_slope
from tracegrad.ops.randomness import draw, exponential
from tracegrad.ops.reductions import sum as sum_
from tracegrad.random_streams import MT19937, inversion, rejection
from tracegrad.sizes import Shape, broadcast_shapes, shape_text
from tracegrad.spec import TensorSpec


def _counted(name: str, engine: Any) -> None:
    if engine.__class__ is not MT19937:
        raise NotSupportedError(
            f"{name} draws on the CPU only: draw there, and copy with to(device)"
        )


# -- one number for each parameter ---------------------------------------------------


def _like_first(name: str) -> Callable[..., TensorSpec]:
    def abstract(generator: Any, first: TensorSpec, *rest: TensorSpec) -> TensorSpec:
        if any(p.dtype.kind != "float" for p in (first, *rest)):
            raise DTypeError(f"{name} takes floating parameters, not {first.dtype}")
        shape = broadcast_shapes(first.shape, *(p.shape for p in rest))
        return TensorSpec(first.dtype, shape, (), first.device)

    return abstract


def _check_parameters(name: str, engine: Any, *parameters: Any) -> None:
    _counted(name, engine)
    if any((p < 0).any() for p in parameters):
        raise DrawError(f"{name}: parameters can't be negative")


def _gamma_kernel(xp: Any, engine: Any, concentration: Any) -> Any:
    _check_parameters("gamma", engine, concentration)
    found = rejection.gamma(engine, concentration)
    # 0 is no gamma variate: logarithms are taken of it.
    tiny = np.finfo(concentration.dtype).tiny
    return np.maximum(found, tiny).astype(concentration.dtype)


@draw(abstract=_like_first("gamma"), kernel=_gamma_kernel)
def gamma_draw(generator: Generator, concentration: Tensor) -> Tensor:
    """Draws from gamma distributions of scale 1."""


def _poisson_kernel(xp: Any, engine: Any, rate: Any) -> Any:
    _check_parameters("poisson", engine, rate)
    return rejection.poisson(engine, rate).astype(rate.dtype)


@draw(abstract=_like_first("poisson"), kernel=_poisson_kernel)
def poisson_draw(generator: Generator, rate: Tensor) -> Tensor:
    """Draws from Poisson distributions."""


def _binomial_kernel(xp: Any, engine: Any, count: Any, probability: Any) -> Any:
    _check_parameters("binomial", engine, count, probability)
    return rejection.binomial(engine, count, probability).astype(count.dtype)


@draw(abstract=_like_first("binomial"), kernel=_binomial_kernel)
def binomial_draw(generator: Generator, count: Tensor, probability: Tensor) -> Tensor:
    """Draws from binomial distributions."""


def _dirichlet_kernel(xp: Any, engine: Any, concentration: Any) -> Any:
    _check_parameters("dirichlet", engine, concentration)
    found = rejection.gamma(engine, concentration)
    found = found / found.sum(-1, keepdims=True)
    tiny = np.finfo(concentration.dtype).tiny
    return np.maximum(found, tiny).astype(concentration.dtype)


@draw(abstract=_like_first("dirichlet"), kernel=_dirichlet_kernel)
def dirichlet_draw(generator: Generator, concentration: Tensor) -> Tensor:
    """Draws from Dirichlet distributions, along the last dimension."""


gamma_draw.vjp(
    concentration=lambda ct, concentration, out: ct * gamma_slope(concentration, out)
)


def _dirichlet_vjp(ct: Tensor, concentration: Tensor, out: Tensor) -> Tensor:
    total = sum_(concentration, -1, keepdim=True)
    slope = beta_slope(out, concentration, (total - concentration).expand(out.shape))  # type: ignore[attr-defined]
    return slope / (1 - out) * (ct - sum_(out * ct, -1, keepdim=True))  # type: ignore[no-any-return]


dirichlet_draw.vjp(concentration=_dirichlet_vjp)
for _operator in (gamma_draw, poisson_draw, binomial_draw, dirichlet_draw):
    _operator.may_raise = True


@public_function(method=False, by_data=True)
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Return a Poisson draw for each rate.

    Parameters
    ----------
    input : Tensor
        Rates, floating and not negative.
    generator : Generator, optional

    Raises
    ------
    DrawError
        If a rate is negative.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.poisson(tg.zeros(3))
    tensor([0., 0., 0.])
    """
    return poisson_draw(generator or default_for(input.device), input.detach())  # type: ignore[attr-defined, no-any-return]


@public_function(method=False, by_data=True)
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Return how many of `count` trials succeed, each with probability `prob`.

    Parameters
    ----------
    count, prob : Tensor
        Floating; they broadcast.
    generator : Generator, optional

    Raises
    ------
    DrawError
        If a parameter is negative.
    """
    source = generator or default_for(count.device)
    return binomial_draw(source, count.detach(), prob.detach())  # type: ignore[attr-defined, no-any-return]


# -- places by weight ----------------------------------------------------------------


def _choices_abstract(generator: Any, weights: TensorSpec, count: int) -> TensorSpec:
    return TensorSpec(int64, (*weights.shape[:-1], count), (), weights.device)


def _choices_kernel(xp: Any, engine: Any, weights: Any, count: int) -> Any:
    _counted("multinomial", engine)
    rows = weights.reshape(-1, weights.shape[-1])
    found = inversion.choices(engine, rows, count)
    return found.reshape(*weights.shape[:-1], count)


@draw(abstract=_choices_abstract, kernel=_choices_kernel)
def choices(generator: Generator, weights: Tensor, count: int) -> Tensor:
    """Places drawn by weight along the last dimension, with replacement."""


def _weights_kernel(xp: Any, weights: Any, count: int, replacement: bool) -> Any:
    if not xp.isfinite(weights).all() or (weights < 0).any():
        raise DrawError(
            "multinomial: the probability tensor contains either inf, nan or an "
            "element < 0"
        )
    positive = (weights > 0).sum(-1)
    if (positive == 0).any():
        raise DrawError("multinomial: a row's probabilities sum to 0")
    if not replacement and count > 1 and (positive < count).any():
        raise DrawError(
            f"multinomial: {count} samples without replacement of a row that has "
            f"{int(positive.min())} positive weights"
        )
    return weights.copy()


@primitive(
    "library",
    abstract=lambda weights, count, replacement: TensorSpec(
        weights.dtype, weights.shape, (), weights.device
    ),
    kernel=_weights_kernel,
    examples=lambda rng: [((rng.uniform(0.1, 1.0, (2, 3)), 2, False), {})],
    may_raise=True,
    public=False,
    method=False,
)
def checked_weights(weights: Tensor, count: int, replacement: bool) -> Tensor:
    """The weights, if they are such that so many places can be drawn."""


@public_function(by_data=True)
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return places drawn by weight, of each row.

    Parameters
    ----------
    input : Tensor, shape (categories,) or (rows, categories)
        Weights, not negative; they need not sum to 1.
    num_samples : int
        Draws of each row.
    replacement : bool
        Whether a place may be drawn again.
    generator : Generator, optional

    Returns
    -------
    Tensor, shape (num_samples,) or (rows, num_samples), int64

    Raises
    ------
    ShapeError, ArgumentValueError
        If the weights are no vector or matrix, or too few for the samples.
    DTypeError
        If they are not floating.
    DrawError
        If a weight is negative or not finite, or all of a row are 0.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.multinomial(tg.tensor([0.0, 1.0, 0.0]), 4, replacement=True)
    tensor([1, 1, 1, 1])
    """
    _check_call(input, num_samples, replacement)
    weights = input.detach()  # type: ignore[attr-defined]
    source = generator or default_for(input.device)
    if weights.is_meta:
        return weights.new_empty((*input.shape[:-1], num_samples), dtype=int64)  # type: ignore[no-any-return]
    weights = checked_weights(weights, num_samples, replacement)
    if replacement and num_samples > 1:
        return choices(source, weights, num_samples)  # type: ignore[no-any-return]
    # The largest of weight / exponential: each wins with the odds of its weight.
    waiting = in_memory_order(weights, exponential, source, input.dtype, rate=1.0)
    odds = weights / waiting
    if num_samples == 1:
        return odds.argmax(-1, keepdim=True)  # type: ignore[no-any-return]
    return odds.topk(num_samples, -1).indices  # type: ignore[no-any-return]


def _check_call(input: Tensor, num_samples: int, replacement: bool) -> None:
    if input.ndim not in (1, 2):
        raise ShapeError(
            "multinomial: prob_dist must be 1 or 2 dim, not of shape "
            f"{shape_text(input.shape)}"
        )
    if input.dtype.kind != "float":
        raise DTypeError(
            f"multinomial only supports floating-point dtypes for input, got: "
            f"{input.dtype}"
        )
    if num_samples <= 0:
        raise ArgumentValueError(
            f"multinomial: cannot sample n_sample <= 0 samples ({num_samples})"
        )
    if not replacement and num_samples > input.shape[-1]:
        raise ArgumentValueError(
            f"multinomial: cannot sample n_sample > prob_dist.size(-1) samples without "
            f"replacement ({num_samples} > {input.shape[-1]})"
        )


# -- in place ------------------------------------------------------------------------


def _cauchy_kernel(
    xp: Any, engine: Any, shape: Any, dtype: DType, median: float, sigma: float
) -> Any:
    _counted("cauchy_", engine)
    return inversion.cauchy(engine, shape, dtype.numpy, median, sigma)


def _log_normal_kernel(
    xp: Any, engine: Any, shape: Any, dtype: DType, mean: float, std: float
) -> Any:
    _counted("log_normal_", engine)
    return inversion.log_normal(engine, shape, dtype.numpy, mean, std)


def _geometric_kernel(xp: Any, engine: Any, shape: Any, dtype: DType, p: float) -> Any:
    _counted("geometric_", engine)
    return inversion.geometric(engine, shape, dtype.numpy, p)


def _real(generator: Any, shape: Shape, dtype: DType, **_: float) -> TensorSpec:
    if dtype.kind != "float":
        raise DTypeError(f"draws of a real number, not {dtype.name}")
    return TensorSpec(dtype, shape, ())


@draw(abstract=_real, kernel=_cauchy_kernel)
def cauchy_draw(
    generator: Generator,
    shape: Shape,
    dtype: DType,
    median: float = 0.0,
    sigma: float = 1.0,
) -> Tensor:
    """Draws from a Cauchy distribution."""


@draw(abstract=_real, kernel=_log_normal_kernel)
def log_normal_draw(
    generator: Generator,
    shape: Shape,
    dtype: DType,
    mean: float = 1.0,
    std: float = 2.0,
) -> Tensor:
    """Draws whose logarithm is normal."""


@draw(
    abstract=lambda generator, shape, dtype, p: TensorSpec(dtype, shape, ()),
    kernel=_geometric_kernel,
)
def geometric_draw(
    generator: Generator, shape: Shape, dtype: DType, p: float
) -> Tensor:
    """Numbers of trials to a first success."""


def _fill(
    self: Tensor, name: str, operator: Any, generator: Any, **parameters: float
) -> Tensor:
    check_writable(self, name)
    if self.is_meta:
        return self
    source = generator or default_for(self.device)
    write(self, in_memory_order(self, operator, source, self.dtype, **parameters))
    return self


def _cauchy_(
    self: Tensor,
    median: float = 0,
    sigma: float = 1,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with draws from a Cauchy distribution."""
    if not sigma > 0:
        raise DrawError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    parameters = {"median": float(median), "sigma": float(sigma)}
    return _fill(self, "cauchy_", cauchy_draw, generator, **parameters)


def _log_normal_(
    self: Tensor,
    mean: float = 1,
    std: float = 2,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with draws whose logarithm is normal."""
    if not std > 0:
        raise DrawError(f"log_normal_ expects std > 0.0, but found std={std}")
    parameters = {"mean": float(mean), "std": float(std)}
    return _fill(self, "log_normal_", log_normal_draw, generator, **parameters)


def _geometric_(
    self: Tensor, p: float, *, generator: Generator | None = None
) -> Tensor:
    """Fill with how many trials a first success takes."""
    if not 0 < p < 1:
        raise DrawError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _fill(self, "geometric_", geometric_draw, generator, p=float(p))


for _method in (_cauchy_, _log_normal_, _geometric_):
    setattr(Tensor, _method.__name__[1:], _method)
