"""Checks the arguments of a kernel launch, and launches it."""

import ctypes
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tests.support.cuda_on_cpu.errors import LaunchError
from tests.support.cuda_on_cpu.memory import Allocation, allocation_of

_MAX_GRID: Final = (2**31 - 1, 65535, 65535)
_MAX_BLOCK: Final = (1024, 1024, 64)
_MAX_THREADS: Final = 1024
_MAX_SHARED_BYTES: Final = 48 * 1024
_PYTHON_SCALARS: Final[Mapping[type, str]] = {bool: "b1", int: "i8", float: "f8"}
_KINDS: Final[Mapping[str, str]] = {
    "b": "bool",
    "i": "signed integer",
    "u": "unsigned integer",
    "f": "floating-point number",
    "c": "complex number",
    "V": "structure",
}

# The runtime's built-in variables (threadIdx) are one set per process.
_one_launch_at_a_time: Final = threading.Lock()


class _Request(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("dynamic_shared", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("fibers", ctypes.c_int),
    ]


class _Report(ctypes.Structure):
    _fields_ = [
        ("switches", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("code_offset", ctypes.c_uint64),
        ("failed", ctypes.c_int),
        ("message", ctypes.c_char * 1024),
    ]


class Module(dict[str, "Kernel"]):
    """The kernels of one source, by name."""


class Kernel:
    """One compiled kernel.

    Parameters
    ----------
    code : ctypes.CDLL
        The library that holds it.
    name : str
    needs_fibers : bool
        Whether its threads meet, so that a loop over them cannot run it.
    """

    def __init__(self, code: ctypes.CDLL, name: str, needs_fibers: bool) -> None:
        self.name = name
        self.needs_fibers = needs_fibers
        signature = code[f"shim_signature_{name}"]
        signature.restype = ctypes.c_char_p
        self.parameter_codes: tuple[str, ...] = tuple(signature().decode().split())
        self._code = code
        self._launch = code[f"shim_launch_{name}"]

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        seed: int = 0,
    ) -> int:
        """Run the kernel to its end.

        Parameters
        ----------
        grid, block : sequence of int
            Up to three extents each.
        args : sequence
            NumPy arrays, NumPy or Python scalars, None for a null pointer.
        shared_mem : int
            Dynamic shared memory, in bytes.
        seed : int
            0 runs threads and blocks in their order, any other number in a random
            order that belongs to it.

        Returns
        -------
        int
            How often threads were switched to.

        Raises
        ------
        LaunchError
            If grid, block, shared memory or an argument is not what the kernel or CUDA
            allows, or if a thread accesses memory that is not its own, never comes to
            a barrier that others wait at, or divides an integer by zero.
        """
        request = _Request(
            (ctypes.c_uint * 3)(*self._extents("grid", grid, _MAX_GRID)),
            (ctypes.c_uint * 3)(*self._extents("block", block, _MAX_BLOCK)),
            self._shared_bytes(shared_mem),
            seed,
            self.needs_fibers,
        )
        self._check_threads(block)
        values = self._values(args)
        pointers = (ctypes.c_void_p * len(values))(
            *(value.ctypes.data for value in values)
        )
        report = _Report()
        with _one_launch_at_a_time:
            self._launch(pointers, ctypes.byref(request), ctypes.byref(report))
        damage = self._damage(args)
        if report.failed:
            place = self._nearest(args, report.address) + self._line(report.code_offset)
            raise LaunchError(f"{self.name}: {report.message.decode()}{place}")
        if damage:
            raise LaunchError(f"{self.name}: {damage}")
        return int(report.switches)

    def _extents(
        self, what: str, extents: Sequence[int], limits: tuple[int, int, int]
    ) -> tuple[int, ...]:
        if not isinstance(extents, tuple | list) or not 1 <= len(extents) <= 3:
            raise LaunchError(
                f"{self.name}: {what} must be a tuple of 1 to 3 integers, "
                f"got {extents!r}"
            )
        full = (*extents, 1, 1)[:3]
        for extent, limit in zip(full, limits, strict=True):
            if not 1 <= extent <= limit:
                raise LaunchError(
                    f"{self.name}: {what} {tuple(extents)}: {extent} is not in "
                    f"1..{limit}"
                )
        return tuple(int(extent) for extent in full)

    def _check_threads(self, block: Sequence[int]) -> None:
        threads = int(np.prod(block))
        if threads > _MAX_THREADS:
            raise LaunchError(
                f"{self.name}: block {tuple(block)} has {threads} threads, "
                f"the limit is {_MAX_THREADS}"
            )

    def _shared_bytes(self, shared_mem: int) -> int:
        if 0 <= shared_mem <= _MAX_SHARED_BYTES:
            return shared_mem
        raise LaunchError(
            f"{self.name}: {shared_mem} bytes of dynamic shared memory, the limit is "
            f"{_MAX_SHARED_BYTES}"
        )

    def _values(self, args: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
        """The bytes of each argument, in arrays of their own."""
        if len(args) != len(self.parameter_codes):
            raise LaunchError(
                f"{self.name}: the kernel has {len(self.parameter_codes)} parameters, "
                f"the launch passes {len(args)} arguments"
            )
        values = []
        for position, (arg, wanted) in enumerate(
            zip(args, self.parameter_codes, strict=True)
        ):
            given = _type_code(arg)
            if not _fits(given, wanted):
                raise LaunchError(
                    f"{self.name}: argument {position}: the parameter is "
                    f"{_describe(wanted)}, the launch passes {_describe(given)}"
                )
            values.append(_value(arg, given))
        return values

    def _damage(self, args: Sequence[Any]) -> str | None:
        """Report, and undo, writes to the bytes just outside an argument."""
        found = None
        for position, memory in _allocations(args):
            damage = memory.damage()
            if damage is None:
                continue
            memory.heal()
            found = found or f"argument {position} was written {damage}"
        return found

    def _nearest(self, args: Sequence[Any], address: int) -> str:
        """Which argument an illegal address is next to, if any."""
        for position, memory in _allocations(args):
            past = address - (memory.address + memory.nbytes)
            if 0 <= past < 4096 and address:
                return f": {past} bytes past the end of argument {position}"
            before = memory.address - address
            if 0 < before < 8192 and address:
                return f": {before} bytes before argument {position}"
        return ""

    def _line(self, code_offset: int) -> str:
        """Which line of the source an instruction belongs to, if that can be told."""
        tool = shutil.which("addr2line")
        if tool is None or not code_offset:
            return ""
        command = [tool, "-e", self._code._name, hex(code_offset)]
        done = subprocess.run(command, capture_output=True, text=True)
        found = re.search(r"(kernel\.cu):(\d+)", done.stdout)
        return f", line {found[2]}" if found else ""


def _allocations(args: Sequence[Any]) -> list[tuple[int, Allocation]]:
    found = []
    for position, arg in enumerate(args):
        memory = allocation_of(arg) if isinstance(arg, np.ndarray) else None
        if memory is not None:
            found.append((position, memory))
    return found


def _type_code(arg: object) -> str:
    """NumPy's code of an argument, with ``*`` before the element of an array."""
    if arg is None:
        return "*"
    if type(arg) in _PYTHON_SCALARS:
        return _PYTHON_SCALARS[type(arg)]
    if isinstance(arg, np.ndarray):
        return f"*{arg.dtype.kind}{arg.dtype.itemsize}"
    if isinstance(arg, np.generic):
        return f"{arg.dtype.kind}{arg.dtype.itemsize}"
    raise LaunchError(f"Unsupported type {type(arg)}")


# Without headers CUDA C has no half types (bfloat16's kind is V) and no complex ones:
# kernels take their bits, and structures.
_CARRIED_BY: Final[Mapping[str, str]] = {
    "*f2": "*u2",
    "*V2": "*u2",
    "*c8": "*V8",
    "*c16": "*V16",
    "c8": "V8",
    "c16": "V16",
}


def _fits(given: str, wanted: str) -> bool:
    if given == "*" or wanted == "*v":
        return wanted.startswith("*") and given.startswith("*")
    return wanted in (given, _CARRIED_BY.get(given))


def _value(arg: Any, code: str) -> np.ndarray[Any, Any]:
    if arg is None:
        return np.zeros(1, np.uint64)
    if isinstance(arg, np.ndarray):
        return np.array([arg.ctypes.data], np.uint64)
    return np.array([arg], code)


def _describe(code: str) -> str:
    """A type code in words."""
    if code == "*":
        return "a null pointer"
    if code == "*v":
        return "a pointer"
    if code.startswith("*"):
        return f"a pointer to {_describe(code[1:])}"
    kind, size = code[0], int(code[1:])
    return f"a {8 * size}-bit {_KINDS[kind]} ({code})"
