"""What users draw random numbers with: new tensors, tensors filled in place, seeds."""

from __future__ import annotations

from typing import Any

from tracegrad.device import CPU, Device, resolved
from tracegrad.dispatch.generator import (
    Generator,
    default_for,
    default_generator,
    seed_all,
)
from tracegrad.dispatch.inplace import check_writable, write
from tracegrad.dispatch.operator import OpDef, public_function
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.dtypes import DType, get_default_dtype, int64
from tracegrad.errors import ArgumentTypeError, DeviceError, DrawError
from tracegrad.ops.arithmetic import add, mul
from tracegrad.ops.creation import check_sizes, filled, shape_of
from tracegrad.ops.randomness import (
    any_integers,
    bernoulli_draw,
    bernoulli_each,
    exponential,
    gaussian,
    integers,
    permutation,
    uniform,
)
from tracegrad.ops.views import expand, permute
from tracegrad.random_streams import memory_order
from tracegrad.sizes import Shape, broadcast_shapes

Place = Device | str | None

# -- new tensors --------------------------------------------------------------------


def _new(
    operator: OpDef,
    shape: Shape,
    dtype: DType,
    place: Place,
    generator: Generator | None,
    requires_grad: bool = False,
    **parameters: Any,
) -> Tensor:
    check_sizes(operator.name, shape)
    target = _where(place)
    if target.type == "meta":
        drawn: Tensor = filled(shape, 0, dtype, target)
    else:
        drawn = operator(_source(generator, target), shape, dtype, **parameters)
        drawn = _placed(drawn, target)
    return drawn.requires_grad_() if requires_grad else drawn


def _where(place: Place) -> Device:
    """Return where a new tensor is to be drawn: on the CPU, if nothing is said."""
    return CPU if place is None else resolved(place)


def _placed(drawn: Tensor, target: Device) -> Tensor:
    """Return draws on the device that asked for them, which may have no generator."""
    return drawn if drawn.device == target else drawn.to(target)  # type: ignore[attr-defined, no-any-return]


def _source(generator: Generator | None, target: Device) -> Generator:
    """Return the generator to draw with on a device.

    Raises
    ------
    DeviceError
        If the one that is given draws elsewhere.
    """
    if generator is None:
        return default_for(target)
    if generator.device != target and "cuda" in (target.type, generator.device.type):
        raise DeviceError(
            f"expected a generator on {target}, the tensor's device, but the one that "
            f"was given is on {generator.device}"
        )
    return generator


@public_function(method=False, by_data=True)
def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of uniform draws from [0, 1).

    Parameters
    ----------
    *size : int
        The shape, as numbers or as one tuple.
    generator : Generator, optional
        The default one if not given.
    dtype : DType, optional
    device : Device or str, optional
    requires_grad : bool

    Examples
    --------
    >>> rand(2, generator=Generator().manual_seed(0)).tolist()
    [0.49625658988952637, 0.7682217955589294]
    """
    dtype = dtype or get_default_dtype()
    return _new(uniform, shape_of(size), dtype, device, generator, requires_grad)


@public_function(method=False, by_data=True)
def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of draws from the standard normal distribution; see `rand`."""
    dtype = dtype or get_default_dtype()
    return _new(gaussian, shape_of(size), dtype, device, generator, requires_grad)


@public_function(method=False, by_data=True)
def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of integers drawn from [low, high).

    Parameters
    ----------
    low, high : int
        ``randint(high, size)`` draws from zero.
    size : tuple of int
    generator : Generator, optional
    dtype : DType, optional
        int64 if not given.
    device : Device or str, optional
    requires_grad : bool

    Raises
    ------
    DrawError
        If the range is empty, or the dtype does not hold it.
    """
    if size is None and isinstance(high, tuple | list):
        high, size = None, high
    if size is None:
        raise ArgumentTypeError("randint() misses the argument 'size'")
    start, stop = (0, low) if high is None else (low, high)
    drawn = (shape_of(tuple(size)), dtype or int64, device, generator, requires_grad)
    return _new(integers, *drawn, low=int(start), high=int(stop))


@public_function(method=False, by_data=True)
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of the numbers below `n` in random order, in int64.

    Raises
    ------
    DrawError
        If `n` is negative.
    """
    target = _where(device)
    if target.type == "meta":
        return filled((n,), 0, dtype or int64, target)  # type: ignore[no-any-return]
    drawn: Tensor = permutation(_source(generator, target), n, dtype or int64)
    drawn = _placed(drawn, target)
    return drawn.requires_grad_() if requires_grad else drawn


@public_function(method=False, by_data=True)
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of normal draws with given means and standard deviations.

    Parameters
    ----------
    mean, std : Tensor or float
        Per element, or for all.
    size : tuple of int, optional
        The shape, if `mean` and `std` are numbers.
    generator : Generator, optional
    dtype : DType, optional
    device : Device or str, optional
    requires_grad : bool

    Raises
    ------
    DrawError
        If a number `std` is negative.
    """
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    if not tensors:
        if size is None:
            raise ArgumentTypeError("normal() of two numbers needs a size")
        dtype = dtype or get_default_dtype()
        drawn = (shape_of(tuple(size)), dtype, device, generator, requires_grad)
        return _new(gaussian, *drawn, mean=float(mean), std=float(std))
    if not isinstance(std, Tensor) and std < 0:
        raise DrawError(f"normal: the standard deviation can't be {std}")
    shape = broadcast_shapes(*[x._array.shape for x in tensors])
    source = _source(generator, tensors[0].device)
    standard = gaussian(source, shape, tensors[0].dtype)
    # As in PyTorch, draws do not move with what they are drawn around.
    mean, std = (x.detach() if isinstance(x, Tensor) else x for x in (mean, std))
    return add(mul(standard, std), mean)  # type: ignore[no-any-return]


@public_function(method=False, by_data=True)
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Return zeros and ones in the shape and dtype of `input`.

    Parameters
    ----------
    input : Tensor
        The probability of a one per element, if `p` is not given.
    p : float, optional
        The probability of a one.
    generator : Generator, optional

    Raises
    ------
    DrawError
        If a probability is not from 0 to 1.
    """
    generator = _source(generator, input.device)
    if p is None:
        return bernoulli_each(generator, input.detach(), input.dtype)  # type: ignore[attr-defined, no-any-return]
    return in_memory_order(input, bernoulli_draw, generator, input.dtype, p=float(p))


def _bernoulli_method(
    self: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Return zeros and ones; see `bernoulli`."""
    return bernoulli(self, p, generator=generator)  # type: ignore[no-any-return]


Tensor.bernoulli = _bernoulli_method  # type: ignore[attr-defined]

# -- like another tensor ------------------------------------------------------------


def _order_of(strides: Any) -> tuple[int, ...]:
    return memory_order(strides)


def in_memory_order(
    like: Tensor,
    operator: OpDef,
    generator: Generator | None,
    dtype: DType,
    **parameters: Any,
) -> Tensor:
    """Draw in the shape of `like`, in the order of its memory, as PyTorch fills it."""
    generator = generator or default_for(like.device)
    shape = like._array.shape
    spec = spec_of(like)
    if like.is_meta:
        return filled(shape, 0, dtype, like.device)  # type: ignore[no-any-return]
    if operator is gaussian:
        parameters["contiguous"] = spec.is_contiguous()
    if spec.is_contiguous():
        drawn = operator(generator, shape, dtype, **parameters)
        return _placed(drawn, like.device)
    order = _order_of(spec.strides)
    drawn = operator(generator, tuple(shape[d] for d in order), dtype, **parameters)
    turned = permute(drawn, *(order.index(d) for d in range(len(shape))))
    return _placed(turned, like.device)


def _like(
    operator: OpDef,
    input: Tensor,
    dtype: DType | None,
    place: Place,
    generator: Generator | None,
    requires_grad: bool,
    **parameters: Any,
) -> Tensor:
    target = input.device if place is None else resolved(place)
    wanted = dtype or input.dtype
    if target.type == "meta":
        drawn: Tensor = filled(input._array.shape, 0, wanted, target)
    elif spec_of(input).is_contiguous() or not _dense(input):
        shape = input._array.shape
        drawn = operator(_source(generator, target), shape, wanted, **parameters)
        drawn = _placed(drawn, target)
    else:
        source = _source(generator, target)
        drawn = in_memory_order(input, operator, source, wanted, **parameters)
    return drawn.requires_grad_() if requires_grad else drawn


def _dense(x: Tensor) -> bool:
    """Return whether the elements fill their memory without gaps or overlaps."""
    spec = spec_of(x)
    order = _order_of(spec.strides)
    turned = [(spec.shape[d], spec.strides[d]) for d in order]
    expected: Any = 1
    for size, step in reversed(turned):
        if size != 1 and step != expected:
            return False
        expected = expected * size
    return True


@public_function(method=False, by_data=True)
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of uniform draws from [0, 1) in the shape of `input`."""
    return _like(uniform, input, dtype, device, generator, requires_grad)


@public_function(method=False, by_data=True)
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of standard normal draws in the shape of `input`."""
    return _like(gaussian, input, dtype, device, generator, requires_grad)


@public_function(method=False, by_data=True)
def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of integers from [low, high) in the shape and dtype of `input`."""
    start, stop = (0, low) if high is None else (low, high)
    drawn = (input, dtype, device, generator, requires_grad)
    return _like(integers, *drawn, low=int(start), high=int(stop))


# -- in place -----------------------------------------------------------------------


def _fill(
    self: Tensor,
    name: str,
    operator: OpDef,
    generator: Generator | None,
    **parameters: Any,
) -> Tensor:
    check_writable(self, name)
    if self.is_meta:
        return self
    generator = _source(generator, self.device)
    value = in_memory_order(self, operator, generator, self.dtype, **parameters)
    write(self, value)
    return self


def _uniform_(
    self: Tensor,
    low: float = 0.0,
    to: float = 1.0,
    *,
    generator: Generator | None = None,
    **keywords: float,
) -> Tensor:
    """Fill with uniform draws from [from, to); `from` is a keyword of Python's too."""
    low = keywords.pop("from", low)
    if keywords:
        raise ArgumentTypeError(f"uniform_() has no argument {next(iter(keywords))!r}")
    return _fill(self, "uniform_", uniform, generator, low=float(low), high=float(to))


def _normal_(
    self: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal draws."""
    return _fill(self, "normal_", gaussian, generator, mean=float(mean), std=float(std))


def _exponential_(
    self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with exponential draws of rate `lambd`."""
    return _fill(self, "exponential_", exponential, generator, rate=float(lambd))


def _bernoulli_(
    self: Tensor, p: Any = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Fill with ones of probability `p`, a number or a tensor, else zeros."""
    if not isinstance(p, Tensor):
        return _fill(self, "bernoulli_", bernoulli_draw, generator, p=float(p))
    check_writable(self, "bernoulli_")
    spread = expand(p.detach(), *self._array.shape)  # type: ignore[attr-defined]
    write(self, bernoulli_each(_source(generator, self.device), spread, self.dtype))
    return self


def _random_(
    self: Tensor,
    low: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with integers from [0, low), [low, to), or all from zero on."""
    if low is None:
        return _fill(self, "random_", any_integers, generator)
    start, stop = (0, low) if to is None else (low, to)
    return _fill(self, "random_", integers, generator, low=int(start), high=int(stop))


for _method in (_uniform_, _normal_, _exponential_, _bernoulli_, _random_):
    setattr(Tensor, _method.__name__[1:], _method)

# -- seeds and states ---------------------------------------------------------------


@public_function(method=False, by_data=True)
def manual_seed(seed: int) -> Generator:
    """Restart the default generators' streams from `seed`; return the CPU's.

    Parameters
    ----------
    seed : int
        From ``-2**63`` to ``2**64 - 1``.

    Raises
    ------
    DrawError
        If `seed` is outside that range.
    """
    try:
        seed_all(int(seed))
    except ValueError as error:
        raise DrawError(str(error)) from None
    return default_generator


@public_function(method=False, by_data=True)
def seed() -> int:
    """Restart the default generator from an unpredictable seed and return that."""
    return default_generator.seed()


@public_function(method=False, by_data=True)
def initial_seed() -> int:
    """Return the seed that the default generator was started from."""
    return default_generator.initial_seed()


@public_function(method=False, by_data=True)
def get_rng_state() -> Tensor:
    """Return the default generator's state as a tensor of bytes."""
    state: Tensor = default_generator.get_state()
    return state


@public_function(method=False, by_data=True)
def set_rng_state(new_state: Any) -> None:
    """Continue the default generator from a state of `get_rng_state`, or PyTorch's.

    Raises
    ------
    DrawError
        If it is no such state.
    """
    default_generator.set_state(new_state)
