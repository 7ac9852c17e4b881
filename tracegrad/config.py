"""Settings: read from ``TRACEGRAD_*`` variables at start, changed per thread.

``with tracegrad.config(target="numpy"):`` holds for the block and the thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from tracegrad.errors import ConfigError, NotSupportedError

_TARGETS = ("auto", "numpy", "c", "cuda")
_FALSE = {"", "0", "false", "no", "off"}


def _boolean(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.lower() not in _FALSE
    raise ConfigError(f"config.{name} is a switch, True or False, not {value!r}")


def _target(name: str, value: object) -> str:
    if value not in _TARGETS:
        raise ConfigError(f"config.{name} is one of {_TARGETS}, not {value!r}")
    if value == "c":
        raise NotSupportedError("the target 'c' is not available yet; use 'numpy'")
    return str(value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str | os.PathLike):
        raise ConfigError(f"config.{name} is a text, not {value!r}")
    return os.fspath(value)


def _later(name: str, value: object) -> object:
    if value not in (None, "", False, "0"):
        raise NotSupportedError(f"config.{name} is not available yet")
    return value


# name: (value at start, check)
_SETTINGS: dict[str, tuple[Any, Any]] = {
    "target": ("auto", _target),
    "strict": (False, _boolean),
    "verify": (False, _boolean),
    "shadow": (False, _later),
    "cache_dir": ("", _later),
    "log": ("", _text),
}


def _from_environment() -> dict[str, Any]:
    values = {}
    for name, (default, check) in _SETTINGS.items():
        text = os.environ.get(f"TRACEGRAD_{name.upper()}")
        values[name] = default if text is None else check(name, text)
    return values


class _Overrides(threading.local):
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}


@final
class Config:
    """The settings in force.

    Attributes
    ----------
    target : {"auto", "numpy", "c", "cuda"}
        What captured functions are compiled to.
    strict : bool
        Raise where a captured function would run eagerly.
    verify : bool
        Check each graph after each pass.
    shadow : bool
        Not available yet.
    cache_dir : str
        Not available yet.
    log : str
        Comma-separated topics to print: ``dispatch``, ``capture``, ``passes``.
    """

    def __init__(self) -> None:
        object.__setattr__(self, "_base", _from_environment())
        object.__setattr__(self, "_overrides", _Overrides())

    def __getattr__(self, name: str) -> Any:
        if name not in _SETTINGS:
            raise ConfigError(f"no setting {name!r}; there are {list(_SETTINGS)}")
        overrides: _Overrides = self.__dict__["_overrides"]
        if name in overrides.values:
            return overrides.values[name]
        return self.__dict__["_base"][name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_base"][name] = self._checked(name, value)

    def _checked(self, name: str, value: Any) -> Any:
        if name not in _SETTINGS:
            raise ConfigError(f"no setting {name!r}; there are {list(_SETTINGS)}")
        return _SETTINGS[name][1](name, value)

    @contextmanager
    def __call__(self, **settings: Any) -> Iterator[Config]:
        """Hold `settings` for a block, in this thread."""
        checked = {name: self._checked(name, v) for name, v in settings.items()}
        overrides: _Overrides = self.__dict__["_overrides"]
        before = overrides.values
        overrides.values = before | checked
        try:
            yield self
        finally:
            overrides.values = before

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in _SETTINGS)
        return f"config({shown})"


config = Config()
