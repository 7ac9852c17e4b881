"""Bernoulli streams and the mask of dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

from tracegrad.random_streams.engine import MT19937
from tracegrad.random_streams.units import (
    Size,
    element_count,
    unit_float32,
    unit_float64,
)


def bernoulli(
    engine: MT19937, size: Size, p: float, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Draw ones with one probability, as ``Tensor.bernoulli_(p)``.

    Parameters
    ----------
    engine : MT19937
        Advanced by two words per element, whatever the dtype.
    size : int or tuple of int
    p : float
        From 0 to 1.
    dtype : dtype, optional

    Returns
    -------
    ndarray, shape `size`, dtype `dtype`
        Of zeros and ones.

    Raises
    ------
    ValueError
        If `p` is not a probability.

    Notes
    -----
    One where a 53-bit uniform is below `p`. Equal to PyTorch 2.13 bit for bit on
    processors that are not Intel's. On Intel's, PyTorch draws by MKL, from a stream
    seeded with one word, which is not reproduced: there a seed gives other values in
    PyTorch, while here it gives the same ones everywhere.

    Examples
    --------
    >>> bernoulli(MT19937(0), 4, 0.5).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"bernoulli needs a probability from 0 to 1, but got p={p}")
    with engine.lock:
        unit = unit_float64(engine, element_count(size))
    return (unit < p).astype(dtype, copy=False).reshape(size)


def bernoulli_each(
    engine: MT19937, p: NDArray[Any], dtype: DTypeLike | None = None
) -> NDArray[Any]:
    """Draw ones with a probability per element, as ``torch.bernoulli(p)``.

    Parameters
    ----------
    engine : MT19937
        Advanced by two words per element if `p` is float64, by one otherwise.
    p : ndarray, shape (...), floating dtype
        Probabilities.
    dtype : dtype, optional
        That of `p` if not given.

    Returns
    -------
    ndarray, shape (...), dtype `dtype`
        Of zeros and ones.

    Raises
    ------
    ValueError
        If an element of `p` is not a probability.

    Notes
    -----
    One where a uniform of `p`'s dtype (float32 for the 16-bit ones) is below `p`. Equal
    to PyTorch 2.13 bit for bit.

    Examples
    --------
    >>> bernoulli_each(MT19937(0), np.array([0.4, 0.8], np.float32)).tolist()
    [0.0, 1.0]
    """
    if not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError(
            "bernoulli needs probabilities from 0 to 1, but p has an element outside "
            "(or NaN)"
        )
    with engine.lock:
        if p.dtype == np.float64:
            hits = unit_float64(engine, p.size).reshape(p.shape) < p
        else:
            unit = unit_float32(engine, p.size).reshape(p.shape)
            hits = unit < p.astype(np.float32, copy=False)
    return np.asarray(hits, p.dtype if dtype is None else dtype)


def dropout_mask(engine: MT19937, size: Size, p: float) -> NDArray[np.bool_]:
    """Draw which elements dropout keeps, as ``torch.nn.functional.dropout``.

    Parameters
    ----------
    engine : MT19937
        Advanced by two words per element; not at all if `p` is 0 or 1.
    size : int or tuple of int
    p : float
        The probability that an element is dropped, from 0 to 1.

    Returns
    -------
    ndarray of bool, shape `size`
        True where the element is kept (and to be divided by ``1 - p``).

    Raises
    ------
    ValueError
        If `p` is not a probability.

    Notes
    -----
    The stream of `bernoulli` with the probability ``1 - p``; what is said there about
    Intel's processors holds for dropout too.

    Source: N. Srivastava et al., "Dropout: a simple way to prevent neural networks from
    overfitting", JMLR 15, 2014.

    Examples
    --------
    >>> dropout_mask(MT19937(0), 4, 0.5).tolist()
    [False, False, True, False]
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout needs a probability from 0 to 1, but got p={p}")
    if p in (0.0, 1.0):
        return np.full(size, p == 0.0)
    return bernoulli(engine, size, 1.0 - p, np.bool_)
