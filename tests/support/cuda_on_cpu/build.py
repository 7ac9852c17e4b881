"""Compiles CUDA C for the CPU with g++, once per source and process."""

import atexit
import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tests.support.cuda_on_cpu.errors import CompileError
from tests.support.cuda_on_cpu.launch import Kernel, Module
from tests.support.cuda_on_cpu.source import translate

_HERE: Final = Path(__file__).resolve().parent
_HEADER: Final = "cuda_builtins.h"
_LEVEL: Final = "-O1"
_RUNTIME_FILES: Final = ("runtime.cpp", "fiber.cpp", "fault_trap.cpp")
# Without -ffp-contract=off a product and a sum may or may not be fused, by processor.
_FLAGS: Final = (
    *("-std=c++17", "-g1", "-fPIC", "-shared", "-w", "-U_FORTIFY_SOURCE"),
    *("-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions"),
)
# Overflow of signed numbers, shifts too far and misaligned accesses trap; the processor
# sees to divisions by zero, guard pages to bounds, and both say more.
_CHECKS: Final = (
    *("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"),
    "-fno-sanitize=integer-divide-by-zero,bounds,object-size,null",
)


def find_compiler() -> str | None:
    """Path of the C++ compiler that kernels are built with, or None."""
    return shutil.which(os.environ.get("CXX", "g++"))


def why_not() -> str | None:
    """Why kernels cannot run on this machine's CPU, or None if they can."""
    if os.name != "posix":
        return "CUDA kernels run on the CPU only on POSIX systems"
    if find_compiler() is None:
        return "CUDA kernels were NOT RUN: no C++ compiler (g++, or $CXX) was found"
    return None


def build(
    source: str, *, definitions: tuple[str, ...] = (), ucontext: bool = False
) -> Module:
    """Compile CUDA C, and load it.

    Parameters
    ----------
    source : str
        CUDA C text with ``extern "C" __global__`` kernels, as NVRTC would get it.
    definitions : tuple of str
        Macros, as ``"NAME=value"``.
    ucontext : bool
        Switch threads with ``swapcontext`` even where there is assembly for it.

    Raises
    ------
    SourceError
        If the source uses what NVRTC or this package does not know.
    CompileError
        If there is no compiler, or it refuses the source.
    """
    return _build(source, definitions, ucontext)


@functools.cache
def _build(source: str, definitions: tuple[str, ...], ucontext: bool) -> Module:
    unit = translate(source)
    runtime = _runtime(ucontext)
    key = hashlib.sha256(repr((source, definitions, ucontext)).encode()).hexdigest()
    folder = _temporary_folder() / key[:16]
    folder.mkdir()
    # The compiler quotes lines of a file that it finds under the name in #line.
    (folder / "kernel.cu").write_text(source)
    exports = "\n".join(f"SHIM_EXPORT({name})" for name in unit.kernel_names)
    (folder / "kernel.cpp").write_text(
        f'#include "{_HEADER}"\n#line 1 "kernel.cu"\n{unit.text}\n'
        f'#line 1 "trampolines"\n{exports}\n'
    )
    library = folder / "kernel.so"
    macros = [f"-D{definition}" for definition in definitions]
    rpath = f"-Wl,-rpath,{runtime.parent}"
    files = ["-o", str(library), "kernel.cpp", str(runtime)]
    includes = [f"-I{_precompiled_header()}", f"-I{_HERE}"]
    _compile([_LEVEL, *_CHECKS, *macros, *includes, *files, rpath], folder)
    return _load(library, unit.kernel_names, unit.needs_fibers)


def _load(library: Path, names: tuple[str, ...], needs_fibers: bool) -> Module:
    code = ctypes.CDLL(str(library))
    return Module({name: Kernel(code, name, needs_fibers) for name in names})


@functools.cache
def _precompiled_header() -> Path:
    """Make a folder with the header compiled, which halves the time of a kernel.

    A compiler that cannot use it, for other macros perhaps, reads the header itself.
    """
    folder = _temporary_folder() / "header"
    folder.mkdir()
    header = [str(_HERE / _HEADER), "-o", str(folder / f"{_HEADER}.gch")]
    _compile([_LEVEL, *_CHECKS, f"-I{_HERE}", "-x", "c++-header", *header], folder)
    return folder


@functools.cache
def _runtime(ucontext: bool) -> Path:
    folder = _temporary_folder()
    library = folder / ("libruntime_ucontext.so" if ucontext else "libruntime.so")
    choice = ["-DSHIM_UCONTEXT"] if ucontext else []
    files = [str(_HERE / name) for name in _RUNTIME_FILES]
    _compile(["-O2", *choice, "-o", str(library), *files], folder)
    return library


def _compile(arguments: list[str], folder: Path) -> None:
    compiler = find_compiler()
    if compiler is None:
        raise CompileError("no C++ compiler (g++, or $CXX) was found")
    command = [compiler, *_FLAGS, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise CompileError(f"{Path(compiler).name} refused the source\n{done.stderr}")


@functools.cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="cuda_on_cpu_"))
    owner = os.getpid()

    def remove() -> None:
        # A forked child inherits this function, but not the folder.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def macro_definitions(options: tuple[str, ...]) -> tuple[str, ...]:
    """The ``-D`` macros among options that are meant for NVRTC."""
    found = (re.fullmatch(r"(?:-D|--define-macro=)(.+)", text) for text in options)
    return tuple(match[1] for match in found if match)
