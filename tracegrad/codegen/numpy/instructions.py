"""What the NumPy target emits, before it is text: calls, names, buffers, loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np


@final
@dataclass(slots=True, eq=False)
class Array:
    """A local name of the emitted function that holds an array.

    Attributes
    ----------
    name : str
    shape : tuple of int
    dtype : numpy.dtype or None
        None for a Python number.
    kind : str
        ``input``, ``constant``, ``arena`` (a planned temporary), ``fresh`` (handed to
        the user, allocated in each call), ``result`` (what a call returned), or
        ``view``.
    base : Array or None
        For a view, what it looks at.
    cut : int or None
        For a temporary inside a loop over blocks: the dimension that is cut.
    """

    name: str
    shape: tuple[int, ...]
    dtype: Any
    kind: str
    base: Array | None = None
    cut: int | None = None

    @property
    def root(self) -> Array:
        """The array that owns the memory."""
        return self if self.base is None else self.base.root

    @property
    def nbytes(self) -> int:
        """Size of the data, in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * int(self.dtype.itemsize)


# An argument of a call: an array, or text that stands as it is.
Argument: TypeAlias = Array | str


@final
@dataclass(slots=True, eq=False)
class Call:
    """``function(*args, options, out=target)``, or ``target = function(…)``.

    Attributes
    ----------
    elementwise : bool
        Whether `target` may be the memory of an argument that is used last here.
    comment : str
        The user's place.
    """

    function: str
    args: tuple[Argument, ...]
    target: Array
    options: str = ""
    into: bool = True
    elementwise: bool = False
    comment: str = ""

    def arrays(self) -> Iterator[Array]:
        """Iterate over the arrays that are read."""
        return (a for a in self.args if isinstance(a, Array))


@final
@dataclass(slots=True, eq=False)
class Expression:
    """``target = text``: a view, or what an expression in its arguments gives."""

    text: str
    args: tuple[Array, ...]
    target: Array
    comment: str = ""

    def arrays(self) -> Iterator[Array]:
        """Iterate over the arrays that are read."""
        return iter(self.args)


@final
@dataclass(slots=True, eq=False)
class Loop:
    """A loop over blocks along the first axis of a kernel's domain.

    Attributes
    ----------
    size, step : int
        Of the axis.
    cuts : tuple of (Array, Array, int)
        A block's name, the whole array, and the dimension that is cut.
    body : list of Call or Expression
    """

    size: int
    step: int
    cuts: tuple[tuple[Array, Array, int], ...]
    body: list[Call | Expression]

    def arrays(self) -> Iterator[Array]:
        """Iterate over the whole arrays that are read or written, and those inside."""
        for _, whole, _ in self.cuts:
            yield whole
        for instruction in self.body:
            yield from instruction.arrays()


@final
@dataclass(slots=True, eq=False)
class Exit:
    """Leave the program when a check finds another value."""

    index: int
    array: Array
    expected: Any
    comment: str = ""

    def arrays(self) -> Iterator[Array]:
        """Iterate over the arrays that are read."""
        return iter((self.array,))


@final
@dataclass(slots=True, eq=False)
class Refuse:
    """Raise an error where any element of an array is true.

    Attributes
    ----------
    array : Array or str
    error : str
        The class's name in the emitted module.
    message : str
    """

    array: Argument
    error: str
    message: str
    comment: str = ""

    def arrays(self) -> Iterator[Array]:
        """Iterate over the arrays that are read."""
        return iter((self.array,) if isinstance(self.array, Array) else ())


Instruction: TypeAlias = Call | Expression | Loop | Exit | Refuse


@final
@dataclass(slots=True, eq=False)
class Commit:
    """A call that takes place at the commit: ``function(*args)``."""

    function: str
    args: tuple[Argument, ...]
    comment: str = ""


@final
@dataclass(slots=True)
class Body:
    """Everything the emitted function does, in order."""

    instructions: list[Instruction] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    returned: list[Argument] = field(default_factory=list)
