"""Every exception that tracegrad raises.

Each class is also the builtin that PyTorch raises in the same place, so that a
program written for PyTorch catches what it expects.
"""

from __future__ import annotations

from tracegrad.location import Location, here


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
        self.location = here()
        if self.location is not None:
            self.add_note(f"called at {self.location}")
        self._part_of = ""

    def within(self, operator: str) -> None:
        """Say which operator, made of others, the failing one is a part of.

        Called from the inside out: the outermost one, which the user called, stays.
        """
        self._part_of = operator

    def __str__(self) -> str:
        text = super().__str__()
        if not self._part_of or text.startswith(self._part_of):
            return text
        return f"{text} (in {self._part_of})"


class ShapeError(TracegradError, RuntimeError):
    """Shapes that do not fit the operator."""


class DTypeError(TracegradError, RuntimeError):
    """A dtype the operator does not take, or a result that cannot be stored."""


class DeviceError(TracegradError, RuntimeError):
    """Tensors on different devices, or a device that is not there."""


class ArgumentError(TracegradError, ValueError):
    """An argument of the right type with a value that makes no sense."""


class ArgumentValueError(ArgumentError, RuntimeError):
    """The same where PyTorch raises a RuntimeError."""


class ArgumentTypeError(TracegradError, TypeError):
    """An argument of the wrong type, too many or too few arguments."""


class IndexRangeError(TracegradError, IndexError):
    """An index, a dimension or a label outside its range."""


class ElementIndexError(IndexRangeError, RuntimeError):
    """An index out of range where PyTorch raises a RuntimeError, or either."""


class ScalarError(TracegradError, RuntimeError):
    """A tensor of several elements where one number is wanted."""


class DivisionError(TracegradError, RuntimeError, ZeroDivisionError):
    """An integer divided by zero."""


class DrawError(TracegradError, RuntimeError, ValueError):
    """Parameters that no random distribution has, or an impossible seed or state."""


class LinAlgError(TracegradError, RuntimeError):
    """A matrix that has no inverse, no factors, or an iteration that did not end."""


class GradientError(TracegradError, RuntimeError):
    """A gradient that does not exist, or was asked for in the wrong way."""


class GradcheckError(GradientError):
    """A derivative that differs from finite differences."""


class TransformError(TracegradError, RuntimeError):
    """Something that a functional transform (vmap, grad, …) can't do."""


class InplaceError(TracegradError, RuntimeError):
    """A write that autograd or the memory layout forbids."""


class NotSupportedError(TracegradError, NotImplementedError):
    """Something that exists in PyTorch and is not built here yet."""


class StateError(TracegradError, RuntimeError):
    """A saved state that does not fit the module or optimizer that loads it."""


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
