"""Switches of CUDA's matrix products; they may be set and change nothing."""

from __future__ import annotations

allow_tf32 = False
allow_fp16_reduced_precision_reduction = False
allow_bf16_reduced_precision_reduction = False
fp32_precision = "ieee"
