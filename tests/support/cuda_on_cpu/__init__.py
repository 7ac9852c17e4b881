"""Runs CUDA kernels on the CPU, and stands in for CuPy, where there is no GPU.

What it can show is that a kernel computes the right numbers, stays within its arrays,
and meets at its barriers. It shows nothing of speed, of the memory model, of CUDA's
own roundings, of asynchrony, or of the driver: its results are never "GPU-tested".
"""
