"""From a list of samples to a batch: tensors stacked, containers kept."""

from __future__ import annotations

import copy
from collections.abc import (
    Callable,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from typing import Any

import numpy as np

from tracegrad import as_tensor, stack, tensor
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import float64
from tracegrad.errors import ArgumentTypeError, ShapeError

# By the type of a batch's first element, or a tuple of types: what makes the batch.
CollateMap = dict[Any, Callable[..., Any]]

# NumPy's kinds of elements that no tensor holds: strings, bytes, objects.
_NOT_NUMBERS = "SUaO"


def default_convert(data: Any) -> Any:
    """Return data with its NumPy arrays and numbers as tensors; all else is kept.

    Parameters
    ----------
    data : object
        Containers are looked into.

    Returns
    -------
    object

    Examples
    --------
    >>> default_convert({"a": np.zeros(2)})["a"].dtype
    tracegrad.float64
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray | np.generic):
        kept = data.dtype.kind in _NOT_NUMBERS
        return data if kept else as_tensor(data)
    if isinstance(data, str | bytes):
        return data
    if isinstance(data, Mapping):
        return _mapping_like(data, {k: default_convert(data[k]) for k in data})
    if isinstance(data, tuple):
        parts = [default_convert(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence):
        return _sequence_like(data, [default_convert(part) for part in data])
    return data


def collate(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    """Make a batch of samples; containers of samples become containers of batches.

    Parameters
    ----------
    batch : sequence
        Samples of one form.
    collate_fn_map : dict, optional
        From a type to ``function(batch, *, collate_fn_map)`` for elements of it.

    Returns
    -------
    object

    Raises
    ------
    ArgumentTypeError
        If nothing is known of the samples' type.
    ShapeError
        If samples that are sequences are of several lengths.
    """
    first = batch[0]
    function = _function_for(first, collate_fn_map)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns: Iterable[Any] = [[sample[key] for sample in batch] for key in first]
        parts = [collate(c, collate_fn_map=collate_fn_map) for c in columns]
        return _mapping_like(first, dict(zip(first, parts, strict=True)))
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        columns = zip(*batch, strict=False)
        return type(first)(
            *[collate(c, collate_fn_map=collate_fn_map) for c in columns]
        )
    if isinstance(first, Sequence):
        return _collated_sequences(batch, collate_fn_map)
    raise _unknown(type(first))


def _collated_sequences(batch: Any, collate_fn_map: CollateMap | None) -> Any:
    first = batch[0]
    if any(len(sample) != len(first) for sample in batch):
        raise ShapeError(
            "default_collate: each element of the batch should be of equal size, "
            f"not {[len(sample) for sample in batch]}"
        )
    columns = list(zip(*batch, strict=True))
    parts = [collate(c, collate_fn_map=collate_fn_map) for c in columns]
    return parts if isinstance(first, tuple) else _sequence_like(first, parts)


def _function_for(
    element: Any, collate_fn_map: CollateMap | None
) -> Callable[..., Any] | None:
    if collate_fn_map is None:
        return None
    found = collate_fn_map.get(type(element))
    if found is not None:
        return found
    for kind, function in collate_fn_map.items():
        if isinstance(element, kind):
            return function
    return None


def _mapping_like(old: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    """Return `entries` as a mapping of the kind of `old`, if that can be made."""
    try:
        if not isinstance(old, MutableMapping):
            return type(old)(entries)  # type: ignore[call-arg]
        twin = copy.copy(old)
        twin.update(entries)
    except TypeError:
        return entries
    return twin


def _sequence_like(old: Sequence[Any], parts: list[Any]) -> Any:
    """Return `parts` as a sequence of the kind of `old`, if that can be made."""
    try:
        if not isinstance(old, MutableSequence):
            return type(old)(parts)  # type: ignore[call-arg]
        twin = copy.copy(old)
        for index, part in enumerate(parts):
            twin[index] = part
    except TypeError:
        return parts
    return twin


def _unknown(kind: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
        f"lists; found {kind}"
    )


# -- elements that become one tensor ---------------------------------------------------


def _of_tensors(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    return stack(list(batch), 0)


def _of_arrays(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    if batch[0].dtype.kind in _NOT_NUMBERS:
        raise _unknown(batch[0].dtype)
    tensors = [as_tensor(array) for array in batch]
    return collate(tensors, collate_fn_map=collate_fn_map)


def _of_numpy_numbers(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    return as_tensor(np.asarray(batch))


def _of_floats(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    return tensor(list(batch), dtype=float64)


def _of_ints(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    return tensor(list(batch))


def _as_it_is(batch: Any, *, collate_fn_map: CollateMap | None = None) -> Any:
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: _of_tensors,
    np.ndarray: _of_arrays,
    (np.bool_, np.number, np.object_): _of_numpy_numbers,
    float: _of_floats,
    int: _of_ints,
    str: _as_it_is,
    bytes: _as_it_is,
}


def default_collate(batch: Any) -> Any:
    """Make a batch of samples, with a new first dimension for the samples.

    Parameters
    ----------
    batch : sequence
        Samples: tensors, arrays and numbers become a tensor, strings stay, containers
        of these become containers of batches.

    Returns
    -------
    object

    Examples
    --------
    >>> default_collate([(0, "a"), (1, "b")])
    [tensor([0, 1]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
