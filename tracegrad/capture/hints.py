"""The user's variable names: what the line stores a result into."""

from __future__ import annotations

import dis
from types import CodeType, FrameType

_STORES = ("STORE_FAST", "STORE_NAME", "STORE_DEREF", "STORE_GLOBAL")
_stored: dict[CodeType, dict[int, str]] = {}


def _stores_of(code: CodeType) -> dict[int, str]:
    """Return, by instruction, the name that its result goes into."""
    found: dict[int, str] = {}
    before = -1
    for instruction in dis.get_instructions(code):
        if instruction.opname in _STORES and before >= 0:
            found[before] = str(instruction.argval)
        before = instruction.offset
    return found


def stored_name(frame: FrameType) -> str:
    """Return the variable that takes the result of what `frame` is doing, or ""."""
    code = frame.f_code
    names = _stored.get(code)
    if names is None:
        names = _stored[code] = _stores_of(code)
    return names.get(frame.f_lasti, "")
