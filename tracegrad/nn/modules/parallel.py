"""DataParallel: on one device it is the module itself."""

from __future__ import annotations

from typing import Any

from tracegrad.nn.modules.module import Module


class DataParallel(Module):
    """A module over several devices; with one, it only calls the module.

    Parameters
    ----------
    module : Module
    device_ids, output_device, dim
        Accepted; there is one device.

    Attributes
    ----------
    module : Module
        Its names in the state begin with ``module.``.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self.module(*inputs, **kwargs)
