"""Which PyTorch's names these are."""

from __future__ import annotations

import re
from typing import Any

# The release that the tests compare with.
OF_PYTORCH = "2.13.0"


class TorchVersion(str):
    """A version that compares by its numbers, also with strings and tuples."""

    def _numbers(self) -> tuple[int, ...]:
        return _numbers(self)

    def __lt__(self, other: Any) -> bool:
        return self._numbers() < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return self._numbers() <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return self._numbers() > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return self._numbers() >= _numbers(other)


def _numbers(version: Any) -> tuple[int, ...]:
    if not isinstance(version, str):
        return tuple(int(part) for part in version)
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


__version__ = TorchVersion(f"{OF_PYTORCH}+tracegrad")
cuda = None
hip = None
git_version = "unknown"
debug = False
