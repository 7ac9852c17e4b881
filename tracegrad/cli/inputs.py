"""Example inputs: ``x=f32[32,64]`` and its like, drawn from a fixed seed."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tracegrad.cli.targets import load, run_user_code
from tracegrad.dispatch.tensor import Tensor, wrap
from tracegrad.dtypes import BY_CODE, DType
from tracegrad.errors import CommandError
from tracegrad.nn import Module

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

_SEED = 0
_SPEC = re.compile(
    r"(?P<code>\w+)\[(?P<sizes>[^\]]*)\](?:<(?P<below>\d+))?(?P<grad>\s+grad)?"
)
_NAMED = re.compile(r"(?:(?P<name>[A-Za-z_]\w*)=)?(?P<spec>.*)", re.DOTALL)
_FORM = "an input is written x=f32[32,64], x=i64[32]<10, 'x=f32[3] grad' or x=0.5"
_INTEGERS_BELOW = 10


def of_texts(function: Callable[..., Any], texts: Sequence[str]) -> Arguments:
    """Return the arguments that ``--input`` options state for a call of `function`.

    Raises
    ------
    CommandError
        If a text is no input, or the inputs do not fit the function's parameters.
    """
    rng = np.random.default_rng(_SEED)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for text in texts:
        match = _NAMED.fullmatch(text.strip())
        assert match is not None
        value = _value(match["spec"], text, rng)
        if match["name"] is None:
            positional.append(value)
        elif match["name"] in named:
            raise CommandError(f"the input {match['name']!r} is given twice")
        else:
            named[match["name"]] = value
    return _bound(function, positional, named)


def _value(spec: str, text: str, rng: np.random.Generator) -> Any:
    match = _SPEC.fullmatch(spec)
    if match is None:
        return _literal(spec, text)
    dtype = BY_CODE.get(match["code"])
    if dtype is None:
        raise CommandError(
            f"{text!r}: there is no dtype {match['code']!r}; "
            f"there are {', '.join(BY_CODE)}"
        )
    below = match["below"]
    if below is not None and (dtype.kind != "int" or below == "0"):
        raise CommandError(f"{text!r}: <N bounds integers from above, N at least 1")
    bound = _INTEGERS_BELOW if below is None else int(below)
    tensor = wrap(draw(dtype, _sizes(match["sizes"], text), rng, bound))
    if match["grad"]:
        if dtype.kind not in ("float", "complex"):
            raise CommandError(
                f"{text!r}: gradients are for floating and complex dtypes"
            )
        tensor.requires_grad_()
    return tensor


def _sizes(text: str, whole: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(part.isdecimal() for part in parts):
        raise CommandError(f"{whole!r}: sizes are numbers from 0 up; {_FORM}")
    return tuple(map(int, parts))


def _literal(spec: str, text: str) -> Any:
    """Return a Python number, string, None or nesting of these."""
    try:
        return ast.literal_eval(spec)
    except (ValueError, SyntaxError):
        raise CommandError(f"{text!r} is not an input: {_FORM}") from None


def draw(
    dtype: DType, shape: tuple[int, ...], rng: np.random.Generator, below: int
) -> Any:
    """Return an array: normal numbers, integers from 0 up, or coins."""
    if dtype.kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "int":
        return rng.integers(0, below, shape).astype(dtype.numpy)
    values = np.asarray(rng.standard_normal(shape))
    if dtype.kind == "complex":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype.numpy)


def _bound(
    function: Callable[..., Any], positional: list[Any], named: Mapping[str, Any]
) -> Arguments:
    signature = _signature(function)
    if signature is None:
        return tuple(positional), dict(named)
    try:
        bound = signature.bind_partial(*positional)
        taken = bound.arguments.keys()
        for name, value in named.items():
            _check_name(signature, name, name in taken)
            _place(signature, bound, name, value)
        signature.bind(*bound.args, **bound.kwargs)
    except TypeError as error:
        raise CommandError(
            f"the inputs do not fit {_called(function)}{signature}: {error}; "
            "give each with --input NAME=f32[…], or all with --inputs"
        ) from None
    return bound.args, bound.kwargs


def _check_name(signature: inspect.Signature, name: str, is_taken: bool) -> None:
    if is_taken:
        raise TypeError(f"{name!r} is given by position and by name")
    kinds = [p.kind for p in signature.parameters.values()]
    if name not in signature.parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise TypeError(f"it has no parameter {name!r}")


def _place(
    signature: inspect.Signature, bound: inspect.BoundArguments, name: str, value: Any
) -> None:
    if name in signature.parameters:
        bound.arguments[name] = value
        return
    (rest,) = [
        p.name
        for p in signature.parameters.values()
        if p.kind is inspect.Parameter.VAR_KEYWORD
    ]
    bound.arguments.setdefault(rest, {})[name] = value


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    called = function.forward if isinstance(function, Module) else function
    try:
        return inspect.signature(called)
    except (TypeError, ValueError):
        return None


def _called(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def of_function(function: Callable[..., Any], target: str) -> Arguments:
    """Return the arguments that the user's function `target` makes for `function`.

    It returns a Tensor, a tuple or list of positional arguments, or a dict of named
    ones.

    Raises
    ------
    CommandError
        If there is no such function, it fails, or what it returns does not fit.
    """
    make = load(target)
    if not callable(make):
        raise CommandError(f"{target} is {type(make).__name__}, not a function")
    made = run_user_code(make, f"{target}()")
    if isinstance(made, Tensor):
        return _bound(function, [made], {})
    if isinstance(made, tuple | list):
        return _bound(function, list(made), {})
    if isinstance(made, dict) and all(isinstance(key, str) for key in made):
        return _bound(function, [], made)
    raise CommandError(
        f"{target}() returned {type(made).__name__}; it must return a Tensor, a tuple "
        "of positional arguments or a dict of named ones"
    )
