"""Compile the C texts of the pointwise operators, each as a loop, and call them."""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

import tracegrad as tg
from tracegrad.codegen.c_family.types import c_type, fields
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dtypes import DType
from tracegrad.ops._c_helpers import C_HELPERS
from tracegrad.ops._pointwise import text_for

COMPILER = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
DTYPES = [
    tg.dtypes.bool_, tg.uint8, tg.int8, tg.int16, tg.int32, tg.int64, tg.float32,
    tg.float64,
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One operator for operands of one dtype.

    Attributes
    ----------
    operator : OpDef
    operands : tuple of DType
        What each operand is computed in.
    result : DType
    attributes : dict
    """

    operator: OpDef
    operands: tuple[DType, ...]
    result: DType
    attributes: dict[str, Any]

    @property
    def symbol(self) -> str:
        """The C function's name."""
        return f"run_{self.operator.name}_{self.operands[-1].code}_{self.result.code}"

    def sources(self) -> list[str]:
        """Return the helpers that it calls, then its own loop."""
        facts = self.operator.facts["pointwise"]
        dtype = self.operands[-1]
        helpers = [
            filled(C_HELPERS[name], dtype)
            for name in facts.c_helpers
            if f"{name}_" in self._text()
        ]
        return [h.replace("{inline}", "static inline") for h in helpers] + [
            self._loop()
        ]

    def _text(self) -> str:
        text = text_for(self.operator.facts["pointwise"].c, self.operands[-1])
        assert text is not None
        return filled(text, self.operands[-1])

    def _loop(self) -> str:
        names = self.operator.facts["pointwise"].names
        text = self._text()
        for index, name in enumerate(names):
            text = text.replace("{" + name + "}", f"x{index}[i]")
        for name, value in self.attributes.items():
            text = text.replace(
                "{" + name + "}", f"(({c_type(self.operands[-1]).value}){value!r})"
            )
        parameters = [
            f"const {c_type(d).value}* x{i}" for i, d in enumerate(self.operands)
        ]
        parameters += [f"{c_type(self.result).value}* out", "long long count"]
        return (
            f"void {self.symbol}({', '.join(parameters)}) {{\n"
            f"    for (long long i = 0; i < count; ++i) out[i] = {text};\n}}\n"
        )


def filled(text: str, dtype: DType) -> str:
    """Return a text with the placeholders of types replaced."""
    for name, value in fields(dtype).items():
        text = text.replace("{" + name + "}", value)
    return text


def entries() -> Iterator[Entry]:
    """Yield every operator for every dtype it has a C text for."""
    for operator in OPERATORS.values():
        facts = operator.facts.get("pointwise")
        # Conversions are the C family's own.
        if facts is None or operator.name in ("cast", "clone"):
            continue
        for dtype in DTYPES:
            yield from _entries_of(operator, dtype)


def _entries_of(operator: OpDef, dtype: DType) -> Iterator[Entry]:
    facts = operator.facts["pointwise"]
    count = len(facts.names)
    given = [(dtype, 2)] * count
    if facts.names[0] == "condition":
        given[0] = (tg.dtypes.bool_, 2)
    try:
        operands, result = facts.types(operator.name, tuple(given))
    except tg.errors.DTypeError:
        return
    if operands[-1] is not dtype or text_for(facts.c, dtype) is None:
        return
    attributes: dict[str, Any] = {}
    if operator.examples is not None:
        attributes = dict(operator.examples(np.random.default_rng(0))[0][1])
    if dtype.kind == "int":
        attributes = {name: int(value) for name, value in attributes.items()}
    yield Entry(operator, operands, result, attributes)


def compiled(folder: Path, flags: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Compile all entries into one library and load it."""
    assert COMPILER is not None
    texts: dict[str, None] = {}
    for entry in entries():
        texts.update(dict.fromkeys(entry.sources()))
    source = folder / "texts.c"
    source.write_text(
        "#include <math.h>\n#include <stdbool.h>\n" + "".join(texts), encoding="utf-8"
    )
    library = folder / "texts.so"
    command = [
        COMPILER,
        "-O1",
        "-fno-math-errno",
        "-ffp-contract=off",
        "-fPIC",
        "-shared",
    ]
    command += [*flags, "-o", str(library), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, entry: Entry, arrays: list[Any]) -> Any:
    """Run an entry on arrays of its operands' dtypes."""
    out = np.empty(arrays[0].shape, entry.result.numpy)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in [*arrays, out]]
    getattr(library, entry.symbol)(*pointers, ctypes.c_longlong(out.size))
    return out
