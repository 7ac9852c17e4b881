"""The compile gate: kernel source must pass NVIDIA's compilers without a warning."""

import ctypes
import functools
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.cuda_on_cpu.errors import CompileError

_REGISTERS_PER_BLOCK: Final = 65536
_KERNEL: Final = re.compile(r"Compiling entry function '(\w+)'")
_USED: Final = re.compile(r"Used (\d+) registers")
_SPILLS: Final = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_SHARED: Final = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class KernelUse:
    """What a compiled kernel takes of a multiprocessor.

    Attributes
    ----------
    registers : int
        Per thread.
    spilled_bytes : int
        Spill stores and loads together.
    shared_bytes : int
        Static shared memory per block.
    """

    registers: int
    spilled_bytes: int
    shared_bytes: int

    def fits(self, block_size: int) -> bool:
        """Whether a block of so many threads finds enough registers."""
        return self.registers * block_size <= _REGISTERS_PER_BLOCK


@dataclass(frozen=True, slots=True)
class CompileCheck:
    """What the gate found.

    Attributes
    ----------
    uses : mapping
        From (compiler, architecture, kernel) to its use.
    not_run : tuple of str
        One sentence, which begins with NOT RUN, for each compiler that is missing.
    """

    uses: Mapping[tuple[str, str, str], KernelUse]
    not_run: tuple[str, ...]

    @property
    def ran(self) -> bool:
        """Whether any compiler looked at the source."""
        return bool(self.uses)


def compile_check(
    source: str,
    archs: tuple[str, ...] = ("sm_80", "sm_90"),
    compilers: tuple[str, ...] = ("nvcc", "nvrtc"),
    allowed_spills: int = 0,
) -> CompileCheck:
    """Compile a kernel source with every NVIDIA compiler that is here.

    Parameters
    ----------
    source : str
        CUDA C text.
    archs : tuple of str
        Real architectures, as ``sm_90``.
    compilers : tuple of str
        Which to ask, if they are here.
    allowed_spills : int
        How many bytes of registers a kernel may store and load, all together.

    Returns
    -------
    CompileCheck

    Raises
    ------
    CompileError
        If a compiler reports an error or a warning, or if a kernel spills more.
    """
    missing = missing_compilers()
    uses: dict[tuple[str, str, str], KernelUse] = {}
    for compiler in compilers:
        for arch in () if compiler in missing else archs:
            for kernel, use in _compile(source, compiler, arch).items():
                _refuse_spills(compiler, arch, kernel, use, allowed_spills)
                uses[compiler, arch, kernel] = use
    not_run = (missing[name] for name in compilers if name in missing)
    return CompileCheck(uses, tuple(not_run))


def missing_compilers() -> dict[str, str]:
    """Why a compiler is not asked, by its name; the others are here."""
    missing = {}
    if shutil.which("nvcc") is None:
        missing["nvcc"] = "NOT RUN with nvcc: it was not found"
    if _nvrtc_path() is None:
        package = "nvidia-cuda-nvrtc"
        missing["nvrtc"] = f"NOT RUN with NVRTC: {package} is not installed"
    return missing


@functools.cache
def _compile(source: str, compiler: str, arch: str) -> dict[str, KernelUse]:
    run = {"nvcc": _run_nvcc, "nvrtc": _run_nvrtc}[compiler]
    return _parse(run(source, arch))


def _refuse_spills(
    compiler: str, arch: str, kernel: str, use: KernelUse, allowed: int
) -> None:
    if use.spilled_bytes > allowed:
        raise CompileError(
            f"{compiler} for {arch}: {kernel} spills registers, {use.spilled_bytes} "
            "bytes of stores and loads"
        )


def _parse(log: str) -> dict[str, KernelUse]:
    """The table of kernels in what ``ptxas -v`` prints."""
    parts = _KERNEL.split(log)[1:]
    uses = {}
    for kernel, text in zip(parts[::2], parts[1::2], strict=True):
        used, spills, shared = (p.search(text) for p in (_USED, _SPILLS, _SHARED))
        uses[kernel] = KernelUse(
            registers=int(used[1]) if used else 0,
            spilled_bytes=int(spills[1]) + int(spills[2]) if spills else 0,
            shared_bytes=int(shared[1]) if shared else 0,
        )
    return uses


def _run_nvcc(source: str, arch: str) -> str:
    with tempfile.TemporaryDirectory(prefix="cuda_on_cpu_nvcc_") as folder:
        (Path(folder) / "kernel.cu").write_text(source)
        command = ["nvcc", "-std=c++17", "-O3", "-ftz=true", f"-arch={arch}", "-cubin"]
        command += ["-Werror", "all-warnings", "-o", "kernel.cubin", "kernel.cu"]
        command += ["-Xptxas", "-v,-Werror"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    log = done.stdout + done.stderr
    if done.returncode != 0:
        raise CompileError(f"nvcc refused the source for {arch}\n{log}")
    return log


@functools.cache
def _nvrtc_path() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    places = spec.submodule_search_locations if spec else None
    pattern = "*/lib/libnvrtc.so.*"
    found = (path for place in places or () for path in Path(place).glob(pattern))
    return next(found, None)


@functools.cache
def _nvrtc() -> ctypes.CDLL:
    return ctypes.CDLL(str(_nvrtc_path()))


def _run_nvrtc(source: str, arch: str) -> str:
    library = _nvrtc()
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
    )
    options = [f"--gpu-architecture={arch}", "--std=c++17", "--ftz=true"]
    options += ["-Werror=all-warnings", "--ptxas-options=-v"]
    encoded = (ctypes.c_char_p * len(options))(*(text.encode() for text in options))
    status = library.nvrtcCompileProgram(program, len(options), encoded)
    log = _nvrtc_log(library, program)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    if status != 0:
        raise CompileError(f"NVRTC refused the source for {arch}\n{log}")
    return log


def _nvrtc_log(library: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    nbytes = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(nbytes))
    text = ctypes.create_string_buffer(nbytes.value)
    library.nvrtcGetProgramLog(program, text)
    return text.value.decode()
