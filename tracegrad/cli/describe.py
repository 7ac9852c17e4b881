"""What the registry says of an operator, in words; the operator table is made of it."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

import tracegrad
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import DType, bool_, complex64, float32, int64
from tracegrad.nn import functional

_KINDS = {"bool": bool_, "int": int64, "float": float32, "complex": complex64}
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(tracegrad.__file__)))
_EMPTY = inspect.Parameter.empty


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One line of the operator table.

    Attributes
    ----------
    name, family : str
    signature : str
        As in Python, without the name.
    dtypes : str
        The kinds that its floating operands may have instead, found by trying.
    gradient : str
        ``yes``, ``zero``, ``of its body`` or nothing.
    inplace : str
        The method that writes in place, or nothing.
    fuses : str
        What it is in a fused kernel, or nothing.
    eager : str
        ``kernel pair`` where it states one.
    summary : str
        The first line of its documentation.
    """

    name: str
    family: str
    signature: str
    dtypes: str
    gradient: str
    inplace: str
    fuses: str
    eager: str
    summary: str


def describe(operator: OpDef) -> Row:
    """Return the table's line for an operator."""
    return Row(
        operator.name,
        operator.family,
        signature_text(operator.signature),
        ", ".join(accepted_kinds(operator)),
        gradient_of(operator),
        f"{operator.name}_" if hasattr(Tensor, f"{operator.name}_") else "",
        fusion_role(operator),
        "kernel pair" if operator.pair is not None else "",
        summary_of(operator.function),
    )


def forms_of(name: str) -> list[str]:
    """Return all forms in which users find an operator or a function of that name."""
    operator = OPERATORS.get(name)
    public = name in FUNCTIONS or (operator is not None and operator.public)
    forms = [f"tracegrad.{name}"] if public else []
    forms += [f"Tensor.{n}" for n in (name, f"{name}_") if hasattr(Tensor, n)]
    if name in functional.__all__:
        forms.append(f"nn.functional.{name}")
    return [*forms, "in graphs"] if operator is not None else forms


def summary_of(function: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's documentation, as one line."""
    paragraph = (inspect.getdoc(function) or "").split("\n\n", maxsplit=1)[0]
    return " ".join(paragraph.split())


# -- signatures -----------------------------------------------------------------


def signature_text(signature: inspect.Signature) -> str:
    """Return a signature as Python writes it, with annotations as they were written.

    Examples
    --------
    >>> def f(input: Tensor, dim: int = 0, *, out: Tensor = None) -> Tensor: ...
    >>> signature_text(inspect.signature(f))
    '(input: Tensor, dim: int = 0, *, out: Tensor = None) -> Tensor'
    """
    parts = list(_parameter_texts(signature))
    returned = signature.return_annotation
    arrow = "" if returned is _EMPTY else f" -> {_annotation(returned)}"
    return f"({', '.join(parts)}){arrow}"


def _parameter_texts(signature: inspect.Signature) -> Iterator[str]:
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    starred = False
    for index, parameter in enumerate(parameters):
        if parameter.kind is kinds.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or parameter.kind is kinds.VAR_POSITIONAL
        yield _parameter_text(parameter)
        following = parameters[index + 1].kind if index + 1 < len(parameters) else None
        is_last_positional = following is not kinds.POSITIONAL_ONLY
        if parameter.kind is kinds.POSITIONAL_ONLY and is_last_positional:
            yield "/"


_STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _parameter_text(parameter: inspect.Parameter) -> str:
    text = _STARS.get(parameter.kind, "") + parameter.name
    if parameter.annotation is not _EMPTY:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is _EMPTY:
        return text
    equals = " = " if parameter.annotation is not _EMPTY else "="
    return f"{text}{equals}{_default(parameter.default)}"


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return str(annotation.__name__ if isinstance(annotation, type) else annotation)


def _default(value: Any) -> str:
    return str(value.name) if isinstance(value, DType) else repr(value)


# -- dtypes ---------------------------------------------------------------------


def accepted_kinds(operator: OpDef) -> list[str]:
    """Return which kinds of dtype an operator's floating operands may have.

    Tried on the data of its tests. Empty if no operand is floating there, as for the
    operators that create tensors.
    """
    example = _example(operator)
    if example is None:
        return []
    args, kwargs = example
    if not any(_is_float(a) for arg in args for a in _arrays(arg)):
        return []
    return [
        kind
        for kind, dtype in _KINDS.items()
        if _works(operator, [_converted(arg, dtype) for arg in args], kwargs)
    ]


def _example(operator: OpDef) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    if operator.examples is not None:
        given = operator.examples(np.random.default_rng(0))
        return next(((tuple(a), dict(k)) for a, k in given), None)
    facts = operator.facts.get("pointwise")
    if facts is None or operator.attributes:
        return None
    domain = facts.domain
    args = []
    for name in facts.names:
        low, high = domain[name] if isinstance(domain, dict) else domain
        middle = np.full((2,), low + 0.75 * (high - low))
        args.append(middle > 0 if name == "condition" else middle)
    return tuple(args), {}


def _arrays(arg: Any) -> list[Any]:
    if isinstance(arg, list | tuple):
        return [part for part in arg if isinstance(part, np.ndarray)]
    return [arg] if isinstance(arg, np.ndarray) else []


def _is_float(array: Any) -> bool:
    return bool(array.dtype.kind == "f")


def _converted(arg: Any, dtype: DType) -> Any:
    if isinstance(arg, list | tuple) and _arrays(arg):
        return [_converted(part, dtype) for part in arg]
    if not isinstance(arg, np.ndarray):
        return arg
    with np.errstate(invalid="ignore"):
        return wrap(arg.astype(dtype.numpy) if _is_float(arg) else arg)


def _works(operator: OpDef, args: list[Any], kwargs: dict[str, Any]) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            operator.call(*args, **kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            return False
    return True


# -- rules and kernels ----------------------------------------------------------


def gradient_of(operator: OpDef) -> str:
    """Return what kind of gradient an operator has."""
    kinds = {rule.kind for rule in operator.vjp_rules.values()}
    if kinds - {"none", "zero"}:
        return "yes"
    if kinds == {"zero"}:
        return "zero"
    return "of its body" if operator.body is not None else ""


def fusion_role(operator: OpDef) -> str:
    """Return what an operator is in a fused kernel."""
    facts = operator.facts.get("pointwise")
    if facts is not None:
        return "element by element" if facts.c else ""
    if "reduction" in operator.facts:
        return "reduction"
    if operator.facts.get("shape_only") or operator.facts.get("broadcasts"):
        return "change of index"
    return "its parts" if operator.body is not None else ""


def place_of(function: Callable[..., Any]) -> str:
    """Return where a function is defined, as a path from the package's parent."""
    plain = inspect.unwrap(function)
    # The old tensor types are called like functions, by their class.
    code = getattr(plain, "__code__", None) or type(plain).__call__.__code__
    return f"{os.path.relpath(code.co_filename, _ROOT)}:{code.co_firstlineno}"
