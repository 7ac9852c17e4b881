"""The target ``cuda``: kernels for CuPy's RawKernel, and the calls between them."""
