"""How far numbers may differ, by what computed them: (relative, absolute) each."""

from typing import Final

Tolerance = tuple[float, float]

# Emitted CUDA on the CPU against the interpreter's NumPy. Both round each operation
# alike (no contraction); what differs is the order of sums, by a few hundred elements,
# the mathematical functions, by an ULP or two, and denormals: the shim flushes them to
# zero as CuPy's `-ftz=true` does, for doubles too, which CUDA does not.
CUDA_ON_CPU: Final[dict[str, Tolerance]] = {
    "float16": (2e-3, 1e-7),
    "bfloat16": (1.6e-2, 1e-7),
    "float32": (2e-5, 1e-6),
    "float64": (1e-12, 1e-13),
    "complex64": (2e-5, 1e-6),
    "complex128": (1e-12, 1e-13),
}
