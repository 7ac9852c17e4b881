"""Products that sum over a dimension: matrix products and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.inplace import write_out
from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import bfloat16, bool_, float16, from_numpy_dtype
from tracegrad.errors import (
    ArgumentTypeError,
    DTypeError,
    ShapeError,
    UnsupportedDTypeError,
)
from tracegrad.ops._examples import normals, several
from tracegrad.ops._families import composite, primitive
from tracegrad.ops._pointwise import convert
from tracegrad.ops.arithmetic import add, mul
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.shaping import sum_to_shape
from tracegrad.ops.views import reshape, squeeze, transpose, unsqueeze
from tracegrad.sizes import broadcast_shapes, numel, shape_text
from tracegrad.spec import TensorSpec

# -- the primitive ------------------------------------------------------------------


def check_one_dtype(name: str, *tensors: Any) -> None:
    """Refuse operands of different dtypes, and of bool.

    Raises
    ------
    DTypeError
        If there is more than one dtype, or it is bool.
    """
    names = [tensor.dtype.name for tensor in tensors]
    if len(set(names)) > 1:
        raise DTypeError(
            f"{name}: the operands must have one dtype, not {' and '.join(names)}; "
            "convert one with tensor.to(dtype)"
        )
    if tensors[0].dtype is bool_:
        raise UnsupportedDTypeError(
            f"{name} is not defined for bool; use tensor.to(tracegrad.int64)"
        )


def _matmul_abstract(input: TensorSpec, other: TensorSpec) -> TensorSpec:
    check_one_dtype("matmul", input, other)
    if input.shape[-1] != other.shape[-2]:
        raise ShapeError(
            f"matmul: {shape_text(input.shape)} and {shape_text(other.shape)} do not "
            f"fit: {input.shape[-1]} columns, {other.shape[-2]} rows"
        )
    batch = broadcast_shapes(input.shape[:-2], other.shape[:-2])
    shape = (*batch, input.shape[-2], other.shape[-1])
    return TensorSpec(input.dtype, shape, (), input.device)


def half(array: Any) -> bool:
    """Return whether products of `array` are to be summed in a wider dtype."""
    return from_numpy_dtype(array.dtype) in (float16, bfloat16)


def _matmul_kernel(xp: Any, input: Any, other: Any) -> Any:
    if not half(input):
        # The same product, with less before it.
        product = xp.dot if input.ndim == other.ndim == 2 else xp.matmul
        return xp.ascontiguousarray(product(input, other))
    wide = xp.matmul(input.astype(xp.float32), other.astype(xp.float32))
    return convert(xp, wide, from_numpy_dtype(input.dtype))


def _matmul_examples(rng: np.random.Generator) -> list[tuple[Any, Any]]:
    shapes = [((2, 3), (3, 4)), ((2, 1, 3, 2), (4, 2, 1)), ((2, 0), (0, 3))]
    return [((rng.normal(size=a), rng.normal(size=b)), {}) for a, b in shapes]


@primitive(
    "contraction",
    name="matmul",
    abstract=_matmul_abstract,
    kernel=_matmul_kernel,
    linear_in=("input", "other"),
    numpy="np.matmul({input}, {other}, out={out})",
    numpy_matrices="np.dot({input}, {other}, out={out})",
    method=False,
    public=False,
    examples=_matmul_examples,
)
def matrix_product(input: Tensor, other: Tensor) -> Tensor:
    """Matrix products over the last two dimensions, the others broadcast.

    Half types are summed in float32.
    """


def _lean_product(arrays: Any, attributes: Any) -> Any:
    a, b = arrays
    matrices = a.ndim == b.ndim == 2 and a.size and b.size
    return np.dot if matrices and not half(a) else None


matrix_product.facts["lean"] = _lean_product


def conjugated(x: Tensor) -> Tensor:
    """Return `x`, conjugated if it is complex."""
    return x.conj() if x.is_complex() else x  # type: ignore[attr-defined]


def _adjoint(x: Tensor) -> Tensor:
    return conjugated(transpose(x, -2, -1))


matrix_product.vjp(
    input=lambda ct, other, input_spec: sum_to_shape(
        matrix_product(ct, _adjoint(other)), input_spec[0]
    ),
    other=lambda ct, input, other_spec: sum_to_shape(
        matrix_product(_adjoint(input), ct), other_spec[0]
    ),
)


# -- matmul -------------------------------------------------------------------------


@public_function()
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the matrix product, by PyTorch's rules for vectors and batches.

    Parameters
    ----------
    input : Tensor, shape (..., n, k) or (k,)
    other : Tensor, shape (..., k, m) or (k,)
    out : Tensor, optional
        Where to write the result.

    Raises
    ------
    ShapeError
        If the inner sizes differ, or an operand has no dimensions.
    DTypeError
        If the dtypes differ or are bool.
    """
    left, right = _as_tensor(input), _as_tensor(other)
    if left._array.ndim == 2 and right._array.ndim == 2:
        result = bind(matrix_product, (left, right))
    else:
        result = _any_rank(left, right)
    return result if out is None else write_out(out, result, "matmul")


def _as_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return Tensor.from_numpy(value)  # type: ignore[attr-defined, no-any-return]
    raise ArgumentTypeError(f"matmul takes tensors, not {type(value).__name__}")


def _any_rank(input: Tensor, other: Tensor) -> Tensor:
    """Return the product of vectors, matrices and batches."""
    if input.ndim == 0 or other.ndim == 0:
        raise ShapeError(
            "matmul: both operands need at least one dimension, not "
            f"{input.ndim} and {other.ndim}; use * to scale"
        )
    left = unsqueeze(input, 0) if input.ndim == 1 else input
    right = unsqueeze(other, 1) if other.ndim == 1 else other
    result = _folded(left, right) if right.ndim == 2 else matrix_product(left, right)
    if other.ndim == 1:
        result = squeeze(result, -1)
    if input.ndim == 1:
        result = squeeze(result, -1 if other.ndim == 1 else -2)
    return result


def _folded(input: Tensor, other: Tensor) -> Tensor:
    """Return the product with one matrix as one product of matrices.

    The gradient of the matrix is then one product too, not a sum over a batch.
    """
    shape = input._array.shape
    if len(shape) == 2:
        return matrix_product(input, other)  # type: ignore[no-any-return]
    if shape[-1] != other._array.shape[0]:
        raise ShapeError(
            f"matmul: {shape_text(shape)} and {shape_text(other._array.shape)} do not "
            f"fit: {shape[-1]} columns, {other._array.shape[0]} rows"
        )
    rows = reshape(input, numel(shape[:-1]), shape[-1])
    product = matrix_product(rows, other)
    return reshape(product, *shape[:-1], other._array.shape[1])  # type: ignore[no-any-return]


def _reflected_matmul(self: Tensor, other: Any) -> Any:
    if not isinstance(other, np.ndarray):
        return NotImplemented
    return matmul(_as_tensor(other), self)


Tensor.__rmatmul__ = _reflected_matmul  # type: ignore[attr-defined]


# -- of fixed rank ------------------------------------------------------------------


def _check_ranks(name: str, ranks: tuple[int, ...], *tensors: Tensor) -> None:
    have = tuple(t.ndim for t in tensors)
    if have != ranks:
        shapes = ", ".join(shape_text(t._array.shape) for t in tensors)
        raise ShapeError(
            f"{name} takes operands of {ranks} dimensions, not shapes {shapes}; "
            "matmul takes any"
        )


@composite(examples=normals((2, 3), (3, 4)))
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    _check_ranks("mm", (2, 2), input, mat2)
    return matrix_product(input, mat2)  # type: ignore[no-any-return]


@composite(examples=normals((2, 3, 4), (2, 4, 2)))
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of the matrices of two batches of one size."""
    _check_ranks("bmm", (3, 3), input, mat2)
    if input.shape[0] != mat2.shape[0]:
        raise ShapeError(
            f"bmm: batches of {input.shape[0]} and {mat2.shape[0]} matrices; "
            "matmul broadcasts"
        )
    return matrix_product(input, mat2)  # type: ignore[no-any-return]


@composite(examples=normals((3, 4), (4,)))
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix and a vector."""
    _check_ranks("mv", (2, 1), input, vec)
    return squeeze(matrix_product(input, unsqueeze(vec, 1)), 1)  # type: ignore[no-any-return]


@composite(examples=normals((4,), (4,)))
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Sum of the products of two vectors' elements, without conjugation."""
    _check_ranks("dot", (1, 1), input, tensor)
    product = matrix_product(unsqueeze(input, 0), unsqueeze(tensor, 1))
    return reshape(product)  # type: ignore[no-any-return]


@composite(examples=normals((4,), (4,)))
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """`dot` with the first vector conjugated."""
    _check_ranks("vdot", (1, 1), input, other)
    return dot(conjugated(input), other)  # type: ignore[no-any-return]


@composite(examples=normals((2, 3), (4, 3)))
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dimension of both; scales by a 0-dim tensor."""
    check_one_dtype("inner", input, other)
    if input.ndim == 0 or other.ndim == 0:
        return mul(input, other)  # type: ignore[no-any-return]
    left, right = input._array.shape, other._array.shape
    if left[-1] != right[-1]:
        raise ShapeError(
            f"inner: the last sizes differ: {shape_text(left)} and {shape_text(right)}"
        )
    rows = reshape(input, numel(left[:-1]), left[-1])
    columns = transpose(reshape(other, numel(right[:-1]), right[-1]), 0, 1)
    return reshape(matrix_product(rows, columns), *left[:-1], *right[:-1])  # type: ignore[no-any-return]


@composite(examples=normals((3,), (4,)))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Products of each element of one vector with each of another."""
    _check_ranks("outer", (1, 1), input, vec2)
    return mul(unsqueeze(input, 1), vec2)  # type: ignore[no-any-return]


@public_function()
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Return `outer`, under its name in BLAS."""
    return outer(input, vec2)  # type: ignore[no-any-return]


# -- products added to something ------------------------------------------------------


def _scaled(x: Tensor, factor: complex) -> Tensor:
    """Return `x` times a number of its own dtype."""
    if factor == 1:
        return x
    if x.dtype.kind == "int":
        factor = int(factor.real)
    return mul(x, factor)  # type: ignore[no-any-return]


def _added(
    name: str, input: Tensor, product: Tensor, beta: complex, alpha: complex
) -> Tensor:
    check_one_dtype(name, input, product)
    scaled = _scaled(product, alpha)
    wanted = scaled._array.shape
    if broadcast_shapes(input._array.shape, wanted) != wanted:
        raise ShapeError(
            f"{name}: input of shape {shape_text(input._array.shape)} does not expand "
            f"to the product's {shape_text(wanted)}"
        )
    if beta == 0:
        # Not multiplied: what is not used may hold NaN.
        return scaled
    return add(_scaled(input, beta), scaled)  # type: ignore[no-any-return]


@composite(inplace=True, examples=normals((2, 4), (2, 3), (3, 4), beta=0.5, alpha=2.0))
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: complex = 1, alpha: complex = 1
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; `input` is not read if beta is 0."""
    return _added("addmm", input, mm(mat1, mat2), beta, alpha)


@composite(inplace=True, examples=normals((2,), (2, 3), (3,), alpha=2.0))
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: complex = 1, alpha: complex = 1
) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``; `input` is not read if beta is 0."""
    return _added("addmv", input, mv(mat, vec), beta, alpha)


@composite(inplace=True, examples=normals((2, 3, 2), (2, 3, 4), (2, 4, 2), beta=0.5))
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: complex = 1,
    alpha: complex = 1,
) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``."""
    return _added("baddbmm", input, bmm(batch1, batch2), beta, alpha)


@composite(inplace=True, examples=normals((3, 2), (2, 3, 4), (2, 4, 2)))
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: complex = 1,
    alpha: complex = 1,
) -> Tensor:
    """``beta * input`` plus alpha times the sum of the batches' products."""
    product = sum_(bmm(batch1, batch2), (0,))
    return _added("addbmm", input, product, beta, alpha)


@composite(inplace=True, examples=normals((3, 4), (3,), (4,), beta=0.5))
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: complex = 1, alpha: complex = 1
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return _added("addr", input, outer(vec1, vec2), beta, alpha)


@composite(
    method=False,
    examples=several(normals((2, 5, 3), (4, 3), (4,)), normals((3,), (4, 3))),
)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``.

    A product and a sum, so that the sum can be fused with what follows.
    """
    if weight.ndim not in (1, 2):
        raise ShapeError(
            f"linear: weight has shape {shape_text(weight._array.shape)}; "
            "(out_features, in_features) is wanted"
        )
    turned = transpose(weight, 0, 1) if weight.ndim == 2 else weight
    product = matmul(input, turned)
    if bias is None:
        return product  # type: ignore[no-any-return]
    check_one_dtype("linear", product, bias)
    return add(product, bias)  # type: ignore[no-any-return]


def _linear_input_vjp(ct: Tensor, weight: Tensor) -> Tensor:
    if weight.ndim == 1:
        return mul(unsqueeze(ct, -1), conjugated(weight))  # type: ignore[no-any-return]
    return matmul(ct, conjugated(weight))  # type: ignore[no-any-return]


def _linear_weight_vjp(ct: Tensor, input: Tensor, weight_spec: Any) -> Tensor:
    """Return the weight's cotangent in the weight's own layout, without a transpose."""
    rows = reshape(input, -1, input._array.shape[-1])
    if len(weight_spec[0]) == 1:
        return sum_(mul(reshape(ct, -1, 1), conjugated(rows)), 0)  # type: ignore[no-any-return]
    columns = transpose(reshape(ct, -1, ct._array.shape[-1]), 0, 1)
    return matmul(columns, conjugated(rows))  # type: ignore[no-any-return]


def _linear_bias_vjp(ct: Tensor, bias_spec: Any) -> Tensor:
    return sum_to_shape(ct, bias_spec[0])


linear.vjp(input=_linear_input_vjp, weight=_linear_weight_vjp, bias=_linear_bias_vjp)


@composite(examples=normals((2, 3), (2,)))
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: each element of `input` times the whole of `other`."""
    left, right = input._array.shape, other._array.shape
    rank = max(len(left), len(right))
    left = (1,) * (rank - len(left)) + left
    right = (1,) * (rank - len(right)) + right
    spread_left = [size for s in left for size in (s, 1)]
    spread_right = [size for s in right for size in (1, s)]
    product = mul(reshape(input, *spread_left), reshape(other, *spread_right))
    return reshape(product, *(a * b for a, b in zip(left, right, strict=True)))  # type: ignore[no-any-return]
