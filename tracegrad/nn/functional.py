"""The functions that layers are made of, under PyTorch's names."""

from collections.abc import Callable
from inspect import signature as _signature
from typing import Any

from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS
from tracegrad.dispatch.operator import public_forms as _public_forms
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import NotSupportedError
from tracegrad.nn.functions.attention import scaled_dot_product_attention
from tracegrad.nn.functions.bags import embedding_bag
from tracegrad.nn.functions.choices import (
    feature_alpha_dropout,
    gumbel_softmax,
    rrelu,
)
from tracegrad.nn.functions.heads import multi_head_attention_forward
from tracegrad.nn.functions.margins import (
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    triplet_margin_with_distance_loss,
)
from tracegrad.nn.functions.pools import (
    local_response_norm,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from tracegrad.nn.functions.resampling import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from tracegrad.nn.functions.sampling import (
    affine_grid,
    grid_sample,
)
from tracegrad.nn.functions.shuffling import (
    channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)
from tracegrad.nn.old_reductions import bound as _bound
from tracegrad.nn.old_reductions import taking_old_names as _taking_old_names
from tracegrad.ops.columns import fold_columns as fold
from tracegrad.ops.columns import unfold_columns as unfold
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
from tracegrad.ops.embedding import embedding as _rows
from tracegrad.ops.embedding import one_hot
from tracegrad.ops.implicit_dims import log_softmax, softmax, softmin
from tracegrad.ops.max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from tracegrad.ops.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
)
from tracegrad.ops.padding import pad
from tracegrad.ops.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
)
from tracegrad.ops.volumes import (
    adaptive_avg_pool3d,
    adaptive_max_pool3d,
    conv_transpose3d,
)


def _public(name: str) -> Callable[..., Any]:
    """Return an operator or a choice among operators, by its public name."""
    found = FUNCTIONS.get(name)
    return OPERATORS[name].call if found is None else found.function


relu = _public("relu")
relu6 = _public("relu6")
leaky_relu = _public("leaky_relu")
threshold = _public("threshold")
hardtanh = _public("hardtanh")
hardsigmoid = _public("hardsigmoid")
hardswish = _public("hardswish")
elu = _public("elu")
selu = _public("selu")
celu = _public("celu")
gelu = _public("gelu")
silu = _public("silu")
mish = _public("mish")
softplus = _public("softplus")
logsigmoid = _public("logsigmoid")
hardshrink = _public("hardshrink")
softshrink = _public("softshrink")
tanhshrink = _public("tanhshrink")
softsign = _public("softsign")
glu = _public("glu")
prelu = _public("prelu")
sigmoid = _public("sigmoid")
tanh = _public("tanh")
mse_loss = _public("mse_loss")
l1_loss = _public("l1_loss")
smooth_l1_loss = _public("smooth_l1_loss")
huber_loss = _public("huber_loss")
binary_cross_entropy = _public("binary_cross_entropy")
binary_cross_entropy_with_logits = _public("binary_cross_entropy_with_logits")
kl_div = _public("kl_div")
poisson_nll_loss = _public("poisson_nll_loss")
gaussian_nll_loss = _public("gaussian_nll_loss")
nll_loss = _public("nll_loss")
cross_entropy = _public("cross_entropy")
cosine_similarity = _public("cosine_similarity")
pairwise_distance = _public("pairwise_distance")
margin_ranking_loss = _public("margin_ranking_loss")
hinge_embedding_loss = _public("hinge_embedding_loss")
soft_margin_loss = _public("soft_margin_loss")
cosine_embedding_loss = _public("cosine_embedding_loss")
triplet_margin_loss = _public("triplet_margin_loss")


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of a table that integers name.

    Parameters
    ----------
    input : Tensor, shape (...), int32 or int64
    weight : Tensor, shape (rows, features)
    padding_idx : int, optional
        A row that gets no gradient; negative from the end.
    max_norm, norm_type, scale_grad_by_freq, sparse
        Not available.

    Returns
    -------
    Tensor, shape (..., features)

    Raises
    ------
    IndexRangeError
        If an integer is out of range.
    """
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotSupportedError(
            "embedding: max_norm, scale_grad_by_freq and sparse are not available"
        )
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.size(0)
    return _rows(weight, input, padding_idx)


def _written_into(name: str) -> Callable[..., Any]:
    """Return the form of an activation that writes into its input."""
    function = _public(name)

    def in_place(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(input, *args, **kwargs, inplace=True)

    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    in_place.__doc__ = f"Write the result of `{name}` into `input`, and return it."
    return in_place


relu_ = _written_into("relu")
leaky_relu_ = _written_into("leaky_relu")
threshold_ = _written_into("threshold")
hardtanh_ = _written_into("hardtanh")
elu_ = _written_into("elu")
selu_ = _written_into("selu")
celu_ = _written_into("celu")


def _with_indices(name: str) -> Callable[..., Any]:
    """Return the form of a max pooling that returns where the maxima are."""
    function = globals()[name]
    signature = _signature(function)

    def both(*args: Any, **kwargs: Any) -> Any:
        given = _bound(both.__name__, signature, args, kwargs)
        return function(**{**given, "return_indices": True})

    both.__signature__ = signature  # type: ignore[attr-defined]
    both.__name__ = both.__qualname__ = f"{name}_with_indices"
    both.__doc__ = f"Return the maxima of `{name}`, and where they are."
    return both


max_pool1d_with_indices = _with_indices("max_pool1d")
max_pool2d_with_indices = _with_indices("max_pool2d")
max_pool3d_with_indices = _with_indices("max_pool3d")
adaptive_max_pool1d_with_indices = _with_indices("adaptive_max_pool1d")
adaptive_max_pool2d_with_indices = _with_indices("adaptive_max_pool2d")
adaptive_max_pool3d_with_indices = _with_indices("adaptive_max_pool3d")

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

# The modules of operators export what they call themselves, without words for users.
globals().update(_public_forms(globals(), __all__))
_WITH_OLD_NAMES = (
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss "
    "cross_entropy hinge_embedding_loss kl_div l1_loss margin_ranking_loss mse_loss "
    "nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss"
)
globals().update(
    {name: _taking_old_names(globals()[name]) for name in _WITH_OLD_NAMES.split()}
)
