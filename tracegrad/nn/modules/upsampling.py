"""Layers that change the size of images, or the order of their elements."""

from __future__ import annotations

from typing import Any

from tracegrad.dispatch.tensor import Tensor
from tracegrad.nn import functional
from tracegrad.nn.modules.module import Module


class Upsample(Module):
    """`functional.interpolate` as a layer.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional
    mode : str
    align_corners, recompute_scale_factor : bool, optional
        As `functional.interpolate` has them.
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` in the other size."""
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Return the size or the scale, and the mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` with mode nearest.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` with mode bilinear and aligned corners.

    Parameters
    ----------
    size : int or tuple of int, optional
    scale_factor : float or tuple of float, optional
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """`functional.pixel_shuffle` as a layer.

    Parameters
    ----------
    upscale_factor : int
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return channels laid out as pixels."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """`functional.pixel_unshuffle` as a layer.

    Parameters
    ----------
    downscale_factor : int
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return pixels laid out as channels."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """`functional.channel_shuffle` as a layer.

    Parameters
    ----------
    groups : int
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Return the channels dealt out."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Return the number of groups."""
        return f"groups={self.groups}"


class Unfold(Module):
    """`functional.unfold` as a layer.

    Parameters
    ----------
    kernel_size, dilation, padding, stride : int or tuple of int
    """

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def _geometry(self) -> tuple[Any, ...]:
        return self.kernel_size, self.dilation, self.padding, self.stride

    def forward(self, input: Tensor) -> Tensor:
        """Return the windows as columns."""
        return functional.unfold(input, *self._geometry())

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Fold(Unfold):
    """`functional.fold` as a layer.

    Parameters
    ----------
    output_size, kernel_size, dilation, padding, stride : int or tuple of int
    """

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the columns added up where their windows are."""
        return functional.fold(input, self.output_size, *self._geometry())

    def extra_repr(self) -> str:
        """Return the size and the geometry."""
        return f"output_size={self.output_size}, {super().extra_repr()}"
