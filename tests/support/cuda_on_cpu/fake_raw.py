"""The stand-ins for ``cupy.RawKernel`` and ``cupy.RawModule``."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.support.cuda_on_cpu.build import build, macro_definitions
from tests.support.cuda_on_cpu.errors import CompileError, SourceError
from tests.support.cuda_on_cpu.fake_cuda import CompileException
from tests.support.cuda_on_cpu.fake_ndarray import ndarray, to_host
from tests.support.cuda_on_cpu.fake_state import COUNTERS
from tests.support.cuda_on_cpu.launch import Kernel, Module


class Schedule:
    """In which order threads and blocks run.

    Attributes
    ----------
    seed : int
        0 is their natural order, any other number a random one.
    """

    seed = 1


def _compile(code: str, options: Sequence[str]) -> Module:
    try:
        return build(code, definitions=macro_definitions(tuple(options)))
    except (SourceError, CompileError) as error:
        raise CompileException(str(error)) from error


class RawKernel:
    """A kernel of CUDA source, compiled when first needed."""

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        self.code = code
        self.name = name
        self.options = tuple(options)
        self.backend = backend

    @functools.cached_property
    def kernel(self) -> Kernel:
        """The compiled kernel."""
        module = _compile(self.code, self.options)
        if self.name not in module:
            raise CompileException(
                f"cudaErrorNotFound: no kernel {self.name!r}, only {sorted(module)}"
            )
        return module[self.name]

    def compile(self, log_stream: object = None) -> None:
        """Compile now."""
        assert self.kernel

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: object = None,
    ) -> None:
        """Run the kernel to its end."""
        values = [_argument(arg) for arg in args]
        COUNTERS.launches += 1
        self.kernel(grid, block, values, shared_mem=shared_mem, seed=Schedule.seed)


def _argument(arg: Any) -> Any:
    accepted = ndarray | np.generic | bool | int | float | complex | None
    if not isinstance(arg, accepted):
        raise TypeError(f"Unsupported type {type(arg)}")
    return to_host(arg)


class RawModule:
    """Several kernels of one source."""

    def __init__(
        self,
        code: str,
        *,
        path: None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: None = None,
        jitify: bool = False,
    ) -> None:
        self.code = code
        self.options = tuple(options)
        self.backend = backend

    def compile(self, log_stream: object = None) -> None:
        """Compile now."""
        _compile(self.code, self.options)

    def get_function(self, name: str) -> RawKernel:
        """One kernel, by name."""
        return RawKernel(self.code, name, self.options, self.backend)
