"""Linear algebra, under PyTorch's names: what exists so far."""

from tracegrad.dispatch.operator import public_forms as _public_forms
from tracegrad.ops.norms import norm, vector_norm

__all__ = ["norm", "vector_norm"]

# The modules of operators export what they call themselves, without words for users.
globals().update(_public_forms(globals(), __all__))
