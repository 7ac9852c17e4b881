"""Written by tools/generate.py, which see; not by hand."""

import builtins
import numpy as np
from collections.abc import Callable, Iterator, Sequence
from tracegrad.device import Device
from tracegrad.dispatch.entry import Edge, Node, ResultEdge, Version
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.hooks import RemovableHandle
from tracegrad.dispatch.memory_format import MemoryFormat
from tracegrad.dispatch.results import (
    MinMax,
    OldSVD,
    QR,
    SignLogDet,
    TriangularSolution,
    ValuesIndices,
)
from tracegrad.dispatch.storage import Storage
from tracegrad.dtypes import DType
from tracegrad.ops.whole_numbers import Frexp
from tracegrad.sizes import Size
from tracegrad.spec import TensorSpec
from typing import Any, final


@final
class View:
    """How a tensor is a view of a base."""
    base: Tensor
    path: tuple[Any, ...]
    stamp: Edge | None
    origin: str
    def __init__(
        self,
        base: Tensor,
        path: tuple[Any, ...],
        stamp: Node | ResultEdge | None,
        origin: str,
    ) -> None: ...


class Tensor:
    """A multi-dimensional array with PyTorch's semantics."""
    _array: Any
    _node: Edge | None
    _view: View | None
    _counter: Version | None
    _grad: Tensor | None
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor from data, as ``tracegrad.tensor`` does (float32)."""
    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
    @property
    def dtype(self) -> DType:
        """The element type."""
    @property
    def device(self) -> Device:
        """Where the data lives."""
    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the data lives on a CUDA device."""
    @property
    def is_cpu(self) -> builtins.bool:
        """Whether the data lives on the CPU."""
    @property
    def ndim(self) -> builtins.int:
        """The number of dimensions."""
    def dim(self) -> builtins.int:
        """Return the number of dimensions."""
    def size(self, dim: builtins.int | None=...) -> Any:
        """Return the shape, or the size of one dimension."""
    def numel(self) -> builtins.int:
        """Return the number of elements."""
    def element_size(self) -> builtins.int:
        """Return the size of one element, in bytes."""
    def stride(self, dim: builtins.int | None=...) -> Any:
        """Return the strides in elements, or that of one dimension."""
    def is_contiguous(self) -> builtins.bool:
        """Return whether the elements lie in row-major order without gaps."""
    def is_floating_point(self) -> builtins.bool:
        """Return whether the dtype is a real floating type."""
    def is_complex(self) -> builtins.bool:
        """Return whether the dtype is complex."""
    @property
    def is_meta(self) -> builtins.bool:
        """Whether it has a spec only."""
    @property
    def requires_grad(self) -> builtins.bool:
        """Whether gradients are wanted for it."""
    @requires_grad.setter
    def requires_grad(self, wanted: builtins.bool) -> None: ...
    def requires_grad_(self, requires_grad: builtins.bool=...) -> Tensor:
        """Say whether gradients are wanted for this leaf, and return it."""
    @property
    def is_leaf(self) -> builtins.bool:
        """Whether it is the start of the tape (or not on it)."""
    @property
    def grad_fn(self) -> Any:
        """The tape entry that made it, or None for a leaf."""
    @property
    def output_nr(self) -> builtins.int:
        """Which result of its tape entry it is."""
    @property
    def _version(self) -> builtins.int:
        """How often its memory was written by tracegrad."""
    def is_inference(self) -> builtins.bool:
        """Return whether it was made in inference mode."""
    @property
    def retains_grad(self) -> builtins.bool:
        """Whether it is no leaf and `retain_grad` was called."""
    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf, or None."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def _base(self) -> Tensor | None: ...
    def _is_view(self) -> builtins.bool: ...
    def item(self) -> Any:
        """Return the only element as a Python number."""
    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
    def numpy(self, *, force: builtins.bool=...) -> Any:
        """Return the data as a NumPy array that shares memory."""
    def __array__(self, dtype: Any=..., copy: builtins.bool | None=...) -> Any: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> builtins.int: ...
    def __len__(self) -> builtins.int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __hash__(self) -> builtins.int: ...
    @property
    def H(self) -> Tensor:
        """The last two dimensions exchanged and the elements conjugated."""
    @property
    def T(self) -> Tensor:
        """All dimensions in the opposite order."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | complex) -> Tensor: ...
    def __and__(self, other: Tensor | complex) -> Tensor: ...
    def __array_function__(
        self,
        function: Any,
        types: Any,
        args: Any,
        kwargs: Any,
    ) -> Any:
        """Apply another NumPy function to tensors (NEP 18)."""
    def __array_namespace__(self, *, api_version: str | None = ...) -> object:
        """Return the namespace of the Python array API standard for this tensor."""
    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: Any,
        **kwargs: Any,
    ) -> Any:
        """Apply a NumPy ufunc to tensors (NEP 13)."""
    def __contains__(self, element: Any) -> builtins.bool:
        """Return whether any element equals `element`, which broadcasts."""
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Tensor:
        """Return a copy; tensors that share memory share it in the copy too."""
    def __dlpack__(self, **options: Any) -> Any:
        """Return a DLPack capsule over the tensor's memory."""
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...
    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Tensor | complex) -> Tensor: ...
    def __format__(self, format_spec: str) -> str: ...
    def __ge__(self, other: Tensor | complex) -> Tensor: ...
    def __getitem__(self, key: Any) -> Tensor:
        """Return the part of this tensor at an index."""
    def __gt__(self, other: Tensor | complex) -> Tensor: ...
    def __iadd__(self, other: Tensor | complex) -> Tensor: ...
    def __iand__(self, other: Tensor | complex) -> Tensor: ...
    def __ifloordiv__(self, other: Tensor | complex) -> Tensor: ...
    def __ilshift__(self, other: Tensor | complex) -> Tensor: ...
    def __imod__(self, other: Tensor | complex) -> Tensor: ...
    def __imul__(self, other: Tensor | complex) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Tensor | complex) -> Tensor: ...
    def __ipow__(self, other: Tensor | complex) -> Tensor: ...
    def __irshift__(self, other: Tensor | complex) -> Tensor: ...
    def __isub__(self, other: Tensor | complex) -> Tensor: ...
    def __itruediv__(self, other: Tensor | complex) -> Tensor: ...
    def __ixor__(self, other: Tensor | complex) -> Tensor: ...
    def __le__(self, other: Tensor | complex) -> Tensor: ...
    def __lshift__(self, other: Tensor | complex) -> Tensor: ...
    def __lt__(self, other: Tensor | complex) -> Tensor: ...
    def __matmul__(self, other: Tensor | complex) -> Tensor: ...
    def __mod__(self, other: Tensor | complex) -> Tensor: ...
    def __mul__(self, other: Tensor | complex) -> Tensor: ...
    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | complex) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Tensor | complex) -> Tensor: ...
    def __radd__(self, other: Tensor | complex) -> Tensor: ...
    def __rand__(self, other: Tensor | complex) -> Tensor: ...
    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, other: Tensor | complex) -> Tensor: ...
    def __rlshift__(self, other: Tensor | complex) -> Tensor: ...
    def __rmatmul__(self, other: Tensor | complex) -> Tensor: ...
    def __rmod__(self, other: Tensor | complex) -> Tensor: ...
    def __rmul__(self, other: Tensor | complex) -> Tensor: ...
    def __ror__(self, other: Tensor | complex) -> Tensor: ...
    def __rpow__(self, other: Tensor | complex) -> Tensor: ...
    def __rrshift__(self, other: Tensor | complex) -> Tensor: ...
    def __rshift__(self, other: Tensor | complex) -> Tensor: ...
    def __rsub__(self, other: Tensor | complex) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | complex) -> Tensor: ...
    def __rxor__(self, other: Tensor | complex) -> Tensor: ...
    def __setitem__(self, key: Any, value: Any) -> None:
        """Write `value` into the part of this tensor at an index."""
    def __sub__(self, other: Tensor | complex) -> Tensor: ...
    def __truediv__(self, other: Tensor | complex) -> Tensor: ...
    def __xor__(self, other: Tensor | complex) -> Tensor: ...
    def abs(self) -> Tensor:
        """Distance of each element from 0; the smallest integer stays what it is."""
    def abs_(self) -> Tensor:
        """Distance of each element from 0; the smallest integer stays what it is."""
    def absolute(self, *, out: Tensor | None = ...) -> Tensor:
        """Distance of each element from 0; the smallest integer stays what it is."""
    def absolute_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `absolute` into this tensor."""
    def acos(self) -> Tensor:
        """Angle from 0 to pi whose cosine each element is."""
    def acos_(self) -> Tensor:
        """Angle from 0 to pi whose cosine each element is."""
    def acosh(self) -> Tensor:
        """Number from 0 up whose hyperbolic cosine each element is."""
    def acosh_(self) -> Tensor:
        """Number from 0 up whose hyperbolic cosine each element is."""
    def add(self, other: Any, *, alpha: Any = ..., out: Tensor | None = ...) -> Tensor:
        """Return ``input + alpha * other``."""
    def add_(self, other: Tensor | complex) -> Tensor:
        """Sum of two tensors; of bools, their "or"."""
    def addbmm(
        self,
        batch1: Tensor | complex,
        batch2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input`` plus alpha times the sum of the batches' products."""
    def addbmm_(
        self,
        batch1: Tensor | complex,
        batch2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input`` plus alpha times the sum of the batches' products."""
    def addcdiv(
        self,
        tensor1: Any,
        tensor2: Any,
        *,
        value: Any = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return ``input + value * tensor1 / tensor2``."""
    def addcdiv_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `addcdiv` into this tensor."""
    def addcmul(
        self,
        tensor1: Any,
        tensor2: Any,
        *,
        value: Any = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return ``input + value * tensor1 * tensor2``."""
    def addcmul_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `addcmul` into this tensor."""
    def addmm(
        self,
        mat1: Tensor | complex,
        mat2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``; `input` is not read if beta is 0."""
    def addmm_(
        self,
        mat1: Tensor | complex,
        mat2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``; `input` is not read if beta is 0."""
    def addmv(
        self,
        mat: Tensor | complex,
        vec: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``; `input` is not read if beta is 0."""
    def addmv_(
        self,
        mat: Tensor | complex,
        vec: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``; `input` is not read if beta is 0."""
    def addr(
        self,
        vec1: Tensor | complex,
        vec2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``."""
    def addr_(
        self,
        vec1: Tensor | complex,
        vec2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``."""
    def adjoint(self) -> Tensor:
        """The last two dimensions exchanged and the elements conjugated."""
    def all(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Whether all elements over dimensions are not 0; of nothing True."""
    def allclose(
        self,
        other: Tensor,
        rtol: builtins.float = ...,
        atol: builtins.float = ...,
        equal_nan: builtins.bool = ...,
    ) -> builtins.bool:
        """Return whether all elements differ by no more than ``atol + rtol * |other|``."""
    def amax(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Largest element over dimensions; NaN if there is one."""
    def amin(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Smallest element over dimensions; NaN if there is one."""
    def aminmax(
        self,
        *,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
    ) -> MinMax:
        """Return the smallest and the largest element, of all or along a dimension."""
    def angle(self) -> Tensor:
        """Angle of each element with the positive real axis, from -pi to pi."""
    def any(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Whether an element over dimensions is not 0; of nothing False."""
    def arccos(self, *, out: Tensor | None = ...) -> Tensor:
        """Angle from 0 to pi whose cosine each element is."""
    def arccos_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arccos` into this tensor."""
    def arccosh(self, *, out: Tensor | None = ...) -> Tensor:
        """Number from 0 up whose hyperbolic cosine each element is."""
    def arccosh_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arccosh` into this tensor."""
    def arcsin(self, *, out: Tensor | None = ...) -> Tensor:
        """Angle from -pi/2 to pi/2 whose sine each element is."""
    def arcsin_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arcsin` into this tensor."""
    def arcsinh(self, *, out: Tensor | None = ...) -> Tensor:
        """Number whose hyperbolic sine each element is."""
    def arcsinh_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arcsinh` into this tensor."""
    def arctan(self, *, out: Tensor | None = ...) -> Tensor:
        """Angle from -pi/2 to pi/2 whose tangent each element is."""
    def arctan2(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Angle of the point (`other`, `input`), from -pi to pi."""
    def arctan2_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arctan2` into this tensor."""
    def arctan_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arctan` into this tensor."""
    def arctanh(self, *, out: Tensor | None = ...) -> Tensor:
        """Number whose hyperbolic tangent each element is."""
    def arctanh_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `arctanh` into this tensor."""
    def argmax(
        self,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Index of the largest element, the first of equal ones; of NaN before all."""
    def argmin(
        self,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Index of the smallest element, the first of equal ones; of NaN before all."""
    def argsort(
        self,
        dim: builtins.int = ...,
        descending: builtins.bool = ...,
        stable: builtins.bool = ...,
    ) -> Tensor:
        """Return the indices that sort `input` along `dim`."""
    def argwhere(self) -> Tensor:
        """Return the indices of the elements that are not 0, a row for each."""
    def as_strided(
        self,
        size: Any,
        stride: Any,
        storage_offset: builtins.int | None = ...,
    ) -> Tensor:
        """Return a view of the storage of `input` with free sizes and strides."""
    def as_strided_scatter(
        self,
        src: Tensor,
        size: Any,
        stride: Any,
        storage_offset: builtins.int | None = ...,
    ) -> Tensor:
        """Return a copy of `input` with `src` in the part that `as_strided` sees."""
    def asin(self) -> Tensor:
        """Angle from -pi/2 to pi/2 whose sine each element is."""
    def asin_(self) -> Tensor:
        """Angle from -pi/2 to pi/2 whose sine each element is."""
    def asinh(self) -> Tensor:
        """Number whose hyperbolic sine each element is."""
    def asinh_(self) -> Tensor:
        """Number whose hyperbolic sine each element is."""
    def atan(self) -> Tensor:
        """Angle from -pi/2 to pi/2 whose tangent each element is."""
    def atan2(self, other: Tensor | complex) -> Tensor:
        """Angle of the point (`other`, `input`), from -pi to pi."""
    def atan2_(self, other: Tensor | complex) -> Tensor:
        """Angle of the point (`other`, `input`), from -pi to pi."""
    def atan_(self) -> Tensor:
        """Angle from -pi/2 to pi/2 whose tangent each element is."""
    def atanh(self) -> Tensor:
        """Number whose hyperbolic tangent each element is."""
    def atanh_(self) -> Tensor:
        """Number whose hyperbolic tangent each element is."""
    def backward(
        self,
        gradient: Tensor | None = ...,
        retain_graph: builtins.bool | None = ...,
        create_graph: builtins.bool = ...,
        inputs: Any = ...,
    ) -> None:
        """Add the gradients of this tensor to the ``.grad`` of the leaves."""
    def baddbmm(
        self,
        batch1: Tensor | complex,
        batch2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2)``."""
    def baddbmm_(
        self,
        batch1: Tensor | complex,
        batch2: Tensor | complex,
        *,
        beta: complex = ...,
        alpha: complex = ...,
    ) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2)``."""
    def bernoulli(
        self,
        p: builtins.float | None = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Return zeros and ones; see `bernoulli`."""
    def bernoulli_(self, p: Any = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with ones of probability `p`, a number or a tensor, else zeros."""
    def bfloat16(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as bfloat16: itself if it has that dtype."""
    def bincount(
        self,
        weights: Tensor | None = ...,
        minlength: builtins.int = ...,
    ) -> Tensor:
        """Return how often each number from 0 on occurs, or the sums of weights."""
    def bitwise_and(self, other: Tensor | complex) -> Tensor:
        """Bits that both elements have; of bools, "and"."""
    def bitwise_and_(self, other: Tensor | complex) -> Tensor:
        """Bits that both elements have; of bools, "and"."""
    def bitwise_left_shift(self, other: Tensor | complex) -> Tensor:
        """Bits moved up; 0 for a count that is negative or not below the width."""
    def bitwise_left_shift_(self, other: Tensor | complex) -> Tensor:
        """Bits moved up; 0 for a count that is negative or not below the width."""
    def bitwise_not(self) -> Tensor:
        """All bits inverted; of bools, "not"."""
    def bitwise_not_(self) -> Tensor:
        """All bits inverted; of bools, "not"."""
    def bitwise_or(self, other: Tensor | complex) -> Tensor:
        """Bits that at least one element has; of bools, "or"."""
    def bitwise_or_(self, other: Tensor | complex) -> Tensor:
        """Bits that at least one element has; of bools, "or"."""
    def bitwise_right_shift(self, other: Tensor | complex) -> Tensor:
        """Bits moved down, the sign repeated."""
    def bitwise_right_shift_(self, other: Tensor | complex) -> Tensor:
        """Bits moved down, the sign repeated."""
    def bitwise_xor(self, other: Tensor | complex) -> Tensor:
        """Bits that exactly one element has; of bools, "exclusive or"."""
    def bitwise_xor_(self, other: Tensor | complex) -> Tensor:
        """Bits that exactly one element has; of bools, "exclusive or"."""
    def bmm(self, mat2: Tensor | complex) -> Tensor:
        """Products of the matrices of two batches of one size."""
    def bool(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as bool: itself if it has that dtype."""
    def broadcast_to(self, size: Sequence[builtins.int]) -> Tensor:
        """Return `input` expanded to `size`."""
    def byte(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as uint8: itself if it has that dtype."""
    def cauchy_(
        self,
        median: builtins.float = ...,
        sigma: builtins.float = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Fill with draws from a Cauchy distribution."""
    def cdouble(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as complex128: itself if it has that dtype."""
    def ceil(self) -> Tensor:
        """Smallest integer not below each element."""
    def ceil_(self) -> Tensor:
        """Smallest integer not below each element."""
    def celu_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `celu` into this tensor."""
    def cfloat(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as complex64: itself if it has that dtype."""
    def chain_matmul(self, *matrices: Any) -> Tensor:
        """Return the product of several matrices."""
    def char(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as int8: itself if it has that dtype."""
    def cholesky(self, upper: builtins.bool = ...) -> Tensor:
        """Return the triangular factor of Hermitian positive definite matrices."""
    def cholesky_inverse(self, upper: builtins.bool = ...) -> Tensor:
        """Return the inverse of ``L @ L.mH`` (``L.mH @ L`` if `upper`)."""
    def cholesky_solve(self, L: Tensor, upper: builtins.bool = ...) -> Tensor:
        """Return X with ``L @ L.mH @ X == input`` (``L.mH @ L`` if `upper`)."""
    def chunk(self, chunks: builtins.int, dim: builtins.int = ...) -> Any:
        """Return at most `chunks` parts of equal size (the last smaller), as views."""
    def clamp(
        self,
        min: Any = ...,
        max: Any = ...,
        *,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Bring each element between two bounds, of which the upper one prevails."""
    def clamp_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `clamp` into this tensor."""
    def clamp_max(self, max: Tensor | complex) -> Tensor:
        """Each element, or the bound where that is smaller."""
    def clamp_max_(self, max: Tensor | complex) -> Tensor:
        """Each element, or the bound where that is smaller."""
    def clamp_min(self, min: Tensor | complex) -> Tensor:
        """Each element, or the bound where that is larger."""
    def clamp_min_(self, min: Tensor | complex) -> Tensor:
        """Each element, or the bound where that is larger."""
    def clip(
        self,
        min: Any = ...,
        max: Any = ...,
        *,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Bring each element between two bounds, of which the upper one prevails."""
    def clip_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `clip` into this tensor."""
    def clone(
        self,
        *,
        memory_format: MemoryFormat | None = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return a copy, through which gradients flow."""
    def combinations(
        self,
        r: builtins.int = ...,
        with_replacement: builtins.bool = ...,
    ) -> Tensor:
        """Return the combinations of `r` elements of a vector, one in each row."""
    def conj(self) -> Tensor:
        """Return the complex conjugate of a complex tensor, or a real tensor itself."""
    def conj_physical(self) -> Tensor:
        """Return the complex conjugate, always in new memory."""
    def contiguous(self, memory_format: MemoryFormat = ...) -> Tensor:
        """Return `input` itself if its elements lie in the order asked for, else a copy."""
    def copy_(self, src: Any, non_blocking: builtins.bool = ...) -> Tensor:
        """Write the elements of `src` into this tensor, and return it."""
    def copysign(self, other: Tensor | complex) -> Tensor:
        """Elements of `input` with the signs of `other`."""
    def copysign_(self, other: Tensor | complex) -> Tensor:
        """Elements of `input` with the signs of `other`."""
    def corrcoef(self) -> Tensor:
        """Return the correlations of the rows, which are variables."""
    def cos(self) -> Tensor:
        """Cosine of each element, in radians."""
    def cos_(self) -> Tensor:
        """Cosine of each element, in radians."""
    def cosh(self) -> Tensor:
        """Hyperbolic cosine of each element."""
    def cosh_(self) -> Tensor:
        """Hyperbolic cosine of each element."""
    def count_nonzero(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    ) -> Tensor:
        """Number of elements over dimensions that are not 0, int64."""
    def cov(
        self,
        *,
        correction: builtins.int = ...,
        fweights: Tensor | None = ...,
        aweights: Tensor | None = ...,
    ) -> Tensor:
        """Return the covariances of the rows, which are variables."""
    def cpu(self) -> Tensor:
        """Return the tensor on the CPU: itself if it is there."""
    def cross(self, other: Tensor, dim: builtins.int | None = ...) -> Tensor:
        """Return the cross products of vectors of 3 elements along `dim`."""
    def cuda(self, device: Any = ...) -> Tensor:
        """Return the tensor on a CUDA device: itself if it is there."""
    def cummax(self, dim: builtins.int) -> ValuesIndices:
        """Return the running maximum along `dim`, and where it is."""
    def cummin(self, dim: builtins.int) -> ValuesIndices:
        """Return the running minimum along `dim`, and where it is; see `cummax`."""
    def cumprod(self, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
        """Running product along a dimension, of integers in int64."""
    def cumprod_(self, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
        """Running product along a dimension, of integers in int64."""
    def cumsum(self, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
        """Running sum along a dimension, of integers in int64."""
    def cumsum_(self, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
        """Running sum along a dimension, of integers in int64."""
    @property
    def data(self) -> Tensor:
        """The same memory without gradient, with a version counter of its own."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int:
        """Return the address of the first element; 0 where there is none."""
    def deg2rad(self, *, out: Tensor | None = ...) -> Tensor:
        """Return angles given in degrees in radians."""
    def deg2rad_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `deg2rad` into this tensor."""
    def det(self) -> Tensor:
        """Return the determinant of each square matrix."""
    def detach(self) -> Tensor:
        """Return a tensor over the same memory and version, without gradient."""
    def detach_(self) -> Tensor:
        """Take this tensor off the tape, as a leaf, and return it."""
    def diag(self, diagonal: builtins.int = ...) -> Tensor:
        """Return the matrix with a vector on its diagonal, or the diagonal of a matrix."""
    def diag_embed(
        self,
        offset: builtins.int = ...,
        dim1: builtins.int = ...,
        dim2: builtins.int = ...,
    ) -> Tensor:
        """Matrices that have the last dimension on a diagonal and zeros elsewhere."""
    def diagflat(self, offset: builtins.int = ...) -> Tensor:
        """Return a matrix with the elements of `input`, in order, on a diagonal."""
    def diagonal(
        self,
        offset: builtins.int = ...,
        dim1: builtins.int = ...,
        dim2: builtins.int = ...,
    ) -> Tensor:
        """The diagonal of two dimensions, as the last dimension."""
    def diagonal_scatter(
        self,
        src: Tensor,
        offset: builtins.int = ...,
        dim1: builtins.int = ...,
        dim2: builtins.int = ...,
    ) -> Tensor:
        """Return a copy of `input` with `src` on a diagonal."""
    def diff(
        self,
        n: builtins.int = ...,
        dim: builtins.int = ...,
        prepend: Tensor | None = ...,
        append: Tensor | None = ...,
    ) -> Tensor:
        """Return the differences of neighbours along `dim`, `n` times; of bools, "xor"."""
    def digamma(self) -> Tensor:
        """Derivative of `lgamma`; -inf at 0, NaN at negative integers."""
    def digamma_(self) -> Tensor:
        """Derivative of `lgamma`; -inf at 0, NaN at negative integers."""
    def div(
        self,
        other: Any,
        *,
        rounding_mode: str | None = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return ``input / other``, rounded if asked."""
    def div_(self, other: Tensor | complex) -> Tensor:
        """Quotient of two tensors, floating also for integers."""
    def divide(
        self,
        other: Any,
        *,
        rounding_mode: str | None = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return ``input / other``, rounded if asked."""
    def divide_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `divide` into this tensor."""
    def dot(self, tensor: Tensor | complex) -> Tensor:
        """Sum of the products of two vectors' elements, without conjugation."""
    def double(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as float64: itself if it has that dtype."""
    def dsplit(self, indices_or_sections: Any) -> Any:
        """Return parts of `input`, as `tensor_split` does (d)."""
    def eq(self, other: Tensor | complex) -> Tensor:
        """Whether two tensors are equal, element by element."""
    def eq_(self, other: Tensor | complex) -> Tensor:
        """Whether two tensors are equal, element by element."""
    def equal(self, other: Tensor) -> builtins.bool:
        """Return whether two tensors have one shape and equal elements."""
    def erf(self) -> Tensor:
        """Error function of each element."""
    def erf_(self) -> Tensor:
        """Error function of each element."""
    def erfc(self) -> Tensor:
        """Complementary error function of each element, exact where it is tiny."""
    def erfc_(self) -> Tensor:
        """Complementary error function of each element, exact where it is tiny."""
    def erfinv(self) -> Tensor:
        """Number whose error function each element is; NaN outside of [-1, 1]."""
    def erfinv_(self) -> Tensor:
        """Number whose error function each element is; NaN outside of [-1, 1]."""
    def exp(self) -> Tensor:
        """Exponential of each element."""
    def exp2(self) -> Tensor:
        """Two to the power of each element."""
    def exp2_(self) -> Tensor:
        """Two to the power of each element."""
    def exp_(self) -> Tensor:
        """Exponential of each element."""
    def expand(self, *size: builtins.int) -> Tensor:
        """Dimensions of size 1 repeated, without a copy; -1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Return `input` expanded to the shape of `other`."""
    def expm1(self) -> Tensor:
        """Exponential of each element less 1, exact near 0."""
    def expm1_(self) -> Tensor:
        """Exponential of each element less 1, exact near 0."""
    def exponential_(
        self,
        lambd: builtins.float = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Fill with exponential draws of rate `lambd`."""
    def fill_(self, value: Any) -> Tensor:
        """Write one number everywhere, and return the tensor."""
    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = ...) -> Tensor:
        """Write a number on the main diagonal and return this tensor."""
    def fix(self, *, out: Tensor | None = ...) -> Tensor:
        """Integer part of each element."""
    def fix_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `fix` into this tensor."""
    def flatten(
        self,
        start_dim: builtins.int = ...,
        end_dim: builtins.int = ...,
    ) -> Tensor:
        """Return the dimensions from `start_dim` to `end_dim` joined into one."""
    def flip(self, *dims: builtins.int) -> Tensor:
        """The elements in the opposite order along dimensions; a copy."""
    def fliplr(self) -> Tensor:
        """Return columns in the opposite order (dimension 1)."""
    def flipud(self) -> Tensor:
        """Return rows in the opposite order (dimension 0)."""
    def float(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as float32: itself if it has that dtype."""
    def float_power(self, exponent: Tensor | complex) -> Tensor:
        """Power computed in float64, or complex128."""
    def float_power_(self, exponent: Tensor | complex) -> Tensor:
        """Power computed in float64, or complex128."""
    def floor(self) -> Tensor:
        """Largest integer not above each element."""
    def floor_(self) -> Tensor:
        """Largest integer not above each element."""
    def floor_divide(self, other: Tensor | complex) -> Tensor:
        """Quotient rounded down, also of integers; it has no derivative."""
    def floor_divide_(self, other: Tensor | complex) -> Tensor:
        """Quotient rounded down, also of integers; it has no derivative."""
    def fmax(self, other: Tensor | complex) -> Tensor:
        """Larger element of two; the other one where one is NaN."""
    def fmin(self, other: Tensor | complex) -> Tensor:
        """Smaller element of two; the other one where one is NaN."""
    def fmod(self, other: Tensor | complex) -> Tensor:
        """Remainder with the sign of the dividend, as C's ``fmod``."""
    def fmod_(self, other: Tensor | complex) -> Tensor:
        """Remainder with the sign of the dividend, as C's ``fmod``."""
    def frac(self) -> Tensor:
        """What is left of each element without its integer part, with its sign."""
    def frac_(self) -> Tensor:
        """What is left of each element without its integer part, with its sign."""
    def frexp(self) -> Frexp:
        """Return mantissas in [1/2, 1) and exponents: ``mantissa * 2**exponent``."""
    @staticmethod
    def from_numpy(array: Any) -> Tensor:
        """Make a tensor that shares the memory of `array`."""
    def gather(
        self,
        dim: builtins.int,
        index: Tensor,
        *,
        sparse_grad: builtins.bool = ...,
    ) -> Tensor:
        """Return the elements at `index` along `dim`, in the shape of `index`."""
    def gcd(self, other: Tensor | complex) -> Tensor:
        """Greatest common divisor of integers; that of two zeros is 0."""
    def gcd_(self, other: Tensor | complex) -> Tensor:
        """Greatest common divisor of integers; that of two zeros is 0."""
    def ge(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is greater than or equal to `other`, element by element."""
    def ge_(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is greater than or equal to `other`, element by element."""
    def geometric_(
        self,
        p: builtins.float,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Fill with how many trials a first success takes."""
    def ger(self, vec2: Tensor) -> Tensor:
        """Return `outer`, under its name in BLAS."""
    def get_device(self) -> builtins.int:
        """Return the number of its device, -1 for the CPU."""
    def greater(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Whether `input` is greater than `other`, element by element."""
    def greater_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `greater` into this tensor."""
    def greater_equal(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Whether `input` is greater than or equal to `other`, element by element."""
    def greater_equal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `greater_equal` into this tensor."""
    def gt(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is greater than `other`, element by element."""
    def gt_(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is greater than `other`, element by element."""
    def half(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as float16: itself if it has that dtype."""
    def hardshrink(self, lambd: builtins.float = ...) -> Tensor:
        """Each element, or 0 where it is within `lambd` of 0."""
    def heaviside(self, values: Tensor | complex) -> Tensor:
        """0 below 0, 1 above it, and `values` at 0."""
    def heaviside_(self, values: Tensor | complex) -> Tensor:
        """0 below 0, 1 above it, and `values` at 0."""
    def histc(
        self,
        bins: builtins.int = ...,
        min: builtins.float = ...,
        max: builtins.float = ...,
    ) -> Tensor:
        """How many elements are in each of equal bins from min to max."""
    def hsplit(self, indices_or_sections: Any) -> Any:
        """Return parts of `input`, as `tensor_split` does (h)."""
    def hypot(self, other: Tensor | complex) -> Tensor:
        """Length of the vector (`input`, `other`), without overflow on the way."""
    def hypot_(self, other: Tensor | complex) -> Tensor:
        """Length of the vector (`input`, `other`), without overflow on the way."""
    def i0(self) -> Tensor:
        """Modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Tensor:
        """Modified Bessel function of the first kind, of order 0."""
    def igamma(self, other: Tensor | complex) -> Tensor:
        """Lower regularized incomplete gamma function of `input`, up to `other`."""
    def igamma_(self, other: Tensor | complex) -> Tensor:
        """Lower regularized incomplete gamma function of `input`, up to `other`."""
    def igammac(self, other: Tensor | complex) -> Tensor:
        """Upper regularized incomplete gamma function of `input`, from `other` on."""
    def igammac_(self, other: Tensor | complex) -> Tensor:
        """Upper regularized incomplete gamma function of `input`, from `other` on."""
    @property
    def imag(input: Tensor) -> Tensor:
        """Return the imaginary part of a complex tensor."""
    @imag.setter
    def imag(self, value: Any) -> None: ...
    def index_add(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: Any = ...,
    ) -> Tensor:
        """Return `input` with `alpha` times `source` added at `index` along `dim`."""
    def index_add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `index_add` into this tensor."""
    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """Return `input` with `source` put at `index` along `dim`."""
    def index_copy_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `index_copy` into this tensor."""
    def index_fill(self, dim: builtins.int, index: Tensor, value: Any) -> Tensor:
        """Return `input` with a number put at `index` along `dim`."""
    def index_fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `index_fill` into this tensor."""
    def index_put(
        self,
        indices: Sequence[Tensor],
        values: Tensor,
        accumulate: builtins.bool = ...,
    ) -> Tensor:
        """Return `input` with the elements at `indices` replaced by `values`."""
    def index_put_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `index_put` into this tensor."""
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return the places `index` along `dim`, a copy."""
    def inner(self, other: Tensor | complex) -> Tensor:
        """Sums of products over the last dimension of both; scales by a 0-dim tensor."""
    def int(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as int32: itself if it has that dtype."""
    def inverse(self) -> Tensor:
        """Return the inverse of each square matrix."""
    def is_conj(self) -> builtins.bool:
        """Return whether a tensor is to be conjugated later: never, here."""
    @property
    def is_mkldnn(self) -> Any: ...
    @property
    def is_mps(self) -> Any: ...
    def is_neg(self) -> builtins.bool:
        """Return whether a tensor is to be negated later: never, here."""
    @property
    def is_nested(self) -> Any: ...
    def is_nonzero(self) -> builtins.bool:
        """Return whether the only element is not zero."""
    def is_pinned(self, device: Any = ...) -> builtins.bool:
        """Return False."""
    @property
    def is_quantized(self) -> Any: ...
    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Return whether both have one shape."""
    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """Return whether both are the same elements of the same memory."""
    def is_shared(self) -> builtins.bool:
        """Return False: processes get copies."""
    def is_signed(self) -> builtins.bool:
        """Return whether the dtype can hold negative values."""
    @property
    def is_sparse(self) -> Any: ...
    @property
    def is_sparse_csr(self) -> Any: ...
    @property
    def is_xpu(self) -> Any: ...
    def isclose(
        self,
        other: Tensor | complex,
        rtol: builtins.float = ...,
        atol: builtins.float = ...,
        equal_nan: builtins.bool = ...,
    ) -> Tensor:
        """Whether elements differ by no more than ``atol + rtol * |other|``."""
    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor NaN."""
    def isinf(self) -> Tensor:
        """Whether each element is infinite; a complex one if a part is."""
    def isnan(self) -> Tensor:
        """Whether each element is NaN; a complex one if a part is."""
    def isneginf(self) -> Tensor:
        """Whether each element is infinity with a minus sign."""
    def isposinf(self) -> Tensor:
        """Whether each element is infinity with a plus sign."""
    def isreal(self) -> Tensor:
        """Whether the imaginary part of each element is zero."""
    @property
    def itemsize(self) -> builtins.int:
        """Return the size of one element, in bytes."""
    def kron(self, other: Tensor | complex) -> Tensor:
        """Kronecker product: each element of `input` times the whole of `other`."""
    def kthvalue(
        self,
        k: builtins.int,
        dim: builtins.int = ...,
        keepdim: builtins.bool = ...,
    ) -> ValuesIndices:
        """Return the `k`-th smallest element along `dim` (from 1), and where it is."""
    @property
    def layout(self) -> Any: ...
    def lcm(self, other: Tensor | complex) -> Tensor:
        """Least common multiple of integers; 0 if one is 0."""
    def lcm_(self, other: Tensor | complex) -> Tensor:
        """Least common multiple of integers; 0 if one is 0."""
    def ldexp(self, other: Tensor | complex) -> Tensor:
        """``input * 2 ** other``."""
    def le(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is less than or equal to `other`, element by element."""
    def le_(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is less than or equal to `other`, element by element."""
    def lerp(self, end: Tensor | complex, weight: Tensor | complex) -> Tensor:
        """Straight line from `input` (weight 0) to `end` (weight 1)."""
    def lerp_(self, end: Tensor | complex, weight: Tensor | complex) -> Tensor:
        """Straight line from `input` (weight 0) to `end` (weight 1)."""
    def less(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Whether `input` is less than `other`, element by element."""
    def less_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `less` into this tensor."""
    def less_equal(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Whether `input` is less than or equal to `other`, element by element."""
    def less_equal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `less_equal` into this tensor."""
    def lgamma(self) -> Tensor:
        """Logarithm of the size of the gamma function; inf at 0 and negative integers."""
    def lgamma_(self) -> Tensor:
        """Logarithm of the size of the gamma function; inf at 0 and negative integers."""
    def log(self) -> Tensor:
        """Natural logarithm of each element."""
    def log10(self) -> Tensor:
        """Logarithm to base 10 of each element."""
    def log10_(self) -> Tensor:
        """Logarithm to base 10 of each element."""
    def log1p(self) -> Tensor:
        """Natural logarithm of each element plus 1, exact near 0."""
    def log1p_(self) -> Tensor:
        """Natural logarithm of each element plus 1, exact near 0."""
    def log2(self) -> Tensor:
        """Logarithm to base 2 of each element."""
    def log2_(self) -> Tensor:
        """Logarithm to base 2 of each element."""
    def log_(self) -> Tensor:
        """Natural logarithm of each element."""
    def log_normal_(
        self,
        mean: builtins.float = ...,
        std: builtins.float = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Fill with draws whose logarithm is normal."""
    def log_softmax(self, dim: builtins.int, dtype: DType | None = ...) -> Tensor:
        """Logarithm of the softmax along a dimension, exact where that is tiny."""
    def logaddexp(self, other: Tensor | complex) -> Tensor:
        """Logarithm of the sum of the exponentials of two tensors."""
    def logaddexp2(self, other: Tensor | complex) -> Tensor:
        """Logarithm to base 2 of the sum of two powers of 2, without overflow."""
    def logcumsumexp(self, dim: builtins.int) -> Tensor:
        """Logarithm of the running sum of exponentials along a dimension."""
    def logdet(self) -> Tensor:
        """Return the logarithm of each determinant: -inf where it is 0, nan below."""
    def logical_and(self, other: Tensor | complex) -> Tensor:
        """Whether both elements are true."""
    def logical_and_(self, other: Tensor | complex) -> Tensor:
        """Whether both elements are true."""
    def logical_not(self) -> Tensor:
        """Whether each element is false."""
    def logical_not_(self) -> Tensor:
        """Whether each element is false."""
    def logical_or(self, other: Tensor | complex) -> Tensor:
        """Whether at least one element is true."""
    def logical_or_(self, other: Tensor | complex) -> Tensor:
        """Whether at least one element is true."""
    def logical_xor(self, other: Tensor | complex) -> Tensor:
        """Whether exactly one element is true."""
    def logical_xor_(self, other: Tensor | complex) -> Tensor:
        """Whether exactly one element is true."""
    def logit(
        self,
        eps: builtins.float | None = ...,
        *,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return log(x / (1 - x)), the inverse of the logistic function."""
    def logit_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `logit` into this tensor."""
    def logsumexp(
        self,
        dim: builtins.int | tuple[builtins.int, ...],
        keepdim: builtins.bool = ...,
    ) -> Tensor:
        """Logarithm of the sum of exponentials over dimensions."""
    def long(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as int64: itself if it has that dtype."""
    def lt(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is less than `other`, element by element."""
    def lt_(self, other: Tensor | complex) -> Tensor:
        """Whether `input` is less than `other`, element by element."""
    def lu(self, pivot: builtins.bool = ..., get_infos: builtins.bool = ...) -> Any:
        """Return packed factors and exchanges, with `get_infos` the first 0 pivots too."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Return the solution X of ``A @ X == b`` by packed factors of A."""
    @property
    def mH(self) -> Tensor:
        """The last two dimensions exchanged and the elements conjugated."""
    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged; a number as it is."""
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """Return `input` with a number where `mask` holds, in the dtype of `input`."""
    def masked_fill_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `masked_fill` into this tensor."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """Return `input` with the elements of `source`, in order, where `mask` holds."""
    def masked_scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `masked_scatter` into this tensor."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements where `mask` holds, as a vector."""
    def masked_select_or_zero(self, mask: Tensor) -> Tensor: ...
    def matmul(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Return the matrix product, by PyTorch's rules for vectors and batches."""
    def matrix_exp(self) -> Tensor:
        """Exponential of each square matrix, computed in double precision."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """Return each square matrix to the power `n`; negative ones of the inverse."""
    def max(
        self,
        dim: Any = ...,
        keepdim: builtins.bool = ...,
        *,
        other: Any = ...,
    ) -> Any:
        """Return the largest element: of all, along a dimension, or of two tensors."""
    def maximum(self, other: Tensor | complex) -> Tensor:
        """Larger element of two; NaN if there is one. Equal ones share the gradient."""
    def maximum_(self, other: Tensor | complex) -> Tensor:
        """Larger element of two; NaN if there is one. Equal ones share the gradient."""
    def mean(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
        *,
        dtype: DType | None = ...,
    ) -> Tensor:
        """Mean over dimensions; half precision is summed in float32."""
    def median(
        self,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Any:
        """Return the lower middle of the elements in order; NaN if there is one."""
    def min(
        self,
        dim: Any = ...,
        keepdim: builtins.bool = ...,
        *,
        other: Any = ...,
    ) -> Any:
        """Return the smallest element: of all, along a dimension, or of two tensors."""
    def minimum(self, other: Tensor | complex) -> Tensor:
        """Smaller element of two; NaN if there is one. Equal ones share the gradient."""
    def minimum_(self, other: Tensor | complex) -> Tensor:
        """Smaller element of two; NaN if there is one. Equal ones share the gradient."""
    def mm(self, mat2: Tensor | complex) -> Tensor:
        """Product of two matrices."""
    def mode(
        self,
        dim: builtins.int = ...,
        keepdim: builtins.bool = ...,
    ) -> ValuesIndices:
        """Return the most frequent element along `dim`, and its last place."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """Return dimensions moved to other places, the others in their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """Return dimensions moved to other places, the others in their order."""
    def msort(self) -> Tensor:
        """Return the elements in order along the first dimension."""
    def mul(self, other: Tensor | complex) -> Tensor:
        """Product of two tensors; of bools, their "and"."""
    def mul_(self, other: Tensor | complex) -> Tensor:
        """Product of two tensors; of bools, their "and"."""
    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Return places drawn by weight, of each row."""
    def multiply(self, other: Any, *, out: Tensor | None = ...) -> Tensor:
        """Return ``input * other``."""
    def multiply_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `multiply` into this tensor."""
    def mv(self, vec: Tensor | complex) -> Tensor:
        """Product of a matrix and a vector."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """Return the logarithm of the multivariate gamma function of dimension `p`."""
    def nan_to_num(
        self,
        nan: builtins.float | None = ...,
        posinf: builtins.float | None = ...,
        neginf: builtins.float | None = ...,
        *,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Replace NaN and the infinities."""
    def nan_to_num_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `nan_to_num` into this tensor."""
    def nanmean(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
        *,
        dtype: DType | None = ...,
    ) -> Tensor:
        """Mean over dimensions of the elements that are not NaN."""
    def nanmedian(
        self,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
    ) -> Any:
        """Return the lower middle of the elements that are not NaN; see `median`."""
    def nanquantile(
        self,
        q: Any,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
        *,
        interpolation: str = ...,
    ) -> Tensor:
        """Return the quantiles of the elements that are not NaN; see `quantile`."""
    def nansum(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
        *,
        dtype: DType | None = ...,
    ) -> Tensor:
        """Sum over dimensions with NaN taken as 0."""
    def narrow(self, dim: builtins.int, start: Any, length: builtins.int) -> Tensor:
        """Return `length` places from `start` along a dimension, as a view."""
    def narrow_copy(
        self,
        dim: builtins.int,
        start: builtins.int,
        length: builtins.int,
    ) -> Tensor:
        """Return a copy of `length` places along `dim`, from `start` on."""
    @property
    def nbytes(self) -> builtins.int:
        """The size of the elements, in bytes."""
    def ndimension(self) -> builtins.int:
        """Return the number of dimensions."""
    def ne(self, other: Tensor | complex) -> Tensor:
        """Whether two tensors differ, element by element."""
    def ne_(self, other: Tensor | complex) -> Tensor:
        """Whether two tensors differ, element by element."""
    def neg(self) -> Tensor:
        """Negative of each element."""
    def neg_(self) -> Tensor:
        """Negative of each element."""
    def negative(self, *, out: Tensor | None = ...) -> Tensor:
        """Return ``-input``."""
    def negative_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `negative` into this tensor."""
    def nelement(self) -> builtins.int:
        """Return the number of elements."""
    def new(self, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of this dtype of data, or of a shape (then it is not set)."""
    def new_empty(self, *sizes: Any, **options: Any) -> Tensor:
        """Make a tensor that is not set, with this tensor's dtype and device."""
    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Tensor:
        """Make a tensor of one number with this tensor's dtype and device."""
    def new_ones(self, *sizes: Any, **options: Any) -> Tensor:
        """Make ones with this tensor's dtype and device; options as of `ones`."""
    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DType | None = ...,
        device: Device | str | None = ...,
        requires_grad: builtins.bool = ...,
    ) -> Tensor:
        """Make a tensor of `data` with this tensor's dtype and device."""
    def new_zeros(self, *sizes: Any, **options: Any) -> Tensor:
        """Make zeros with this tensor's dtype and device; options as of `zeros`."""
    def nextafter(self, other: Tensor | complex) -> Tensor:
        """The next floating number from `input` towards `other`."""
    def nextafter_(self, other: Tensor | complex) -> Tensor:
        """The next floating number from `input` towards `other`."""
    def nonzero(self, *, as_tuple: builtins.bool = ...) -> Any:
        """Return the indices of the elements that are not 0."""
    def norm(
        self,
        p: Any = ...,
        dim: Any = ...,
        keepdim: builtins.bool = ...,
        dtype: DType | None = ...,
    ) -> Tensor:
        """Return the norm of the elements over dimensions."""
    def normal_(
        self,
        mean: builtins.float = ...,
        std: builtins.float = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Fill with normal draws."""
    def not_equal(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
        """Whether two tensors differ, element by element."""
    def not_equal_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `not_equal` into this tensor."""
    def outer(self, vec2: Tensor | complex) -> Tensor:
        """Products of each element of one vector with each of another."""
    def permute(self, *dims: builtins.int) -> Tensor:
        """The dimensions in another order."""
    def pin_memory(self, device: Any = ...) -> Tensor:
        """Return the tensor itself: memory is pinned for a CUDA device, in transfers."""
    def pinverse(self, rcond: builtins.float = ...) -> Tensor:
        """Return the pseudoinverse; singular values below `rcond` times the first are 0."""
    def positive(self) -> Tensor:
        """Return `input` itself, as ``+input`` does."""
    def pow(self, exponent: Any, *, out: Tensor | None = ...) -> Tensor:
        """Return ``input ** exponent``."""
    def pow_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `pow` into this tensor."""
    def prelu(self, weight: Tensor | complex) -> Tensor:
        """Each element, times a learned slope where it is not positive."""
    def prod(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
        *,
        dtype: DType | None = ...,
    ) -> Tensor:
        """Product over a dimension, or over all; of integers in int64."""
    def put(
        self,
        index: Tensor,
        source: Tensor,
        accumulate: builtins.bool = ...,
    ) -> Tensor:
        """Return `input` with `source` put at indices into its flat elements."""
    def put_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `put` into this tensor."""
    def qr(self, some: builtins.bool = ...) -> QR:
        """Return orthonormal columns Q and an upper triangle R of ``Q @ R``."""
    def quantile(
        self,
        q: Any,
        dim: builtins.int | None = ...,
        keepdim: builtins.bool = ...,
        *,
        interpolation: str = ...,
    ) -> Tensor:
        """Return the `q`-th quantiles of all elements, or along a dimension."""
    def rad2deg(self, *, out: Tensor | None = ...) -> Tensor:
        """Return angles given in radians in degrees."""
    def rad2deg_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `rad2deg` into this tensor."""
    def random_(
        self,
        low: builtins.int | None = ...,
        to: builtins.int | None = ...,
        *,
        generator: Generator | None = ...,
    ) -> Tensor:
        """Fill with integers from [0, low), [low, to), or all from zero on."""
    def ravel(self) -> Tensor:
        """Return the elements in one dimension."""
    @property
    def real(input: Tensor) -> Tensor:
        """Return the real part of a complex tensor, or a real tensor itself."""
    @real.setter
    def real(self, value: Any) -> None: ...
    def reciprocal(self) -> Tensor:
        """One divided by each element."""
    def reciprocal_(self) -> Tensor:
        """One divided by each element."""
    def record_stream(self, stream: Any) -> None:
        """Do nothing: CuPy's memory pool follows its own streams."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(gradient)`` whenever the gradient of this tensor is known."""
    def register_post_accumulate_grad_hook(
        self,
        hook: Callable[[Tensor], None],
    ) -> RemovableHandle:
        """Call ``hook(tensor)`` whenever backward has filled this leaf's ``.grad``."""
    def relu(self, inplace: builtins.bool = ..., *, out: Tensor | None = ...) -> Tensor:
        """Return each element, or 0 where it is negative."""
    def relu_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `relu` into this tensor."""
    def remainder(self, other: Tensor | complex) -> Tensor:
        """Remainder with the sign of the divisor, as Python's ``%``."""
    def remainder_(self, other: Tensor | complex) -> Tensor:
        """Remainder with the sign of the divisor, as Python's ``%``."""
    def repeat(self, *repeats: Any) -> Tensor:
        """Return `input` laid several times along each dimension; a copy."""
    def repeat_interleave(
        self,
        repeats: Any = ...,
        dim: builtins.int | None = ...,
        *,
        output_size: builtins.int | None = ...,
    ) -> Tensor:
        """Return each place along `dim` (or each element) repeated, a copy."""
    def reshape(self, *shape: Any) -> Tensor:
        """Return the elements in another shape: a view where possible, else a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """Return `input` in the shape of `other`."""
    def resize(self, *sizes: Any) -> Tensor:
        """Return the elements in another shape of as many elements."""
    def resize_(self, *sizes: Any, memory_format: Any = ...) -> Tensor:
        """Change the shape in place; elements keep their order, new ones are not set."""
    def resolve_conj(self) -> Tensor:
        """Return the tensor itself: nothing is conjugated lazily."""
    def resolve_neg(self) -> Tensor:
        """Return the tensor itself: nothing is negated lazily."""
    def retain_grad(self) -> None:
        """Let backward fill ``.grad`` of this tensor though it is no leaf."""
    def roll(
        self,
        shifts: builtins.int | tuple[builtins.int, ...],
        dims: builtins.int | tuple[builtins.int, ...] | None = ...,
    ) -> Tensor:
        """The elements moved along dimensions, the last ones to the front."""
    def rot90(
        self,
        k: builtins.int = ...,
        dims: Sequence[builtins.int] = ...,
    ) -> Tensor:
        """Return `input` turned `k` times by 90 degrees, from the first dim to the second."""
    def round(
        self,
        *,
        decimals: builtins.int = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Round to a number of decimals, half to even."""
    def round_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `round` into this tensor."""
    def rsqrt(self) -> Tensor:
        """One divided by the square root of each element."""
    def rsqrt_(self) -> Tensor:
        """One divided by the square root of each element."""
    def rsub(self, other: Any, *, alpha: Any = ..., out: Tensor | None = ...) -> Tensor:
        """Return ``other - alpha * input``."""
    def scatter(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Any = ...,
        *,
        value: Any = ...,
        reduce: str | None = ...,
    ) -> Tensor:
        """Return `input` with the elements at `index` along `dim` replaced."""
    def scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `scatter` into this tensor."""
    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """Return `input` with the elements of `src` added at `index` along `dim`."""
    def scatter_add_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `scatter_add` into this tensor."""
    def scatter_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = ...,
    ) -> Tensor:
        """Return `input` with `src` joined in at `index` along `dim`."""
    def scatter_reduce_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `scatter_reduce` into this tensor."""
    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """One place along a dimension, which disappears."""
    def select_scatter(
        self,
        src: Tensor,
        dim: builtins.int,
        index: builtins.int,
    ) -> Tensor:
        """Return a copy of `input` with `src` at one place along `dim`."""
    def selu_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `selu` into this tensor."""
    def set_(self, source: Any = ...) -> Tensor:
        """Let this tensor stand for the memory of another one."""
    def sgn(self) -> Tensor:
        """Sign of each element; of a complex one, the direction, with length 1."""
    def sgn_(self) -> Tensor:
        """Sign of each element; of a complex one, the direction, with length 1."""
    def share_memory_(self) -> Tensor:
        """Return the tensor itself: processes get copies."""
    def short(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Return the tensor as int16: itself if it has that dtype."""
    def sigmoid(self) -> Tensor:
        """Logistic function 1 / (1 + exp(-x)) of each element."""
    def sigmoid_(self) -> Tensor:
        """Logistic function 1 / (1 + exp(-x)) of each element."""
    def sign(self) -> Tensor:
        """-1, 0 or 1; 0 for NaN and -0.0."""
    def sign_(self) -> Tensor:
        """-1, 0 or 1; 0 for NaN and -0.0."""
    def signbit(self) -> Tensor:
        """Whether each element has a minus sign, as -0.0 has."""
    def sin(self) -> Tensor:
        """Sine of each element, in radians."""
    def sin_(self) -> Tensor:
        """Sine of each element, in radians."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), which is 1 at 0."""
    def sinc_(self) -> Tensor:
        """sin(pi x) / (pi x), which is 1 at 0."""
    def sinh(self) -> Tensor:
        """Hyperbolic sine of each element."""
    def sinh_(self) -> Tensor:
        """Hyperbolic sine of each element."""
    def slice_scatter(
        self,
        src: Tensor,
        dim: builtins.int = ...,
        start: builtins.int | None = ...,
        end: builtins.int | None = ...,
        step: builtins.int = ...,
    ) -> Tensor:
        """Return a copy of `input` with `src` in a slice of `dim`."""
    def slogdet(self) -> SignLogDet:
        """Return sign and logarithm of the size of each determinant."""
    def softmax(self, dim: builtins.int, dtype: DType | None = ...) -> Tensor:
        """Exponentials along a dimension, scaled to sum 1."""
    def sort(
        self,
        dim: builtins.int = ...,
        descending: builtins.bool = ...,
        stable: builtins.bool = ...,
    ) -> ValuesIndices:
        """Return the elements in order along `dim`, and where they were."""
    def split(self, split_size_or_sections: Any, dim: builtins.int = ...) -> Any:
        """Return parts along a dimension, as views."""
    def split_with_sizes(
        self,
        split_sizes: tuple[builtins.int, ...],
        dim: builtins.int = ...,
    ) -> tuple[Tensor, ...]:
        """Parts of given sizes along a dimension."""
    def sqrt(self) -> Tensor:
        """Square root of each element; NaN for negative ones."""
    def sqrt_(self) -> Tensor:
        """Square root of each element; NaN for negative ones."""
    def square(self) -> Tensor:
        """Square of each element."""
    def square_(self) -> Tensor:
        """Square of each element."""
    def squeeze(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    ) -> Tensor:
        """Dimensions of size 1 removed."""
    def std(
        self,
        dim: Any = ...,
        unbiased: builtins.bool | None = ...,
        keepdim: builtins.bool = ...,
        *,
        correction: builtins.float | None = ...,
    ) -> Tensor:
        """Return the standard deviation over dimensions; see `var` for the parameters."""
    def storage(self) -> Any:
        """Return the memory of the tensor, as `untyped_storage` does."""
    def storage_offset(self) -> builtins.int:
        """Return how many elements lie before the first one in its storage."""
    def sub(self, other: Any, *, alpha: Any = ..., out: Tensor | None = ...) -> Tensor:
        """Return ``input - alpha * other``."""
    def sub_(self, other: Tensor | complex) -> Tensor:
        """Difference of two tensors."""
    def subtract(
        self,
        other: Any,
        *,
        alpha: Any = ...,
        out: Tensor | None = ...,
    ) -> Tensor:
        """Return ``input - alpha * other``."""
    def subtract_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `subtract` into this tensor."""
    def sum(
        self,
        dim: builtins.int | tuple[builtins.int, ...] | None = ...,
        keepdim: builtins.bool = ...,
        *,
        dtype: DType | None = ...,
    ) -> Tensor:
        """Sum over dimensions, of integers in int64."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """Return the sums over the dimensions that broadcasting to a shape added."""
    def svd(self, some: builtins.bool = ..., compute_uv: builtins.bool = ...) -> OldSVD:
        """Return U, S and V with ``input == U @ diag(S) @ V.mH``."""
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Return two dimensions exchanged, as `transpose` does."""
    def swapdims(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Return two dimensions exchanged, as `transpose` does."""
    def t(self) -> Tensor:
        """Return a matrix transposed; vectors and numbers as they are."""
    def take(self, index: Tensor) -> Tensor:
        """Elements at indices, counted as if there were one dimension; negative too."""
    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = ...) -> Tensor:
        """Return the elements at `indices` along `dim`, the other dimensions broadcast."""
    def tan(self) -> Tensor:
        """Tangent of each element, in radians."""
    def tan_(self) -> Tensor:
        """Tangent of each element, in radians."""
    def tanh(self) -> Tensor:
        """Hyperbolic tangent of each element."""
    def tanh_(self) -> Tensor:
        """Hyperbolic tangent of each element."""
    def tensor_split(self, indices_or_sections: Any, dim: builtins.int = ...) -> Any:
        """Return exactly so many parts of nearly equal size, or parts between indices."""
    def threshold_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `threshold` into this tensor."""
    def tile(self, *dims: Any) -> Tensor:
        """Return `input` laid several times along the last dimensions."""
    def to(
        self,
        *args: Any,
        dtype: DType | None = ...,
        device: Device | str | None = ...,
        non_blocking: builtins.bool = ...,
        copy: builtins.bool = ...,
        memory_format: MemoryFormat | None = ...,
    ) -> Tensor:
        """Return the tensor with another dtype or device: itself if nothing changes."""
    def to_dense(self, dtype: DType | None = ...) -> Tensor:
        """Return the tensor itself, or in another dtype: it is dense."""
    def to_sparse(self, *sizes: Any) -> Tensor:
        """Refuse."""
    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = ...,
        largest: builtins.bool = ...,
        sorted: builtins.bool = ...,
    ) -> ValuesIndices:
        """Return the `k` largest (smallest) elements along `dim`, and where they were."""
    def trace(self) -> Tensor:
        """Return the sum of the diagonal of this matrix."""
    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two dimensions exchanged."""
    def triangular_solve(
        self,
        A: Tensor,
        upper: builtins.bool = ...,
        transpose: builtins.bool = ...,
        unitriangular: builtins.bool = ...,
    ) -> TriangularSolution:
        """Return X with ``A @ X == input`` for one triangle of A, and a copy of A."""
    def tril(self, diagonal: builtins.int = ...) -> Tensor:
        """Matrices with zeros above a diagonal."""
    def tril_(self, diagonal: builtins.int = ...) -> Tensor:
        """Matrices with zeros above a diagonal."""
    def triu(self, diagonal: builtins.int = ...) -> Tensor:
        """Matrices with zeros below a diagonal."""
    def triu_(self, diagonal: builtins.int = ...) -> Tensor:
        """Matrices with zeros below a diagonal."""
    def true_divide(self, other: Any, *, out: Tensor | None = ...) -> Tensor:
        """Return ``input / other``, floating also for integers."""
    def true_divide_(self, *args: Any, **kwargs: Any) -> Tensor:
        """Write the result of `true_divide` into this tensor."""
    def trunc(self) -> Tensor:
        """Integer part of each element."""
    def trunc_(self) -> Tensor:
        """Integer part of each element."""
    def type(self, dtype: DType | str | None = ...) -> Any:
        """Return the tensor in a dtype, or without one the name of its own type."""
    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor in the dtype and on the device of `other`."""
    def unbind(self, dim: builtins.int = ...) -> tuple[Tensor, ...]:
        """All places along a dimension, which disappears."""
    def unflatten(self, dim: builtins.int, sizes: Any) -> Tensor:
        """Return dimension `dim` split into `sizes`, of which one may be -1."""
    def unfold(
        self,
        dimension: builtins.int,
        size: builtins.int,
        step: builtins.int,
    ) -> Tensor:
        """Windows of a size along a dimension, a step apart, as the last dimension."""
    def uniform_(
        self,
        low: builtins.float = ...,
        to: builtins.float = ...,
        *,
        generator: Generator | None = ...,
        **keywords: builtins.float,
    ) -> Tensor:
        """Fill with uniform draws from [from, to); `from` is a keyword of Python's too."""
    def unique(
        self,
        sorted: builtins.bool = ...,
        return_inverse: builtins.bool = ...,
        return_counts: builtins.bool = ...,
        dim: builtins.int | None = ...,
    ) -> Any:
        """Return the distinct elements, in order."""
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = ...,
        return_counts: builtins.bool = ...,
        dim: builtins.int | None = ...,
    ) -> Any:
        """Return one element of each run of equal ones; see `unique`."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """A new dimension of size 1."""
    def untyped_storage(self) -> Storage:
        """Return the memory of the tensor."""
    def var(
        self,
        dim: Any = ...,
        unbiased: builtins.bool | None = ...,
        keepdim: builtins.bool = ...,
        *,
        correction: builtins.float | None = ...,
    ) -> Tensor:
        """Return the variance over dimensions."""
    def vdot(self, other: Tensor | complex) -> Tensor:
        """`dot` with the first vector conjugated."""
    def view(self, *shape: Any, dtype: DType | None = ...) -> Tensor:
        """Return the same memory in another shape, or read as another dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """Return `input` as a view of the shape of `other`."""
    def vsplit(self, indices_or_sections: Any) -> Any:
        """Return parts of `input`, as `tensor_split` does (v)."""
    def where(self, condition: Any, other: Any) -> Any:
        """Return elements of this tensor where the condition holds, else of `other`."""
    def xlogy(self, other: Tensor | complex) -> Tensor:
        """``input * log(other)``, which is 0 where `input` is 0 and `other` not NaN."""
    def xlogy_(self, other: Tensor | complex) -> Tensor:
        """``input * log(other)``, which is 0 where `input` is 0 and `other` not NaN."""
    def zero_(self) -> Tensor:
        """Write zeros everywhere, and return the tensor."""
    def zeros_like(self) -> Tensor: ...
    @staticmethod
    def zeros_of_spec(spec: TensorSpec) -> Tensor: ...


class Parameter(Tensor):
    """A tensor that a Module counts among its parameters."""
    def __new__(cls, data: Any=..., requires_grad: builtins.bool=...) -> Any:
        """Make a parameter that shares the memory of `data`."""
    def __repr__(self) -> str: ...

_new: Any
def wrap(array: Any, cls: builtins.type[Tensor]=...) -> Tensor:
    """Return a new tensor over `array`, without gradient, base or version."""

def version_of(tensor: Tensor) -> list[Any]:
    """Return the version counter, made when first asked for."""

def spec_of(tensor: Tensor) -> TensorSpec:
    """Return the tensor's spec."""

def edge_of(tensor: Tensor) -> Node | ResultEdge | None:
    """Return where the tensor's cotangent goes, now."""

ORIGINS: Any
def _replayed(view: View) -> Tensor: ...

def result_index(edge: Node | ResultEdge | None) -> builtins.int:
    """Return which result of its entry an edge stands for."""

def move_retained(
    tensor: Tensor,
    before: Node | ResultEdge | None,
    after: Node | ResultEdge | None,
) -> None:
    """Let ``retain_grad`` follow a tensor to its new position on the tape."""

def _forget_gradient(tensor: Tensor, edge: Node | ResultEdge | None) -> None: ...

def _check_grad(tensor: Tensor, value: Any) -> None: ...

def _from_data(cls: builtins.type[Tensor], *args: Any, **kwargs: Any) -> Any: ...
