"""In which order the elements of a tensor receive the values of a stream."""

from __future__ import annotations


def memory_order(strides: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes from the one of the largest stride to that of the smallest.

    PyTorch's in-place draws (``uniform_`` and its like) visit a tensor in this order,
    so a transposed tensor receives the values that its base would.

    Parameters
    ----------
    strides : tuple of int
        Of the tensor to fill, in elements or in bytes.

    Returns
    -------
    tuple of int
        Axes for ``ndarray.transpose``: writing a C-ordered draw of the transposed shape
        into the transposed array places each value where PyTorch does.

    Examples
    --------
    >>> memory_order((1, 3))
    (1, 0)
    """
    return tuple(sorted(range(len(strides)), key=lambda axis: -abs(strides[axis])))
