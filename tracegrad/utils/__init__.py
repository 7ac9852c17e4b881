"""Tools around training: checkpointed calls, and logs for TensorBoard."""

from tracegrad.utils import checkpoint, tensorboard

__all__ = ["checkpoint", "tensorboard"]
