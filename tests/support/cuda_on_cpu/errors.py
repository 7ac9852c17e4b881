"""What can go wrong when a CUDA kernel is built for, or run on, the CPU."""


class CudaOnCpuError(RuntimeError):
    """Base of the errors of this package."""


class SourceError(CudaOnCpuError):
    """The kernel source uses something that NVRTC or this package does not know."""


class CompileError(CudaOnCpuError):
    """A compiler refused the kernel source; the message holds its output."""


class LaunchError(CudaOnCpuError):
    """The launch was refused, or a thread of it did something illegal."""
