"""CUDA kernels and the CuPy backend, with no GPU: see `tests.support.cuda_on_cpu`."""
