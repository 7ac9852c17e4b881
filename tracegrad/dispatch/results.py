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


class QR(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    Q: Tensor
    R: Tensor


class Eigen(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVD(NamedTuple):
    """Singular values between orthonormal factors."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class OldSVD(NamedTuple):
    """Singular values between orthonormal columns."""

    U: Tensor
    S: Tensor
    V: Tensor


class SignLogDet(NamedTuple):
    """Sign and logarithm of the size of a determinant."""

    sign: Tensor
    logabsdet: Tensor


class InvInfo(NamedTuple):
    """An inverse, and 0 where there is one."""

    inverse: Tensor
    info: Tensor


class FactorInfo(NamedTuple):
    """A factor, and 0 where there is one."""

    L: Tensor
    info: Tensor


class TriangularSolution(NamedTuple):
    """A solution and the matrix that was solved with."""

    solution: Tensor
    cloned_coefficient: Tensor


class LeastSquares(NamedTuple):
    """A solution, and what PyTorch gives beside it."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


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
for _name, _base in (
    ("aminmax", MinMax),
    ("qr", QR),
    ("linalg_qr", QR),
    ("linalg_eig", Eigen),
    ("linalg_eigh", Eigen),
    ("svd", OldSVD),
    ("linalg_svd", SVD),
    ("slogdet", SignLogDet),
    ("linalg_slogdet", SignLogDet),
    ("linalg_inv_ex", InvInfo),
    ("linalg_cholesky_ex", FactorInfo),
    ("triangular_solve", TriangularSolution),
    ("linalg_lstsq", LeastSquares),
):
    return_type(_name, _base)
