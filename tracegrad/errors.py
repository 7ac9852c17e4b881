"""Every exception that tracegrad raises.

Each class is also the builtin that PyTorch raises in the same place, so that a
program written for PyTorch catches what it expects.
"""

from __future__ import annotations

import re
from pickle import UnpicklingError

from tracegrad.location import Location, called, known_names


class TracegradError(Exception):
    """Base class of every error that tracegrad raises.

    Attributes
    ----------
    location : Location or None
        The user's file and line from which the call came; a note says it too.

    Notes
    -----
    The ``__name__`` of each class is that of the builtin it derives from, which PyTorch
    raises there, for programs that report or compare names. Its ``__qualname__``, which
    tracebacks show, says more.
    """

    location: Location | None

    def __init_subclass__(cls) -> None:
        """Take the builtin's name."""
        builtin = next(b for b in cls.__mro__ if b.__module__ == "builtins")
        if builtin is not Exception:
            cls.__name__ = builtin.__name__

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.location, self._called = called()
        # Whether no call of a user's says what was called.
        self._inner = not self._called
        if self.location is not None:
            self.add_note(f"called at {self.location}")

    def within(self, operator: str) -> None:
        """Say which operator, made of others, the failing one is a part of.

        Called from the inside out, where no call of a user's tells it.
        """
        if not self._called or self._inner:
            self._called, self._inner = operator, True

    def called_as(self, name: str) -> None:
        """Say what was called, where that is no function: a class."""
        self._called = name

    def add(self, detail: str) -> None:
        """Say something more, once."""
        if detail not in str(self.args[0]):
            self.args = (f"{self.args[0]}; {detail}", *self.args[1:])

    def __str__(self) -> str:
        return _titled(super().__str__(), self._called)


# "matmul: …", "full(): …", "softmax takes …": an operator's name at a message's head.
_HEAD = re.compile(r"(\w+)(\(\)|:| (?=takes |wants |is |needs |must ))")


def _titled(text: str, name: str) -> str:
    """Let a message begin with what the user called, the failing part at its end."""
    if not name or text.startswith((f"{name}:", f"{name} ", f"{name}(")):
        return text
    found = _HEAD.match(text)
    if found is None or found[1] not in known_names():
        return f"{name}: {text}"
    inner, rest = found[1], text[len(found[1]) :]
    if inner.strip("_") == name.strip("_"):
        return name + rest
    return f"{name}{rest} (in {inner})"


class ShapeError(TracegradError, RuntimeError):
    """Shapes that do not fit the operator."""


class NoDataError(ShapeError, NotImplementedError, TypeError):
    """The values of a tensor are asked for, and it is on the meta device."""


class DTypeError(TracegradError, RuntimeError):
    """A dtype the operator does not take, or a result that cannot be stored."""


class UnsupportedDTypeError(DTypeError, NotImplementedError):
    """A dtype for which the operator is not defined."""


class ElementTypeError(DTypeError, TypeError):
    """A kind of array elements that no dtype stores."""


class DeviceError(TracegradError, RuntimeError):
    """Tensors on different devices, or a device that is not there."""


class ArgumentError(TracegradError, ValueError):
    """An argument of the right type with a value that makes no sense."""


class ArgumentValueError(ArgumentError, RuntimeError):
    """The same where PyTorch raises a RuntimeError."""


class AssertedError(TracegradError, AssertionError):
    """The same where PyTorch asserts."""


class ArgumentTypeError(TracegradError, TypeError):
    """An argument of the wrong type, too many or too few arguments."""


class ElementError(ArgumentTypeError, RuntimeError):
    """Something among the elements of a tensor that is no number."""


class IndexRangeError(TracegradError, IndexError):
    """An index, a dimension or a label outside its range."""


class ElementIndexError(IndexRangeError, RuntimeError):
    """An index out of range where PyTorch raises a RuntimeError, or either."""


class ScalarError(TracegradError, RuntimeError):
    """A tensor of several elements where one number is wanted."""


class ConversionError(ScalarError, ValueError):
    """The same for ``float()``, ``int()`` and ``complex()``."""


class DivisionError(TracegradError, RuntimeError, ZeroDivisionError):
    """An integer divided by zero."""


class DrawError(TracegradError, RuntimeError, ValueError):
    """Parameters that no random distribution has, or an impossible seed or state."""


class GradientError(TracegradError, RuntimeError):
    """A gradient that does not exist, or was asked for in the wrong way."""


class GradcheckError(GradientError):
    """A derivative that differs from finite differences."""


class CheckpointError(GradientError):
    """A checkpointed function that can't be computed again, or gives something else."""


class MissingPackageError(TracegradError, ImportError):
    """An optional package that is not installed."""


class TransformError(TracegradError, RuntimeError):
    """Something that a functional transform (vmap, grad, …) can't do."""


class InplaceError(TracegradError, RuntimeError):
    """A write that autograd or the memory layout forbids."""


class OpCheckError(TracegradError, AssertionError):
    """What is registered for a custom operator does not hold together."""


class NotSupportedError(TracegradError, NotImplementedError):
    """Something that exists in PyTorch and is not built here yet."""


class StateError(TracegradError, RuntimeError, ValueError):
    """A saved state that does not fit the module or optimizer that loads it."""


class EntryError(TracegradError, KeyError):
    """An entry that a group, or another mapping, does not have."""


class LoadError(TracegradError, RuntimeError, UnpicklingError):
    """A file that is damaged, hostile, or holds what is not loaded from files."""


class WorkerError(TracegradError, RuntimeError):
    """A worker process that died or does not answer."""


class ProcessRaisedError(WorkerError):
    """An exception in a spawned process, with its traceback."""


class ProcessExitedError(WorkerError):
    """A spawned process that ended with a signal, or another code than 0."""


class ConfigError(TracegradError, ValueError):
    """An unknown or impossible setting."""


class VerifyError(TracegradError, ValueError):
    """A graph that breaks a rule of the IR."""


class ParseError(TracegradError, ValueError):
    """A text that is not a graph."""


class CaptureError(TracegradError, RuntimeError):
    """A function that cannot be captured, raised where ``strict`` was asked for."""


class NumberNeededError(CaptureError):
    """A derivative that depends on the value of a number, not only on the number."""


class CompileError(TracegradError, RuntimeError):
    """Emitted source that a compiler refused."""


class CommandError(TracegradError, ValueError):
    """A command line that can't be carried out."""
