"""Parameter, where PyTorch has it."""

from tracegrad.dispatch.tensor import Parameter

__all__ = ["Parameter"]
