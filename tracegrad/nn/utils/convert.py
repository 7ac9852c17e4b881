"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tracegrad.dispatch.operator import publish_module as _publish_module
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.ops.joining import cat


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return the elements of all parameters as one vector.

    Parameters
    ----------
    parameters : iterable of Tensor

    Returns
    -------
    Tensor, shape (total,)
    """
    return cat([p.reshape(-1) for p in parameters])  # type: ignore[attr-defined]


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give parameters the elements of a vector, as views of it.

    Parameters
    ----------
    vec : Tensor, shape (total,)
    parameters : iterable of Tensor

    Raises
    ------
    ShapeError
        If the vector is too short.
    """
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        if stop > vec.numel():
            raise ShapeError(
                f"vector_to_parameters: {vec.numel()} elements are too few for the "
                "parameters"
            )
        parameter.data = vec[start:stop].view(parameter.shape).data
        start = stop


_publish_module(globals())
