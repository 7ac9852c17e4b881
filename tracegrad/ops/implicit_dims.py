"""Softmax and its relatives with PyTorch's old choice of a dimension."""

from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType
from tracegrad.location import warn
from tracegrad.ops import normalizing


def softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DType | None = None,
) -> Tensor:
    """Return exponentials along a dimension, scaled to sum 1.

    Parameters
    ----------
    input : Tensor, shape (...), floating dtype
    dim : int
        Without it, the first or the second dimension is taken, with a warning.
    _stacklevel : int
        Accepted for PyTorch's sake: the warning names the line of the call.
    dtype : DType, optional
        What `input` is cast to first.

    Returns
    -------
    Tensor, shape (...)
    """
    return normalizing.softmax(input, _chosen("softmax", input, dim), dtype)  # type: ignore[no-any-return]


def log_softmax(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DType | None = None,
) -> Tensor:
    """Return the logarithm of the softmax; the parameters are those of `softmax`.

    Returns
    -------
    Tensor, shape (...)
    """
    return normalizing.log_softmax(input, _chosen("log_softmax", input, dim), dtype)  # type: ignore[no-any-return]


def softmin(
    input: Tensor,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: DType | None = None,
) -> Tensor:
    """Return the softmax of the negative elements, with parameters as `softmax`.

    Returns
    -------
    Tensor, shape (...)
    """
    return normalizing.softmin(input, _chosen("softmin", input, dim), dtype)  # type: ignore[no-any-return]


def _chosen(name: str, input: Tensor, dim: int | None) -> int:
    if dim is not None:
        return dim
    found = 0 if input.ndim in (0, 1, 3) else 1
    warn(
        f"{name}: which dimension is meant without dim= depends on how many there are, "
        f"and is deprecated; write dim={found} to keep it"
    )
    return found
