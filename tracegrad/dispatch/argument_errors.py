"""What is said of arguments that do not fit an operator's signature.

The words are those of Python and PyTorch, followed by the signature that is meant.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
from collections.abc import Collection
from typing import Any

import numpy as np

from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    DivisionError,
    DTypeError,
    ScalarError,
    TracegradError,
)
from tracegrad.location import is_ours

_EMPTY = inspect.Parameter.empty
# Words of annotations that say "integers", perhaps several.
_INTEGERS = {"int", "tuple", "None", "Sequence", "Shape", "Numbers"}
_SHOWN = bool | int | float | complex | str | bytes
_SHOWN_CHARACTERS = 40


@functools.cache
def kind_of(annotation: str) -> str | None:
    """Return what an attribute's annotation asks for, None if it is not checked."""
    words = _words(annotation)
    if "DType" in words:
        return "dtype" if words <= {"DType", "None"} else None
    if "float" in words and words <= {"float", "Tensor", "tuple", "None"}:
        return _number_kind(words)
    for kind in ("complex", "bool", "str"):
        if kind in words and words <= {kind, "None"}:
            return kind
    if words <= {"int", "None"}:
        return "int" if "int" in words else None
    integers = words <= _INTEGERS and words - {"tuple", "None", "Sequence"}
    return "integers" if integers else None


def _words(annotation: str) -> set[str]:
    """Return an annotation's names, without the modules they are from."""
    return set(re.findall(r"\w+", re.sub(r"\w+\.", "", annotation)))


def _number_kind(words: set[str]) -> str:
    if "tuple" in words:
        return "numbers"
    return "number" if "Tensor" in words else "float"


# The classes that fit a kind: a bool is an int, and so a number.
_CLASSES: dict[str, Any] = {
    "float": int | float,
    "number": int | float,
    "numbers": int | float,
    "complex": int | float | complex,
    "bool": bool | np.bool_,
    "str": str,
}


def fits(kind: str, value: Any, annotation: str) -> bool:
    """Return whether an attribute's value is of its kind."""
    if value is None:
        return "None" in annotation
    if kind == "integers":
        return _are_integers(value, annotation)
    if kind == "int":
        return _is_integer(value)
    if kind == "numbers" and isinstance(value, tuple | list):
        several = annotation.count("float") in (1, len(value))
        return several and all(fits("number", v, annotation) for v in value)
    if kind in ("number", "numbers") and hasattr(type(value), "_array"):
        return True
    if kind in ("float", "complex") and _is_single(value):
        return True
    return isinstance(value, _CLASSES[kind])


def _are_integers(value: Any, annotation: str) -> bool:
    if value.__class__ is int:
        return True
    if isinstance(value, tuple | list):
        return all(_are_integers(v, annotation) for v in value)
    return _is_integer(value) or (value is None and "None" in annotation)


def _is_integer(value: Any) -> bool:
    """Return whether `value` counts as an integer: not a bool, nor several."""
    if isinstance(value, bool | np.bool_):
        return False
    is_tensor = hasattr(type(value), "_array")
    return hasattr(type(value), "__index__") and (not is_tensor or _is_single(value))


def _is_single(value: Any) -> bool:
    """Return whether `value` is a tensor of one element, which stands for a number."""
    return hasattr(type(value), "_array") and value.numel() == 1


def wrong_type(
    function: str, argument: str, wanted: str, value: Any
) -> ArgumentTypeError:
    """Return the error for an argument of a wrong type."""
    return ArgumentTypeError(
        f"{function}(): argument {argument!r} must be {_in_words(wanted)}, "
        f"not {described(value)}"
    )


def _in_words(annotation: str) -> str:
    return _WORDS.get(annotation, annotation)


_WORDS = {
    "DType": "a dtype",
    "Tensor": "a Tensor",
    "int": "an int",
    "Tensor | None": "a Tensor or None",
    "float": "a number",
    "float | Tensor": "a number or a Tensor",
    "tuple[float, float]": "two numbers",
    "tuple[float | Tensor, float | Tensor]": "two numbers",
    "float | None": "a number or None",
    "complex": "a number",
    "Shape": "a tuple of ints",
    "Numbers": "an int or a tuple of ints",
    "tuple[int, ...]": "a tuple of ints",
    "int | tuple[int, ...]": "an int or a tuple of ints",
    "int | tuple[int, ...] | None": "an int, a tuple of ints or None",
    "int | None": "an int or None",
}


def described(value: Any) -> str:
    """Return a value's type, with the value itself where that is short."""
    name = type(value).__name__
    parts = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(part, _SHOWN) for part in parts):
        return name
    text = repr(value)
    return name if len(text) > _SHOWN_CHARACTERS else f"{name} {text}"


def missing(
    function: str, signature: inspect.Signature, given: Collection[str]
) -> ArgumentTypeError:
    """Return the error for arguments without a value."""
    parameters = signature.parameters.values()
    required = [
        p for p in parameters if p.default is _EMPTY and p.kind is not p.VAR_POSITIONAL
    ]
    absent = [p for p in required if p.name not in given]
    kind = "positional"
    if all(p.kind is p.KEYWORD_ONLY for p in absent):
        kind = "keyword-only"
    names = [repr(p.name) for p in absent]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    plural = "s" if names[1:] else ""
    return ArgumentTypeError(
        f"{function}() missing {len(names)} required {kind} argument{plural}: "
        f"{listed}; {_taken(function, signature)}"
    )


def too_many(
    function: str, signature: inspect.Signature, taken: int, given: int
) -> ArgumentTypeError:
    """Return the error for too many positional arguments."""
    plural = "" if taken == 1 else "s"
    were = "was" if given == 1 else "were"
    return ArgumentTypeError(
        f"{function}() takes {taken} positional argument{plural} but {given} "
        f"{were} given; {_taken(function, signature)}"
    )


def given_twice(
    function: str, signature: inspect.Signature, name: str
) -> ArgumentTypeError:
    """Return the error for an argument given by position and by name."""
    return ArgumentTypeError(
        f"{function}() got multiple values for argument {name!r}; "
        f"{_taken(function, signature)}"
    )


def unexpected(
    function: str, signature: inspect.Signature, name: str
) -> ArgumentTypeError:
    """Return the error for a keyword that the function does not have."""
    near = difflib.get_close_matches(name, signature.parameters, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    return ArgumentTypeError(
        f"{function}() got an unexpected keyword argument {name!r}{meant}; "
        f"{_taken(function, signature)}"
    )


def _taken(function: str, signature: inspect.Signature) -> str:
    parameters = signature.parameters.values()
    public = [p for p in parameters if not p.name.startswith("_")]
    shown = [p.replace(annotation=_EMPTY) for p in public]
    return f"it takes {function}{inspect.Signature(shown)}"


# -- errors of Python's that come out of a call -----------------------------------

RAW = (
    TracegradError,
    TypeError,
    AttributeError,
    ValueError,
    LookupError,
    OverflowError,
    ZeroDivisionError,
)
"""What is raised where an argument of another kind is used."""


def explained(
    function: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: Exception,
) -> Exception:
    """Return what to raise in place of an error that came out of a function of ours.

    An error of a function that the user gave stays, and so does one of tracegrad's
    own, unless an integer, a word or a truth was to be given and was not.
    """
    if isinstance(error, TracegradError):
        if isinstance(error, ArgumentTypeError):
            return error
        _note_arrays(error, args, kwargs)
        kinds = CLOSED_KINDS
        if isinstance(error, ScalarError):
            # A tensor of several elements where a number is wanted.
            kinds |= {"float", "complex"}
        wrong = unsuitable(function, signature, args, kwargs, kinds)
        return error if wrong is None else wrong
    if not _comes_from_us(error):
        return error
    try:
        signature.bind(*args, **kwargs)
    except TypeError as refused:
        return _refused(function, signature, args, kwargs, refused)
    wrong = unsuitable(function, signature, args, kwargs, None)
    if wrong is not None:
        return wrong
    kind = next((k for c, k in _KINDS.items() if isinstance(error, c)), None)
    arrived = ", ".join(
        [*map(described, args), *(f"{n}={described(v)}" for n, v in kwargs.items())]
    )
    return (kind or ArgumentTypeError)(
        f"{function}() does not take ({arrived}): {_reason(error)}; "
        f"{_taken(function, signature)}"
    )


def _reason(error: Exception) -> str:
    private = isinstance(error, AttributeError) and str(error.name).startswith("_")
    return "a Tensor is wanted" if private else str(error)


_KINDS: dict[type[Exception], type[TracegradError]] = {
    ValueError: ArgumentError,
    LookupError: ArgumentError,
    OverflowError: ArgumentError,
    ZeroDivisionError: DivisionError,
}


def _comes_from_us(error: Exception) -> bool:
    """Return whether no function of a user's was running, called by one of ours."""
    trace = error.__traceback__
    while trace is not None:
        if not _is_inner(trace.tb_frame.f_code.co_filename):
            return False
        trace = trace.tb_next
    return True


def _is_inner(file: str) -> bool:
    """Return whether a file is tracegrad's, or of what only it calls here."""
    if is_ours(file) or file.startswith(_NUMPY):
        return True
    return file.startswith(_STANDARD) and "site-packages" not in file


# NumPy's Cython modules name their files so.
_NUMPY = (os.path.dirname(np.__file__) + os.sep, "numpy/")
_STANDARD = os.path.dirname(os.__file__) + os.sep


def _refused(
    function: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    error: TypeError,
) -> ArgumentTypeError:
    """Return the error for a call that `signature` can't be bound to."""
    for name in kwargs:
        if name not in signature.parameters and not _takes_any_keyword(signature):
            return unexpected(function, signature, name)
    said = str(error)
    named = re.search(r"'(\w+)'", said)
    if said.startswith("missing"):
        given = signature.bind_partial(*args, **kwargs).arguments
        return missing(function, signature, given)
    if said.startswith("multiple") and named:
        return given_twice(function, signature, named[1])
    positional = [
        p
        for p in signature.parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return too_many(function, signature, len(positional), len(args))


def _takes_any_keyword(signature: inspect.Signature) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())


CLOSED_KINDS = frozenset({"int", "integers", "bool", "str"})
"""Kinds of which an annotation lists all that a parameter takes."""


def unsuitable(
    function: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: frozenset[str] | None,
) -> ArgumentTypeError | None:
    """Return the error for an argument that its annotation excludes, if there is one.

    Only parameters of `kinds` are looked at, all without.
    """
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    for name, value in given.items():
        parameter = signature.parameters[name]
        annotation = _text_of(parameter)
        if kinds and kind_of(annotation) not in kinds:
            continue
        if value is not parameter.default and not _suits(parameter, value):
            return wrong_type(function, name, annotation, value)
    return None


def _note_arrays(
    error: TracegradError, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Say that a NumPy array was given where dtypes do not fit."""
    arrays = [v for v in (*args, *kwargs.values()) if isinstance(v, np.ndarray)]
    if isinstance(error, DTypeError) and arrays:
        error.add(
            f"a NumPy array of {arrays[0].dtype} was given, which is a tensor of that "
            "dtype; tracegrad.tensor(array, dtype=…) makes one of another"
        )


def _text_of(parameter: inspect.Parameter) -> str:
    """Return an annotation as it is written."""
    annotation = parameter.annotation
    if isinstance(annotation, str):
        return annotation
    return inspect.formatannotation(annotation)


def _suits(parameter: inspect.Parameter, value: Any) -> bool:
    annotation = _text_of(parameter)
    if parameter.kind is parameter.VAR_KEYWORD:
        return True
    if parameter.kind is parameter.VAR_POSITIONAL:
        one = parameter.replace(kind=parameter.POSITIONAL_ONLY)
        return all(_suits(one, v) for v in value) if "Tensor" in annotation else True
    words = _words(annotation)
    if "Tensor" in words and words <= {"Tensor", "None"}:
        return hasattr(type(value), "_array") or (value is None and "None" in words)
    kind = kind_of(annotation)
    return kind in (None, "dtype") or fits(str(kind), value, annotation)
