"""``torch.nn.parallel``: one device, so each is the module itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tracegrad as tg
from tracegrad.torch._distributed import is_initialized


class DataParallel(tg.nn.Module):
    """Runs the module on the one device that there is.

    Parameters
    ----------
    module : Module
    device_ids, output_device, dim
        Taken; batches are not split.
    """

    def __init__(
        self,
        module: tg.nn.Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids = list(device_ids or [])
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(tg.nn.Module):
    """Runs the module in this process, the only one of its group.

    Parameters
    ----------
    module : Module
    device_ids, output_device, dim, and other options
        Taken; there is nothing to average gradients with.

    Raises
    ------
    RuntimeError
        If no process group is there, as PyTorch.
    """

    def __init__(
        self,
        module: tg.nn.Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        **options: Any,
    ) -> None:
        super().__init__()
        if not is_initialized():
            raise RuntimeError(
                "DistributedDataParallel() needs a process group: call "
                "distributed.init_process_group(world_size=1, rank=0) first"
            )
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: tg.nn.Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Return what the module returns: there is one device."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """Return a tensor's chunks, moved to devices, one for each."""
    chunks = inputs.chunk(len(target_gpus), dim)
    pairs = zip(chunks, target_gpus, strict=False)
    return tuple(chunk.to(target) for chunk, target in pairs)


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """Return the outputs of several devices joined on one."""
    return tg.cat([output.to(target_device) for output in outputs], dim)
