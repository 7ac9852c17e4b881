"""Results with names, a class per function, as in PyTorch's ``return_types``."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracegrad.dispatch.tensor import Tensor

# Where users find the classes, and pickle does.
_MODULE = "tracegrad.return_types"


class ValuesIndices(NamedTuple):
    """Elements and where they were."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """The smallest and the largest element."""

    min: Tensor
    max: Tensor


def return_type(name: str, base: type) -> Any:
    """Return the class of what the function `name` returns, derived from a named tuple.

    Parameters
    ----------
    name : str
        The function's public name.
    base : type
        The named tuple with its fields.
    """
    attributes = {
        "__slots__": (),
        "__module__": _MODULE,
        "__doc__": f"What `{name}` returns.",
        "__repr__": _shown,
    }
    made = type(name, (base,), attributes)
    RETURN_TYPES[name] = made
    return made


def _shown(self: Any) -> str:
    """Write a result as PyTorch does: each field on a line of its own."""
    fields = ",\n".join(
        f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)
    )
    return f"{_MODULE}.{type(self).__name__}(\n{fields})"


RETURN_TYPES: dict[str, Any] = {}
"""The classes of results with names, by function."""

for _name in (
    "max", "min", "sort", "topk", "kthvalue", "median", "nanmedian", "mode",
    "cummax", "cummin",
):  # fmt: skip
    return_type(_name, ValuesIndices)
return_type("aminmax", MinMax)
