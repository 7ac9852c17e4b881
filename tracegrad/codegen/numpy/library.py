"""Library operators in emitted modules: their text, or the source of their kernel."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, final

from tracegrad.errors import CompileError, TracegradError
from tracegrad.ir.graph import Node
from tracegrad.spec import TensorSpec


@final
class Library:
    """The functions and imports that an emitted module needs besides NumPy.

    Attributes
    ----------
    functions : dict
        Name to source text, in the order of use.
    names : dict
        Names that the runtime binds to its own objects (error classes); in a module
        that stands alone they are the builtin classes they derive from.
    imports : dict
        Import statements.
    """

    def __init__(self) -> None:
        self.functions: dict[str, str] = {}
        self.names: dict[str, Any] = {}
        self.imports: dict[str, str] = {}

    def text_of(self, node: Node) -> str:
        """Return the call of a library operator, operands and attributes in braces."""
        operator = node.operator
        text = operator.facts.get("numpy")
        if isinstance(text, str) and _allows(operator.facts, node):
            return text
        if operator.kernel is None:
            raise CompileError(f"{operator.name} has no kernel to emit")
        name = self.add(operator.kernel, "_" + operator.name)
        parts = [f"{{{p.name}}}" for p in operator.operands]
        parts += [f"{p.name}={{{p.name}}}" for p in operator.attributes]
        return f"{name}(np, {', '.join(parts)})"

    def add(self, function: Callable[..., Any], name: str = "") -> str:
        """Add the source of `function` and of what it calls; return its name."""
        if not isinstance(function, FunctionType):
            raise CompileError(f"{function!r} is no plain function, it can't be emitted")
        called = name or function.__name__
        if called in self.functions:
            return called
        self.functions[called] = ""
        tree = _tree_of(function, called)
        self._add_globals(function)
        source = ast.unparse(tree)
        # What is called comes first in the emitted module.
        del self.functions[called]
        self.functions[called] = source
        return called

    def _add_globals(self, function: FunctionType) -> None:
        if function.__code__.co_freevars:
            raise CompileError(f"{function.__qualname__} is a closure, it can't be emitted")
        for name in _global_names(function):
            if name in function.__globals__:
                self._add_global(name, function.__globals__[name])

    def _add_global(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            self.imports[name] = f"import {value.__name__} as {name}"
        elif isinstance(value, type) and issubclass(value, TracegradError):
            builtin = next(b for b in value.__mro__ if b.__module__ == "builtins")
            self.names[name] = value
            self.functions.setdefault(name, f"{name} = {builtin.__name__}")
        elif isinstance(value, FunctionType) and _is_ours(value):
            self.add(value, name)
        elif isinstance(value, int | float | str | tuple | frozenset | type(None)):
            self.functions.setdefault(name, f"{name} = {value!r}")
        else:
            origin = getattr(value, "__module__", "")
            self.imports[name] = f"from {origin} import {name}"


def _allows(facts: dict[str, Any], node: Node) -> bool:
    """Return whether the operator's text holds for the node's dtypes."""
    allowed = facts.get("numpy_dtypes")
    if allowed is None:
        return True
    specs = [v.spec for v in node.operands() if isinstance(v.spec, TensorSpec)]
    return all(s.dtype.name in allowed for s in specs)


def _is_ours(function: FunctionType) -> bool:
    module = function.__module__ or ""
    return module.startswith("tracegrad.ops")


def _global_names(function: FunctionType) -> list[str]:
    found: list[str] = []
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        found.extend(code.co_names)
        pending.extend(c for c in code.co_consts if inspect.iscode(c))
    return list(dict.fromkeys(found))


def _tree_of(function: FunctionType, name: str) -> ast.stmt:
    """Return the function's definition under `name`, without annotations."""
    source = textwrap.dedent(inspect.getsource(function))
    if function.__name__ != "<lambda>":
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        tree.name, tree.decorator_list, tree.returns = name, [], None
        for argument in _arguments(tree.args):
            argument.annotation = None
        if ast.get_docstring(tree) is not None:
            tree.body = tree.body[1:]
        return tree
    found = _lambda_in(function)
    return ast.FunctionDef(
        name=name,
        args=found.args,
        body=[ast.Return(found.body)],
        decorator_list=[],
        lineno=1,
    )


def _lambda_in(function: FunctionType) -> ast.Lambda:
    module = inspect.getmodule(function)
    assert module is not None
    tree = ast.parse(inspect.getsource(module))
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Lambda)
            and node.lineno == function.__code__.co_firstlineno
            and tuple(a.arg for a in _arguments(node.args)) == names
        ):
            return node
    raise CompileError(f"the source of {function.__qualname__} was not found")


def _arguments(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return found + [a for a in (args.vararg, args.kwarg) if a is not None]


