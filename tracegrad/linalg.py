"""Linear algebra, under PyTorch's names: what exists so far."""

from tracegrad.ops.norms import norm, vector_norm

__all__ = ["norm", "vector_norm"]
