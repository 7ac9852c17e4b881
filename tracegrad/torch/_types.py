"""Types for annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import tracegrad as tg
from tracegrad.device import Device as _Device

Tensor: TypeAlias = tg.Tensor
Number: TypeAlias = int | float | bool
Device: TypeAlias = _Device | str | int | None
_size: TypeAlias = Sequence[int]
_int: TypeAlias = int
_float: TypeAlias = float
_bool: TypeAlias = bool
