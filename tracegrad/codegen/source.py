"""What code generation hands to the runtime: text, and how to call it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A program's text in one language.

    Attributes
    ----------
    language : str
        ``numpy``, ``c`` or ``cuda``.
    text : str
        What a person reads, and what runs.
    entry : str
        The function to call: ``entry(*inputs, arena)`` gives outputs and writes.
    arena : str
        The function that makes the temporaries of one thread.
    constants : dict
        Arrays that the text refers to by name.
    names : dict
        What the text's names mean besides NumPy: draw routines, error classes.
    lines : tuple of (int, str)
        For lines of the text, the user's place they compute.
    kernels : tuple of str
        The functions for a device that it launches, in order; one may come twice.
    """

    language: str
    text: str
    entry: str
    arena: str
    constants: dict[str, Any] = field(default_factory=dict)
    names: dict[str, Callable[..., Any]] = field(default_factory=dict)
    lines: tuple[tuple[int, str], ...] = ()
    kernels: tuple[str, ...] = ()
