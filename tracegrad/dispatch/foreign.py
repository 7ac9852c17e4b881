"""Arrays of a third party's library, behind the names that kernels use.

Kernels are written with NumPy's names and semantics. A library that follows the
Python array API standard (https://data-apis.org/array-api/2024.12/) has other names,
arrays that may be immutable, and no strides. `ForeignArray` holds such an array and
shows what NumPy's would; `ForeignNamespace` has those of NumPy's functions that a
function of the standard gives exactly. What is not among them raises `MissingError`,
and the operator is computed by NumPy, on a copy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracegrad.errors import DTypeError, InplaceError


class _Flags:
    """The flags that kernels and transforms ask for."""

    c_contiguous = True

    def __init__(self, array: ForeignArray) -> None:
        self._array = array

    @property
    def writeable(self) -> bool:
        """Whether writes reach whom they are meant for."""
        return self._array.writeable

    @writeable.setter
    def writeable(self, value: bool) -> None:
        self._array.writeable = value


class MissingError(Exception):
    """What a kernel asks of an array or a namespace that the standard has not."""


class ForeignArray:
    """An array of another library; each backend has a subclass.

    Parameters
    ----------
    value : array of the library

    Attributes
    ----------
    parent : ForeignArray or None
        What this is a view of. Libraries' arrays may be immutable, so a view is
        computed again after its root was written.
    """

    namespace: ForeignNamespace

    __slots__ = ("_stamp", "_step", "_value", "parent", "writeable", "writes")

    # NumPy's operators leave the work to ours.
    __array_ufunc__ = None

    def __init__(self, value: Any) -> None:
        self._value = value
        self.parent: ForeignArray | None = None
        self._step: Callable[[Any, Any], Any] | None = None
        self._stamp = 0
        self.writes = 0
        self.writeable = True

    # -- views and writes --------------------

    def follow(self, parent: ForeignArray, step: Callable[[Any, Any], Any]) -> None:
        """Become a view: ``step(xp, parent's array)``."""
        self.parent, self._step = parent, step
        self._stamp = self.root().writes

    def root(self) -> ForeignArray:
        """Return what this is a view of in the end."""
        return self if self.parent is None else self.parent.root()

    @property
    def value(self) -> Any:
        """The library's array, as it is now."""
        if self.parent is not None and self._stamp != self.root().writes:
            self._stamp = self.root().writes
            self._value = self.namespace.lifted(self._host_view(self.parent.host()))
        return self._value

    def _host_view(self, array: Any) -> Any:
        assert self._step is not None
        return self._step(np, array)

    def write(self, source: Any) -> None:
        """Let the memory that this stands for hold `source`, seen by all its views."""
        if not self.writeable:
            raise InplaceError("a write in place: the target's memory is read-only")
        host = to_host(source)
        if self.parent is None:
            self._value = self.namespace.lifted(host)
            self.writes += 1
            return
        root = self.root()
        whole = np.array(root.host(), copy=True)
        np.copyto(self._within(whole), host)
        root._value = self.namespace.lifted(whole)
        root.writes += 1

    def _within(self, whole: Any) -> Any:
        """Return the part of the root's array that this is a view of."""
        if self.parent is None:
            return whole
        return self._host_view(self.parent._within(whole))

    def host(self) -> Any:
        """Return the contents as a NumPy array, which may share memory."""
        return self.namespace.to_numpy(self.value)

    # -- what NumPy's arrays show --------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(self._value.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return self.namespace.numpy_dtype(self._value.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._value.shape)

    @property
    def itemsize(self) -> int:
        """Size of one element, in bytes."""
        return self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of a row-major array: the standard knows none."""
        steps, step = [], self.itemsize
        for size in reversed(self.shape):
            steps.append(step)
            step *= max(size, 1)
        return tuple(reversed(steps))

    @property
    def flags(self) -> Any:
        """Row-major, as `strides` says."""
        return _Flags(self)

    @property
    def T(self) -> ForeignArray:  # noqa: N802 - NumPy's name
        """The dimensions in reverse."""
        return self.namespace.transpose(self)  # type: ignore[no-any-return]

    @property
    def real(self) -> ForeignArray:
        """The real part."""
        return self.namespace.real(self)  # type: ignore[no-any-return]

    @property
    def imag(self) -> ForeignArray:
        """The imaginary part."""
        return self.namespace.imag(self)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.value)

    def __neg__(self) -> Any:
        return self.namespace.negative(self)

    def __invert__(self) -> Any:
        return self.namespace.invert(self)

    def __abs__(self) -> Any:
        return self.namespace.absolute(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in _METHODS:
            raise AttributeError(name)
        return functools.partial(getattr(self.namespace, name), self)

    def __getitem__(self, key: Any) -> ForeignArray:
        parts = key if isinstance(key, tuple) else (key,)
        basic = (int, slice, type(None), type(Ellipsis))
        if not all(isinstance(part, basic) for part in parts):
            raise MissingError("indexing by arrays")
        if not any(part is Ellipsis for part in parts):
            parts = (*parts, Ellipsis)
        return type(self)(self.value[parts])


_METHODS = frozenset({
    "astype", "reshape", "transpose", "copy", "sum", "max", "min", "any", "all",
    "squeeze", "swapaxes", "conj",
})  # fmt: skip


def to_host(source: Any) -> Any:
    """Return NumPy's array for an array of whatever library."""
    if isinstance(source, ForeignArray):
        return source.host()
    # CuPy's arrays are copied to the host by name only.
    return source.get() if hasattr(source, "get") else np.asarray(source)


def _operator(name: str, swapped: bool = False) -> Any:
    def method(self: ForeignArray, other: Any) -> Any:
        function = getattr(self.namespace, name)
        return function(other, self) if swapped else function(self, other)

    return method


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
    "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor",
}  # fmt: skip
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
for _short, _name in _BINARY.items():
    setattr(ForeignArray, f"__{_short}__", _operator(_name))
    setattr(ForeignArray, f"__r{_short}__", _operator(_name, swapped=True))
for _short, _name in _COMPARISONS.items():
    setattr(ForeignArray, f"__{_short}__", _operator(_name))
ForeignArray.__hash__ = object.__hash__  # type: ignore[assignment]


# NumPy's name: the standard's, for element-wise functions of the same meaning.
_SAME = {
    "add", "subtract", "multiply", "divide", "negative", "positive", "sin", "cos",
    "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p", "log2", "log10",
    "sqrt", "square", "sign", "floor", "ceil", "trunc", "remainder", "floor_divide",
    "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_not", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "isnan", "isinf", "isfinite",
    "logaddexp", "hypot", "copysign", "signbit", "nextafter", "reciprocal", "conj",
    "real", "imag", "where",
}  # fmt: skip
ELEMENTWISE = {name: name for name in sorted(_SAME)} | {
    "true_divide": "divide", "absolute": "abs", "abs": "abs", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "power": "pow", "mod": "remainder",
    "rint": "round", "conjugate": "conj", "invert": "bitwise_invert",
    "bitwise_not": "bitwise_invert",
}  # fmt: skip
_REDUCTIONS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
    "logical_and": "all", "logical_or": "any",
}  # fmt: skip


class _Elementwise:
    """One of NumPy's ufuncs, by the standard's function."""

    def __init__(self, namespace: ForeignNamespace, name: str) -> None:
        self.namespace = namespace
        self.name = name

    def __call__(self, *operands: Any, **options: Any) -> Any:
        if options:
            raise MissingError(f"{self.name} with {sorted(options)}")
        function = self.namespace.standard(ELEMENTWISE[self.name])
        values = [self.namespace.operand(o) for o in operands]
        return self.namespace.wrapped(function(*values))

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: bool = False
    ) -> Any:
        """Fold along dimensions."""
        if self.name not in _REDUCTIONS:
            raise MissingError(f"{self.name}.reduce")
        return self.namespace.fold(_REDUCTIONS[self.name], array, axis, dtype, keepdims)


class ForeignNamespace:
    """NumPy's functions, as far as a library of the standard has them.

    Parameters
    ----------
    name : str
        Of the backend.
    namespace : module
        The library.
    """

    def __init__(self, name: str, namespace: Any) -> None:
        self.library = namespace
        members = {"namespace": self, "__slots__": ()}
        self.array_type: type[ForeignArray] = type(
            name.title().replace("_", "") + "Array", (ForeignArray,), members
        )
        self._ufuncs = {n: _Elementwise(self, n) for n in ELEMENTWISE}
        self._dtypes: dict[Any, np.dtype[Any]] = {}

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("_ufuncs", {}).get(name)
        if found is not None:
            return found
        plain = getattr(np, name, None)
        # dtypes and numbers; a function or ufunc is one that the standard has not.
        if isinstance(plain, type | float | int | type(None)) and hasattr(np, name):
            return plain
        raise MissingError(name)

    # -- to and from --------------------

    def standard(self, name: str) -> Any:
        """Return a function of the library."""
        found = getattr(self.library, name, None)
        if found is None:
            raise MissingError(name)
        return found

    def numpy_dtype(self, dtype: Any) -> np.dtype[Any]:
        """Return NumPy's dtype for the library's."""
        found = self._dtypes.get(dtype)
        if found is None:
            try:
                found = np.dtype(dtype)
            except TypeError:
                found = np.dtype(str(dtype).rpartition(".")[2])
            self._dtypes[dtype] = found
        return found

    def own_dtype(self, dtype: Any) -> Any:
        """Return the library's dtype for NumPy's."""
        name = np.dtype(dtype).name
        found = getattr(self.library, name, None)
        if found is None:
            raise DTypeError(f"{self.library.__name__} has no dtype {name}")
        return found

    def lifted(self, array: Any) -> Any:
        """Return the library's array with the contents of NumPy's.

        Raises
        ------
        DTypeError
            If the library can't hold the dtype.
        """
        array = np.asarray(array)
        value = self.library.asarray(
            np.ascontiguousarray(array).reshape(array.shape),
            dtype=self.own_dtype(array.dtype),
            copy=True,
        )
        if self.numpy_dtype(value.dtype) != array.dtype:
            raise DTypeError(
                f"{self.library.__name__} made {value.dtype} of {array.dtype}; "
                "allow the wider dtypes there (jax: jax_enable_x64)"
            )
        return value

    def to_numpy(self, value: Any) -> Any:
        """Return NumPy's array with the contents of the library's."""
        try:
            found = np.from_dlpack(value)
        except (AttributeError, TypeError, BufferError, RuntimeError):
            found = np.asarray(value)
        return found

    def operand(self, value: Any) -> Any:
        """Return an operand as the library takes it."""
        if isinstance(value, ForeignArray):
            return value.value
        if isinstance(value, np.ndarray | np.generic):
            return self.lifted(value)
        if isinstance(value, bool | int | float | complex):
            return value
        raise MissingError(f"an operand of type {type(value).__name__}")

    def wrapped(self, value: Any) -> Any:
        """Return the library's array as kernels see it."""
        return self.array_type(value)

    # -- functions whose options differ --------------------

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """As NumPy's."""
        if not isinstance(value, ForeignArray):
            value = self.wrapped(self.lifted(np.asarray(value, dtype)))
        return value if dtype is None else self.astype(value, dtype)

    ascontiguousarray = asarray

    def array(
        self, value: Any, dtype: Any = None, copy: bool = True, order: str = "K"
    ) -> Any:
        """As NumPy's; the library's arrays are never written, so none is copied."""
        found = self.asarray(value, dtype)
        return self.wrapped(found.value) if found is value else found

    def copy(self, value: Any, order: str = "K") -> Any:
        """As NumPy's."""
        return self.wrapped(value.value)

    def astype(self, array: Any, dtype: Any, copy: bool = True) -> Any:
        """As NumPy's method, between dtypes where the standard defines it."""
        wanted = np.dtype(dtype)
        if wanted == array.dtype:
            return self.wrapped(array.value)
        if array.dtype.kind in "fc" and wanted.kind not in "fcb":
            raise MissingError("casts that cut")
        if array.dtype.kind == "c" and wanted.kind != "c":
            raise MissingError("casts that cut")
        function = self.standard("astype")
        return self.wrapped(function(array.value, self.own_dtype(wanted)))

    def fold(self, name: str, array: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
        """Fold dimensions by a function of the standard."""
        if axis == ():
            raise MissingError("a fold of no dimensions")
        options: dict[str, Any] = {"axis": axis, "keepdims": bool(keepdims)}
        if name in ("sum", "prod"):
            wanted = array.dtype if dtype is None else dtype
            options["dtype"] = self.own_dtype(wanted)
        return self.wrapped(self.standard(name)(array.value, **options))

    def sum(
        self, array: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False
    ) -> Any:
        """As NumPy's."""
        if array.dtype.kind not in "fc":
            raise MissingError("sum of integers without a dtype")
        return self.fold("sum", array, axis, dtype, keepdims)

    def any(self, array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """As NumPy's."""
        return self.fold("any", array, axis, None, keepdims)

    def all(self, array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """As NumPy's."""
        return self.fold("all", array, axis, None, keepdims)

    def max(self, array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """As NumPy's."""
        return self.fold("max", array, axis, None, keepdims)

    def min(self, array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """As NumPy's."""
        return self.fold("min", array, axis, None, keepdims)

    def reshape(self, array: Any, *shape: Any) -> Any:
        """As NumPy's function and method."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self.wrapped(self.standard("reshape")(array.value, tuple(sizes)))

    def transpose(self, array: Any, *axes: Any) -> Any:
        """As NumPy's function and method."""
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = tuple(axes[0]) if axes[0] is not None else ()
        order = axes or tuple(reversed(range(array.ndim)))
        return self.wrapped(self.standard("permute_dims")(array.value, tuple(order)))

    def swapaxes(self, array: Any, first: int, second: int) -> Any:
        """As NumPy's."""
        order = list(range(array.ndim))
        order[first], order[second] = order[second], order[first]
        return self.transpose(array, order)

    def squeeze(self, array: Any, axis: Any) -> Any:
        """As NumPy's, with the dimensions given."""
        return self.wrapped(self.standard("squeeze")(array.value, axis))

    def expand_dims(self, array: Any, axis: int) -> Any:
        """As NumPy's."""
        return self.wrapped(self.standard("expand_dims")(array.value, axis=axis))

    def broadcast_to(self, array: Any, shape: Sequence[int]) -> Any:
        """As NumPy's."""
        function = self.standard("broadcast_to")
        return self.wrapped(function(array.value, tuple(shape)))

    @property
    def lib(self) -> Any:
        """Where NumPy has `as_strided`; here it repeats dimensions of size 1."""
        return _Strides(self)

    def moveaxis(self, array: Any, source: int, destination: int) -> Any:
        """As NumPy's."""
        function = self.standard("moveaxis")
        return self.wrapped(function(array.value, source, destination))

    def flip(self, array: Any, axis: Any = None) -> Any:
        """As NumPy's."""
        return self.wrapped(self.standard("flip")(array.value, axis=axis))

    def roll(self, array: Any, shift: Any, axis: Any = None) -> Any:
        """As NumPy's."""
        return self.wrapped(self.standard("roll")(array.value, shift, axis=axis))

    def tril(self, array: Any, k: int = 0) -> Any:
        """As NumPy's."""
        return self.wrapped(self.standard("tril")(array.value, k=k))

    def triu(self, array: Any, k: int = 0) -> Any:
        """As NumPy's."""
        return self.wrapped(self.standard("triu")(array.value, k=k))

    def cumsum(self, array: Any, axis: int) -> Any:
        """As NumPy's, of floats."""
        if array.dtype.kind not in "fc":
            raise MissingError("cumsum of integers without a dtype")
        function = self.standard("cumulative_sum")
        return self.wrapped(function(array.value, axis=axis))

    def dot(self, x: Any, y: Any) -> Any:
        """As NumPy's, of vectors and matrices."""
        if not (1 <= x.ndim <= 2 and 1 <= y.ndim <= 2):
            raise MissingError("dot of arrays that are no matrices")
        return self.matmul(x, y)

    def matmul(self, x: Any, y: Any) -> Any:
        """As NumPy's."""
        function = self.standard("matmul")
        return self.wrapped(function(self.operand(x), self.operand(y)))

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        """As NumPy's."""
        values = [self.operand(array) for array in arrays]
        return self.wrapped(self.standard("concat")(values, axis=axis))

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        """As NumPy's."""
        values = [self.operand(array) for array in arrays]
        return self.wrapped(self.standard("stack")(values, axis=axis))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        """As NumPy's."""
        return self.wrapped(self.lifted(np.full(shape, value, dtype)))

    def __dir__(self) -> list[str]:
        return sorted({*type(self).__dict__, *ELEMENTWISE})


class _Strides:
    """`np.lib.stride_tricks`, as far as it repeats dimensions of size 1."""

    def __init__(self, namespace: ForeignNamespace) -> None:
        self.namespace = namespace
        self.stride_tricks = self

    def as_strided(self, array: Any, shape: Any, strides: Any) -> Any:
        """As NumPy's where that is a broadcast."""
        extra = len(shape) - array.ndim
        own = [
            step if size == wanted else 0
            for size, step, wanted in zip(
                array.shape, array.strides, tuple(shape)[extra:], strict=True
            )
        ]
        if [0] * extra + own != list(strides):
            raise MissingError("as_strided")
        return self.namespace.broadcast_to(array, shape)
