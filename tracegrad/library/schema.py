"""The schema of a custom operator: what it takes, what it writes, what it gives.

The text has PyTorch's form, ``(Tensor(a0!) x, SymInt n=1) -> Tensor``: ``!`` marks an
argument that is written. Source: the grammar in PyTorch's
``aten/src/ATen/native/README.md``, section "func".
"""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, final

from tracegrad.device import Device, device
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import ALL, DType
from tracegrad.errors import ArgumentError

REQUIRED = inspect.Parameter.empty
_BASES: tuple[tuple[Any, str], ...] = (
    (Tensor, "Tensor"),
    (bool, "bool"),
    (int, "SymInt"),
    (float, "float"),
    (str, "str"),
    (DType, "ScalarType"),
    (Device, "Device"),
    (device, "Device"),
    (int | float | bool, "Scalar"),
)
_LISTS = (list, Sequence, typing.Sequence)
_KNOWN = {"Tensor", "bool", "int", "SymInt", "float", "str", "ScalarType", "Device"}
_KNOWN |= {"Scalar", "complex"}


@final
@dataclass(frozen=True, slots=True)
class SchemaArgument:
    """One argument.

    Attributes
    ----------
    name : str
    type : str
        Such as ``Tensor``, ``Tensor[]``, ``SymInt``, ``float?``.
    default : object
        `REQUIRED` if there is none.
    keyword_only, is_written : bool
    """

    name: str
    type: str
    default: Any
    keyword_only: bool
    is_written: bool

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor, one that may be None, or several."""
        return self.type.startswith("Tensor")


@final
@dataclass(frozen=True, slots=True)
class Schema:
    """What a custom operator takes and gives.

    Attributes
    ----------
    text : str
        PyTorch's form of all of it.
    arguments : tuple of SchemaArgument
    returns : tuple of str
        The types of the results.
    """

    text: str
    arguments: tuple[SchemaArgument, ...]
    returns: tuple[str, ...]

    @property
    def written(self) -> tuple[SchemaArgument, ...]:
        """The arguments that the operator writes."""
        return tuple(a for a in self.arguments if a.is_written)

    @property
    def gives_list(self) -> bool:
        """Whether the result is a list of tensors, of any length."""
        return self.returns == ("Tensor[]",)

    def signature(self) -> inspect.Signature:
        """Return what binds a call's arguments to names."""
        kinds = inspect.Parameter
        return inspect.Signature(
            [
                inspect.Parameter(
                    a.name,
                    kinds.KEYWORD_ONLY
                    if a.keyword_only
                    else kinds.POSITIONAL_OR_KEYWORD,
                    default=a.default,
                )
                for a in self.arguments
            ]
        )


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """Return the schema that a function's annotations state.

    Parameters
    ----------
    prototype_function : callable
        Annotated with ``Tensor``, ``int``, ``float``, ``bool``, ``str``, ``dtype``,
        ``device``, or ``Optional``, ``list`` and ``Sequence`` of these.
    mutates_args : iterable of str, or ``"unknown"``
        The arguments that it writes; ``"unknown"`` means all tensors.
    op_name : str, optional
        Stands in front of the schema.
    tags : object
        Accepted and not used.

    Raises
    ------
    ArgumentError
        If an annotation is missing or means nothing here.

    Examples
    --------
    >>> import tracegrad as tg
    >>> def scale(x: tg.Tensor, by: float = 2.0) -> tg.Tensor: ...
    >>> tg.library.infer_schema(scale, mutates_args=())
    '(Tensor x, float by=2.0) -> Tensor'
    """
    reader = _Reader(prototype_function, mutates_args)
    text = f"({', '.join(reader.parameters())}) -> {reader.result()}"
    return text if op_name is None else op_name + text


@final
class _Reader:
    """Reads the annotations of one function."""

    def __init__(
        self, function: Callable[..., Any], mutates_args: str | Iterable[str]
    ) -> None:
        if isinstance(mutates_args, str) and mutates_args != "unknown":
            raise ArgumentError(
                "mutates_args is a sequence of argument names, or 'unknown', not "
                f"{mutates_args!r}"
            )
        self.function = function
        self.signature = inspect.signature(function)
        self.unknown = mutates_args == "unknown"
        self.mutates = () if self.unknown else tuple(mutates_args)
        missing = set(self.mutates) - set(self.signature.parameters)
        if missing:
            self.fail(f"mutates_args names {sorted(missing)}, which it does not take.")

    def fail(self, what: str) -> NoReturn:
        name = getattr(self.function, "__qualname__", repr(self.function))
        raise ArgumentError(f"infer_schema: {name}{self.signature}: {what}")

    def parameters(self) -> list[str]:
        """Return the arguments as text."""
        found = []
        in_keywords = False
        for index, parameter in enumerate(self.signature.parameters.values()):
            kind = parameter.kind
            if kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                self.fail(
                    f"the parameter {parameter.name} is positional-only or variadic, "
                    "which a schema can't state."
                )
            if kind is parameter.KEYWORD_ONLY and not in_keywords:
                found.append("*")
                in_keywords = True
            found.append(self._parameter(index, parameter))
        return found

    def _parameter(self, index: int, parameter: inspect.Parameter) -> str:
        name = parameter.name
        if parameter.annotation is inspect.Parameter.empty:
            self.fail(f"the parameter {name} needs a type annotation.")
        text = self._type(parameter.annotation, f"the parameter {name}")
        is_tensor = text.startswith("Tensor")
        if name in self.mutates and not is_tensor:
            self.fail(f"{name} is in mutates_args and is no tensor.")
        if name in self.mutates or (self.unknown and is_tensor):
            text = f"Tensor(a{index}!)" + text.removeprefix("Tensor")
        if parameter.default is REQUIRED:
            return f"{text} {name}"
        return f"{text} {name}={self._default(name, parameter.default)}"

    def _default(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float):
            return str(value)
        if isinstance(value, str | Device):
            return f'"{value}"'
        if isinstance(value, DType):
            return value.name
        self.fail(f"the default of {name} can't stand in a schema: {value!r}.")

    def result(self) -> str:
        """Return the results as text."""
        annotation = self._evaluated(self.signature.return_annotation)
        if annotation is inspect.Signature.empty:
            self.fail("the result needs a type annotation (None if there is none).")
        if annotation is None or annotation is type(None):
            return "()"
        if typing.get_origin(annotation) is tuple:
            parts = [self._type(a, "a result") for a in typing.get_args(annotation)]
            return f"({', '.join(parts)})"
        return self._type(annotation, "the result")

    def _evaluated(self, annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        names = {
            "Tensor": Tensor, "dtype": DType, "device": Device,
            "Optional": typing.Optional, "List": list, "Sequence": Sequence,
            "Union": typing.Union, "Tuple": tuple,
        } | self.function.__globals__  # fmt: skip
        try:
            return eval(annotation, names)
        except (NameError, AttributeError, SyntaxError, TypeError) as error:
            self.fail(f"the annotation {annotation!r} is no type: {error}.")

    def _type(self, annotation: Any, what: str) -> str:
        annotation = self._evaluated(annotation)
        for known, text in _BASES:
            if annotation is known or annotation == known:
                return text
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if origin in (typing.Union, types.UnionType) and type(None) in args:
            rest = [a for a in args if a is not type(None)]
            if len(rest) == 1:
                return self._type(rest[0], what) + "?"
        if origin in _LISTS and len(args) == 1:
            return self._type(args[0], what) + "[]"
        if origin is tuple:
            self.fail(f"{what} is a tuple; a schema has lists only: use list[…].")
        self.fail(f"{what} has a type that a schema can't state: {annotation!r}.")


_ARGUMENT = re.compile(
    r"(?P<type>\w+)(?:\((?P<alias>[^)]*)\))?(?P<rest>[?\[\]\d]*)\s+(?P<name>\w+)"
    r"(?:\s*=\s*(?P<default>.+))?$"
)
_RESULT = re.compile(r"(?P<type>\w+)(?:\((?P<alias>[^)]*)\))?(?P<rest>[?\[\]]*)\s*\w*$")


def parse_schema(text: str) -> Schema:
    """Return what the text of a schema says.

    Raises
    ------
    ArgumentError
        If it is no schema, or one of an operator that gives a view.
    """
    match = re.fullmatch(r"\s*[\w:.]*\((.*)\)\s*->\s*(.+?)\s*", text, re.DOTALL)
    if match is None:
        raise ArgumentError(f"{text!r} is no schema: it has the form (…) -> …")
    arguments = []
    in_keywords = False
    for part in _split(match[1]):
        if part == "*":
            in_keywords = True
        else:
            arguments.append(_argument(part, in_keywords, text))
    results = match[2]
    if results.startswith("("):
        results = results[1:-1]
    returns = tuple(_result(part, text) for part in _split(results))
    return Schema(match[0].strip(), tuple(arguments), returns)


def _split(text: str) -> list[str]:
    """Return what stands between commas outside of brackets and quotes."""
    parts = re.findall(r"(?:[^,(\[\"']|\([^)]*\)|\[[^\]]*\]|\"[^\"]*\"|'[^']*')+", text)
    return [part.strip() for part in parts if part.strip()]


def _argument(part: str, keyword_only: bool, schema: str) -> SchemaArgument:
    match = _ARGUMENT.match(part)
    if match is None or match["type"] not in _KNOWN:
        raise ArgumentError(f"the schema {schema!r} has an argument unknown: {part!r}")
    kind = match["type"] + re.sub(r"\d", "", match["rest"])
    written = "!" in (match["alias"] or "")
    default = REQUIRED if match["default"] is None else _value(match["default"])
    return SchemaArgument(match["name"], kind, default, keyword_only, written)


def _value(text: str) -> Any:
    named = {dtype.name: dtype for dtype in ALL}
    if text in named:
        return named[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ArgumentError(f"a schema's default can't be {text!r}") from None


def _result(part: str, schema: str) -> str:
    match = _RESULT.match(part)
    if match is None or match["type"] not in _KNOWN:
        raise ArgumentError(f"the schema {schema!r} has a result unknown: {part!r}")
    if match["alias"]:
        raise ArgumentError(
            f"the schema {schema!r} gives an argument, or a view of one, back; a "
            "custom operator's results must be memory of their own"
        )
    return match["type"] + match["rest"]
