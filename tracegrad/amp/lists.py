"""What autocast does with each operator: PyTorch's lists, by kind of device.

Source: PyTorch's documentation, "Automatic Mixed Precision package", section "Autocast
Op Reference"; what is not listed there follows what PyTorch 2.13 does.
"""

from __future__ import annotations

from typing import Final

# Compute in the lower precision; in float32; in the widest dtype of the operands; or in
# the operands' dtypes, without looking at the operators that a composite is made of.
LOWER: Final = "lower"
FLOAT32: Final = "float32"
WIDEST: Final = "widest"
KEEP: Final = "keep"

_CONVOLUTIONS = """conv conv1d conv2d conv3d conv_transpose conv_transpose1d
    conv_transpose2d conv_transpose3d"""
_PRODUCTS = """matmul mm bmm baddbmm addbmm addmm linear inner linalg_vecdot
    linalg_multi_dot scaled_dot_product_attention"""
_LOSSES = """mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss nll_loss
    cross_entropy margin_ranking_loss hinge_embedding_loss soft_margin_loss
    cosine_embedding_loss triplet_margin_loss multi_margin_loss multilabel_margin_loss
    binary_cross_entropy_with_logits"""

_CPU_FLOAT32 = """binary_cross_entropy avg_pool3d max_pool3d adaptive_avg_pool3d
    pad:reflect pad:replicate prod matrix_trace trace polar cdist grid_sampler
    grid_sample view_as_complex inverse cholesky cholesky_inverse cholesky_solve
    linalg_cholesky linalg_cond linalg_det linalg_slogdet linalg_eig linalg_eigh
    linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_lstsq
    linalg_lu linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_pinv
    linalg_qr linalg_solve linalg_solve_triangular linalg_svd linalg_svdvals
    linalg_tensorinv linalg_tensorsolve fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn
    fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft
    fft_ihfft stft"""

_CUDA_FLOAT32 = """acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt
    sinh tan pow softplus layer_norm group_norm vector_norm cosine_similarity
    pairwise_distance cdist logsumexp prod softmax log_softmax softmin cumprod cumsum
    sum linalg_matrix_norm"""


def _table(**policies: str) -> dict[str, str]:
    return {name: policy for policy, text in policies.items() for name in text.split()}


POLICIES: Final = {
    "cpu": _table(
        keep="mv dot vdot outer addmv addr kron",
        lower=f"{_CONVOLUTIONS} {_PRODUCTS}",
        float32=f"{_LOSSES} {_CPU_FLOAT32}",
        widest="cat stack index_copy",
    ),
    "cuda": _table(
        keep="outer kron",
        lower=f"{_CONVOLUTIONS} {_PRODUCTS} mv addmv addr prelu",
        float32=f"{_LOSSES} {_CUDA_FLOAT32}",
        widest="""cat stack index_put scatter_add dot vdot atan2 add_product
            add_quotient""",
    ),
}
