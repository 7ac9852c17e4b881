"""Reads CUDA C source, and turns it into C++ with the same lines."""

import re
from dataclasses import dataclass
from typing import Final

from tests.support.cuda_on_cpu.errors import SourceError

_COMMENT_OR_STRING: Final = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL
)
_KERNEL: Final = re.compile(
    r'extern\s+"C"\s+__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?'
    r"void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\("
)
_MEETING: Final = re.compile(
    r"\b__(?:syncthreads|syncwarp|shfl_\w+|ballot_sync|any_sync|all_sync)\b"
)
_ALIGNMENT: Final = r"(?:__align__\s*\(\s*\d+\s*\)\s*)?"
_DYNAMIC_SHARED: Final = re.compile(
    rf"\bextern\s+__shared__\s+{_ALIGNMENT}([\w\s]+?)\s+(\w+)\s*\[\s*\]\s*;"
)
_STATIC_SHARED: Final = re.compile(
    rf"\b__shared__\s+{_ALIGNMENT}([\w\s]+?)\s+(\w+\s*(?:\[[^;=]*)?(?:,[^;=]*)?);"
)
_DECLARATOR: Final = re.compile(r"(\w+)\s*((?:\[[^\]]*\]\s*)*)")

# NVRTC compiles without the C headers that define these; nvcc includes them unasked.
_UNKNOWN_TO_NVRTC: Final = re.compile(
    r"\b(INFINITY|NAN|HUGE_VALF?|M_PI|FLT_MAX|FLT_MIN|FLT_EPSILON|DBL_MAX|INT_MAX"
    r"|LLONG_MAX|u?int(?:8|16|32|64)_t|u?intptr_t)\b|#\s*include\b[^\n]*"
)


@dataclass(frozen=True, slots=True)
class KernelUnit:
    """C++ text made of one CUDA source, and what must be known to run it."""

    text: str
    kernel_names: tuple[str, ...]
    needs_fibers: bool


def translate(source: str) -> KernelUnit:
    """Turn CUDA C into C++ for this package's runtime, line by line.

    Raises
    ------
    SourceError
        If there is no ``extern "C" __global__`` kernel, if NVRTC would not know a name,
        or if a shared variable is declared in a way that is not understood.
    """
    code = _blank_comments(source)
    _refuse_unknown_names(code)
    names = tuple(_KERNEL.findall(code))
    if not names:
        raise SourceError('no kernel: wanted extern "C" __global__ void name(...)')
    return KernelUnit(
        text=_rewrite_shared(code),
        kernel_names=names,
        needs_fibers=_MEETING.search(code) is not None,
    )


def line_of(text: str, position: int) -> int:
    """Line number, from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1


def _blank_comments(source: str) -> str:
    def blank(match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return _COMMENT_OR_STRING.sub(blank, source)


def _refuse_unknown_names(code: str) -> None:
    unknown = _UNKNOWN_TO_NVRTC.search(code)
    if unknown is None:
        return
    line = line_of(code, unknown.start())
    raise SourceError(
        f"line {line}: {unknown[0]!r} is not known to NVRTC, which has no C headers; "
        "use built-in types, and __int_as_float(0x7f800000) for infinity"
    )


def _rewrite_shared(code: str) -> str:
    code = _DYNAMIC_SHARED.sub(r"\1* \2 = (\1*)shim::dynamic_shared();", code)
    code = _STATIC_SHARED.sub(_static_shared, code)
    left_over = re.search(r"\b__shared__\b", code)
    if left_over is not None:
        line = line_of(code, left_over.start())
        raise SourceError(f"line {line}: this __shared__ declaration is not understood")
    return code


def _static_shared(match: re.Match[str]) -> str:
    element = match[1]
    variables = []
    for name, extents in _DECLARATOR.findall(match[2]):
        variables.append(
            f"static shim::Shared<{element}{extents.strip()}> shim_slot_{name}; "
            f"{element} (&{name}){extents.strip()} = shim_slot_{name}.variable();"
        )
    newlines = "\n" * match[0].count("\n")
    return " ".join(variables).replace("\n", " ") + newlines
