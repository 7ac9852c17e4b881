"""The Tensor: an array, perhaps a tape position, perhaps a base it is a view of.

Operators become methods when they are defined (`tracegrad.dispatch.surface`); what
is written here is what a tensor is, not what can be computed with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from tracegrad.device import CPU, Device, device_of_array
from tracegrad.dispatch.argument_errors import no_dimension
from tracegrad.dispatch.entry import (
    INFERENCE,
    Edge,
    LeafEntry,
    ResultEdge,
    Version,
    hooks_of,
)
from tracegrad.dispatch.host import (
    check_convertible,
    copied_to_host,
    host_array,
    warn_of_lost_gradient,
)
from tracegrad.dispatch.state import installed, paused_recorder, spoil, thread
from tracegrad.dtypes import DType, from_numpy_dtype
from tracegrad.errors import (
    ArgumentTypeError,
    GradientError,
    InplaceError,
    ScalarError,
)
from tracegrad.location import warn
from tracegrad.sizes import Size
from tracegrad.spec import TensorSpec


@final
class View:
    """How a tensor is a view of a base.

    Attributes
    ----------
    base : Tensor
        The tensor that is no view itself.
    path : tuple of (OpDef, dict, int)
        View operators from the base to here, with attributes and result index.
    stamp : Edge or None
        The base's tape position for which the view's own is valid.
    origin : str
        ``""``, or why in-place operators under grad are refused: ``"no_grad"``
        (made without gradients), ``"multiple"`` (one of several results).
    """

    __slots__ = ("base", "origin", "path", "stamp")

    def __init__(
        self, base: Tensor, path: tuple[Any, ...], stamp: Edge | None, origin: str
    ) -> None:
        self.base = base
        self.path = path
        self.stamp = stamp
        self.origin = origin


class Tensor:
    """A multi-dimensional array with PyTorch's semantics.

    Attributes
    ----------
    _array : ndarray, or TensorSpec on the meta device
    _node : Edge or None
        Where the cotangent goes; None for a tensor that needs no gradient.
    _view : View or None
    _counter : list of one int, or None before anybody asked
        Counts writes; shared by a base, its views and its detached aliases.
    _grad : Tensor or None
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_counter",
        "_grad",
        "_node",
        "_view",
    )

    # NumPy hands binary operators with an ndarray on the left to us.
    __array_priority__ = 1000

    _array: Any
    _node: Edge | None
    _view: View | None
    _counter: Version | None
    _grad: Tensor | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor from data, as ``tracegrad.tensor`` does (float32)."""
        return _from_data(cls, *args, **kwargs)

    # -- what it is -------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return Size(self._array.shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        dtype = self._array.dtype
        return dtype if dtype.__class__ is DType else from_numpy_dtype(dtype)

    @property
    def device(self) -> Device:
        """Where the data lives."""
        array = self._array
        if array.__class__ is np.ndarray:
            return CPU
        if array.__class__ is TensorSpec:
            found: Device = array.device
            return found
        return device_of_array(array)

    @property
    def is_cuda(self) -> bool:
        """Whether the data lives on a CUDA device."""
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the data lives on the CPU."""
        return self.device.type == "cpu"

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._array.ndim)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return int(self._array.ndim)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension."""
        if dim is None:
            return self.shape
        try:
            return self.shape[dim]
        except (TypeError, IndexError):
            raise no_dimension("size", dim, self.ndim) from None

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self._array.size)

    def element_size(self) -> int:
        """Return the size of one element, in bytes."""
        return self.dtype.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides in elements, or that of one dimension."""
        strides = spec_of(self).strides
        if dim is None:
            return strides
        try:
            return strides[dim]
        except (TypeError, IndexError):
            raise no_dimension("stride", dim, self.ndim) from None

    def is_contiguous(self) -> bool:
        """Return whether the elements lie in row-major order without gaps."""
        return spec_of(self).is_contiguous()

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a real floating type."""
        return self.dtype.kind == "float"

    def is_complex(self) -> bool:
        """Return whether the dtype is complex."""
        return self.dtype.kind == "complex"

    @property
    def is_meta(self) -> bool:
        """Whether it has a spec only."""
        return self._array.__class__ is TensorSpec

    # -- autograd ---------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are wanted for it."""
        try:
            return edge_of(self) is not None
        except InplaceError:
            # A view whose place on the tape can't be found: it had one.
            return True

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether gradients are wanted for this leaf, and return it.

        Raises
        ------
        GradientError
            If its dtype is neither floating nor complex, or it is no leaf.
        """
        if installed.learning:
            spoil()
        edge = edge_of(self)
        if thread.recorder is not None and requires_grad != (edge is not None):
            thread.recorder.touches(self, "changes the requires_grad")
        if not requires_grad:
            _forget_gradient(self, edge)
            return self
        if self.dtype.kind not in ("float", "complex"):
            raise GradientError(
                "only tensors of floating or complex dtype can require gradients, "
                f"this one is {self.dtype.name}"
            )
        if self.is_inference() and not thread.inference:
            raise GradientError(
                "an inference tensor can't require gradients outside inference_mode; "
                "use its clone()"
            )
        if edge is None:
            version_of(self)
            self._view = None
            # The same entry as before, if it was a leaf that required gradients once.
            self._node = self.__dict__.pop("_entry_of_leaf", None) or LeafEntry(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it is the start of the tape (or not on it)."""
        edge = edge_of(self)
        return edge is None or edge.__class__ is LeafEntry

    @property
    def grad_fn(self) -> Any:
        """The tape entry that made it, or None for a leaf."""
        edge = edge_of(self)
        if edge.__class__ is LeafEntry:
            return None
        return edge.entry if edge.__class__ is ResultEdge else edge  # type: ignore[union-attr]

    @property
    def output_nr(self) -> int:
        """Which result of its tape entry it is."""
        return result_index(edge_of(self))

    @property
    def _version(self) -> int:
        """How often its memory was written by tracegrad."""
        return int(version_of(self)[0])

    def is_inference(self) -> bool:
        """Return whether it was made in inference mode."""
        return self._counter is INFERENCE

    @property
    def retains_grad(self) -> bool:
        """Whether it is no leaf and `retain_grad` was called."""
        entry = self.grad_fn
        if entry is None or entry.hooks is None:
            return False
        reference = entry.hooks.retained.get(self.output_nr)
        return reference is not None and reference() is self

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf, or None."""
        recorder = thread.recorder
        if recorder is not None:
            found: Tensor | None = recorder.read_grad(self)
            return found
        grad = self._grad
        if grad is None and not self.is_leaf and not self.retains_grad:
            warn(
                "this tensor is no leaf: its .grad is not filled by backward(); "
                "call retain_grad() on it first, or read the leaf's",
            )
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _check_grad(self, value)
        if thread.recorder is not None:
            thread.recorder.bind_grad(self, value)
        self._grad = value

    @property
    def _base(self) -> Tensor | None:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    # -- to Python --------------------------------------------------------------

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises
        ------
        ScalarError
            If there is not exactly one element.
        """
        if self.numel() != 1:
            raise ScalarError(
                f"item() wants one element, this tensor has {self.numel()} "
                f"(shape {list(self.shape)})"
            )
        value = copied_to_host(self, "item()").item()
        recorder = thread.recorder
        return value if recorder is None else recorder.took(self, value)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        value = copied_to_host(self, "tolist()").tolist()
        recorder = thread.recorder
        return value if recorder is None else recorder.took(self, value)

    def numpy(self, *, force: bool = False) -> Any:
        """Return the data as a NumPy array that shares memory.

        Raises
        ------
        GradientError
            If the tensor requires grad and `force` is not given.
        ArgumentTypeError
        If it is on another device and `force` is not given.
        """
        if self.requires_grad and not force:
            raise GradientError(
                "numpy() on a tensor that requires grad would lose the gradient; "
                "use tensor.detach().numpy()"
            )
        array = (copied_to_host if force else host_array)(self, "numpy()")
        recorder = thread.recorder
        return array if recorder is None else recorder.took(self, array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise ScalarError(
                "the truth of a tensor is defined for one element, this one has "
                f"{self.numel()} (shape {list(self.shape)}); use any() or all()"
            )
        if thread.recorder is not None and self.dtype.kind != "bool":
            # Only the truth is taken into Python, not the value.
            return bool(self.ne(0).item())  # type: ignore[attr-defined]
        return bool(self.item())

    def __int__(self) -> int:
        check_convertible(self, "int()")
        return int(self.item())

    def __float__(self) -> float:
        check_convertible(self, "float()")
        warn_of_lost_gradient(self)
        return float(self.item())

    def __complex__(self) -> complex:
        check_convertible(self, "complex()")
        warn_of_lost_gradient(self)
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.kind not in ("int", "bool"):
            raise ArgumentTypeError(
                f"only an integer tensor can be an index, this one is {self.dtype.name}"
            )
        return int(self.item())

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ArgumentTypeError("len() of a tensor without dimensions")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise ArgumentTypeError("a tensor without dimensions cannot be iterated")
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return id(self)


class Parameter(Tensor):
    """A tensor that a Module counts among its parameters.

    Parameters
    ----------
    data : Tensor, any shape
    requires_grad : bool
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Make a parameter that shares the memory of `data`."""
        if data is not None and not isinstance(data, Tensor):
            raise ArgumentTypeError(
                f"a Parameter is made of a Tensor, not of {type(data).__name__}"
            )
        source = Tensor([]) if data is None else data
        self = wrap(source._array, cls)
        if requires_grad:
            self.requires_grad_()
        return self

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


_new = object.__new__


def wrap(array: Any, cls: type[Tensor] = Tensor) -> Tensor:
    """Return a new tensor over `array`, without gradient, base or version."""
    self: Tensor = _new(cls)
    self._array = array
    self._node = None
    self._view = None
    self._counter = None
    self._grad = None
    return self


def version_of(tensor: Tensor) -> Version:
    """Return the version counter, made when first asked for."""
    version = tensor._counter
    if version is None:
        view = tensor._view
        version = tensor._counter = [0] if view is None else version_of(view.base)
    return version


def spec_of(tensor: Tensor) -> TensorSpec:
    """Return the tensor's spec."""
    array = tensor._array
    if array.__class__ is TensorSpec:
        found: TensorSpec = array
        return found
    if not hasattr(array, "itemsize"):
        # One example of a batch, inside vmap.
        example: TensorSpec = array.spec
        return example
    itemsize = array.dtype.itemsize
    strides = tuple(step // itemsize for step in array.strides)
    return TensorSpec(tensor.dtype, array.shape, strides, tensor.device)


def edge_of(tensor: Tensor) -> Edge | None:
    """Return where the tensor's cotangent goes, now.

    A view of a base that was written in place since gets a new position: the view
    operators are applied again to the base.

    Raises
    ------
    InplaceError
        If the view was made in a way that has no derivative: under no_grad, or as
        one of several results.
    """
    view = tensor._view
    if view is None or view.base._node is view.stamp:
        return tensor._node
    written = view.base._node
    if written is None or (view.origin and written.__class__ is LeafEntry):
        # Not a write: `requires_grad_` or `detach_` changed the base.
        view.stamp = written
        return tensor._node
    if view.origin:
        raise InplaceError(
            f"a view {ORIGINS[view.origin]} can't be used after its base, or another "
            "view of it, was written in place with gradients on; make it again, or "
            "clone() it first"
        )
    before = tensor._node
    tensor._node = _replayed(view)._node
    view.stamp = view.base._node
    move_retained(tensor, before, tensor._node)
    return tensor._node


# How views that can't be regenerated were made.
ORIGINS = {
    "no_grad": "made under no_grad",
    "multiple": "that is one of several results of one operator (split, unbind)",
}


def _replayed(view: View) -> Tensor:
    with paused_recorder():
        again = view.base
        before, thread.grad_enabled = thread.grad_enabled, True
        try:
            for operator, attributes, index in view.path:
                results = operator.apply((again,), attributes)
                again = results[index] if results.__class__ is tuple else results
        finally:
            thread.grad_enabled = before
    return again


def result_index(edge: Edge | None) -> int:
    """Return which result of its entry an edge stands for."""
    return edge.index if edge.__class__ is ResultEdge else 0  # type: ignore[union-attr]


def move_retained(tensor: Tensor, before: Edge | None, after: Edge | None) -> None:
    """Let ``retain_grad`` follow a tensor to its new position on the tape."""
    entry: Any = before.entry if isinstance(before, ResultEdge) else before
    if entry is None or entry.hooks is None or after is None:
        return
    index = result_index(before)
    reference = entry.hooks.retained.get(index)
    if reference is None or reference() is not tensor:
        return
    del entry.hooks.retained[index]
    target = after.entry if isinstance(after, ResultEdge) else after
    hooks_of(target).retained[result_index(after)] = reference


def _forget_gradient(tensor: Tensor, edge: Edge | None) -> None:
    if edge is None:
        return
    if edge.__class__ is not LeafEntry:
        raise GradientError(
            "requires_grad can be cleared on leaves only; "
            "use detach() to get a tensor without gradient"
        )
    tensor.__dict__["_entry_of_leaf"] = edge
    tensor._node = None


def _check_grad(tensor: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(
            f"grad must be a Tensor or None, not {type(value).__name__}"
        )
    if value is tensor:
        raise GradientError("a tensor can't be its own grad")
    if value._array.shape != tensor._array.shape or value.dtype is not tensor.dtype:
        raise GradientError(
            f"grad must have the tensor's shape {list(tensor.shape)} and dtype "
            f"{tensor.dtype.name}, not {list(value.shape)} and {value.dtype.name}"
        )
    if value.device != tensor.device:
        raise GradientError(
            f"grad must be on the tensor's device {tensor.device}, not {value.device}"
        )


def _from_data(cls: type[Tensor], *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("replaced when the creation operators are defined")
