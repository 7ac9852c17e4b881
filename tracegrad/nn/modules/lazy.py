"""Layers that find the size of their input at the first call."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ShapeError
from tracegrad.nn.modules import batchnorm, conv
from tracegrad.nn.modules.linear import Linear
from tracegrad.nn.modules.module import Module
from tracegrad.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from tracegrad.ops.conversion import tensor


class LazyModuleMixin(Module):
    """A module that becomes one of `cls_to_become` when it sees its first input.

    A subclass defines `_sizes_from`, which completes the shapes.
    """

    cls_to_become: type[Module]

    def _watch_first_call(self) -> None:
        own: Any = self
        own._first_call = self.register_forward_pre_hook(_at_first_call)
        own._first_load = self.register_load_state_dict_pre_hook(_at_first_load)

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or buffer has no shape yet."""
        held = [*self._parameters.values(), *self._buffers.values()]
        return any(is_lazy(tensor) for tensor in held)

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that an input asks for, and draw them."""
        if self.has_uninitialized_params():
            self._sizes_from(input)
            self.reset_parameters()

    def _sizes_from(self, input: Tensor) -> None:
        """Complete the shapes; a subclass defines it."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they have a shape."""
        if not self.has_uninitialized_params():
            known: Any = self.cls_to_become
            known.reset_parameters(self)

    def _become_known(self) -> None:
        own: Any = self
        own._first_call.remove()
        own._first_load.remove()
        del own._first_call, own._first_load
        own.__class__ = self.cls_to_become


def _at_first_call(module: Any, args: Any) -> None:
    module.initialize_parameters(*args)
    if module.has_uninitialized_params():
        raise ShapeError(
            f"{type(module).__name__}: initialize_parameters left a parameter without "
            "a shape"
        )
    module._become_known()


def _at_first_load(module: Any, state: Any, prefix: str, *_: Any) -> None:
    held = [*module._parameters.items(), *module._buffers.items()]
    for name, own in held:
        given = state.get(prefix + name)
        if is_lazy(own) and isinstance(given, Tensor) and not is_lazy(given):
            own.materialize(given.shape)


def _of_options(device: Any, dtype: Any) -> UninitializedParameter:
    lazy: UninitializedParameter = UninitializedParameter(device=device, dtype=dtype)
    return lazy


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose `in_features` are those of its first input.

    Parameters
    ----------
    out_features : int
    bias : bool
    device : Device or str, optional
    dtype : DType, optional
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        Linear.__init__(self, 0, 0, False)
        self.weight = _of_options(device, dtype)
        self.out_features = out_features
        if bias:
            self.bias = _of_options(device, dtype)
        self._watch_first_call()

    def _sizes_from(self, input: Tensor) -> None:
        self.in_features = input.shape[-1]
        weight: Any = self.weight
        weight.materialize((self.out_features, self.in_features))
        bias: Any = self.bias
        if bias is not None:
            bias.materialize((self.out_features,))


class _LazyConv(LazyModuleMixin, conv._Conv):
    """What the convolutions share that find `in_channels` at the first call."""

    def _become_lazy(
        self, out_channels: int, bias: bool, device: Any, dtype: Any
    ) -> None:
        self.weight = _of_options(device, dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = _of_options(device, dtype)
        self._watch_first_call()

    def _sizes_from(self, input: Tensor) -> None:
        if input.ndim not in (self.rank + 1, self.rank + 2):
            raise ShapeError(
                f"{type(self).__name__}: the input must have {self.rank + 1} or "
                f"{self.rank + 2} dimensions, not shape {list(input.shape)}"
            )
        self.in_channels = input.shape[-self.rank - 1]
        conv._check_groups(self.in_channels, self.out_channels, self.groups)
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        weight: Any = self.weight
        weight.materialize((first, second // self.groups, *self.kernel_size))
        bias: Any = self.bias
        if bias is not None:
            bias.materialize((self.out_channels,))


class _LazyForward(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        geometry = (kernel_size, stride, padding, dilation, groups)
        known: Any = self.cls_to_become
        known.__init__(self, 0, 0, *geometry, False, padding_mode)
        self._become_lazy(out_channels, bias, device, dtype)


class _LazyTransposed(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        geometry = (kernel_size, stride, padding, output_padding, groups)
        known: Any = self.cls_to_become
        known.__init__(self, 0, 0, *geometry, False, dilation, padding_mode)
        self._become_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, conv.Conv1d):
    """A `Conv1d` whose `in_channels` are those of its first input."""

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyForward, conv.Conv2d):
    """A `Conv2d` whose `in_channels` are those of its first input."""

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyForward, conv.Conv3d):
    """A `Conv3d` whose `in_channels` are those of its first input."""

    cls_to_become = conv.Conv3d


class LazyConvTranspose1d(_LazyTransposed, conv.ConvTranspose1d):
    """A `ConvTranspose1d` whose `in_channels` are those of its first input."""

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, conv.ConvTranspose2d):
    """A `ConvTranspose2d` whose `in_channels` are those of its first input."""

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, conv.ConvTranspose3d):
    """A `ConvTranspose3d` whose `in_channels` are those of its first input."""

    cls_to_become = conv.ConvTranspose3d


class _LazyNorm(LazyModuleMixin, batchnorm._RunningStatistics):
    """What the normalizations share that find `num_features` at the first call."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        known: Any = self.cls_to_become
        known.__init__(self, 0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = _of_options(device, dtype)
        if affine and bias:
            self.bias = _of_options(device, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, device=device)
        self._watch_first_call()

    def _sizes_from(self, input: Tensor) -> None:
        self._check_input(input)
        unbatched = isinstance(self, batchnorm._InstanceNorm)
        unbatched = unbatched and input.ndim == self._ranks[0]
        self.num_features = input.shape[0 if unbatched else 1]
        for held in (*self._parameters.values(), *self._buffers.values()):
            if is_lazy(held):
                lazy: Any = held
                lazy.materialize((self.num_features,))


class LazyBatchNorm1d(_LazyNorm, batchnorm.BatchNorm1d):
    """A `BatchNorm1d` whose `num_features` are those of its first input."""

    cls_to_become = batchnorm.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, batchnorm.BatchNorm2d):
    """A `BatchNorm2d` whose `num_features` are those of its first input."""

    cls_to_become = batchnorm.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, batchnorm.BatchNorm3d):
    """A `BatchNorm3d` whose `num_features` are those of its first input."""

    cls_to_become = batchnorm.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, batchnorm.InstanceNorm1d):
    """An `InstanceNorm1d` whose `num_features` are those of its first input."""

    cls_to_become = batchnorm.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, batchnorm.InstanceNorm2d):
    """An `InstanceNorm2d` whose `num_features` are those of its first input."""

    cls_to_become = batchnorm.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, batchnorm.InstanceNorm3d):
    """An `InstanceNorm3d` whose `num_features` are those of its first input."""

    cls_to_become = batchnorm.InstanceNorm3d
