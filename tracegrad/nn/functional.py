"""The functions that layers are made of, under PyTorch's names."""

from tracegrad.ops.contraction import linear
from tracegrad.ops.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
)
from tracegrad.ops.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
)
from tracegrad.ops.einsum import bilinear
from tracegrad.ops.embedding import embedding, one_hot
from tracegrad.ops.max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from tracegrad.ops.movement import pad
from tracegrad.ops.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    rms_norm,
)
from tracegrad.ops.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
)

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "one_hot",
    "pad",
    "rms_norm",
]
