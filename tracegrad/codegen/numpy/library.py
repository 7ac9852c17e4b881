"""Library operators in emitted modules: their text, or the source of their kernel."""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any, final

from tracegrad.dispatch.operator import OpDef
from tracegrad.dtypes import ALL, DType
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

    def plain_text(self, node: Node) -> str | None:
        """Return the operator's own text, if it has one for the node's dtypes."""
        if not _allows(node.operator.facts, node):
            return None
        if "numpy_matrices" in node.operator.facts and _are_matrices(node):
            return str(node.operator.facts["numpy_matrices"])
        return operator_text(node.operator, dict(node.attributes))

    def call_text(self, node: Node) -> str:
        """Return a call of the operator's kernel, whose source the module gets."""
        operator = node.operator
        if operator.kernel is None:
            raise CompileError(f"{operator.name} has no kernel to emit")
        external = operator.facts.get("external")
        if external is None:
            name = self.add(operator.kernel, "_" + operator.name)
        else:
            name = self._external(operator.name, external)
        parts = [f"{{{p.name}}}" for p in operator.operands]
        parts += [f"{p.name}={{{p.name}}}" for p in operator.attributes]
        return f"{name}(np, {', '.join(parts)})"

    def _external(self, operator: str, found_by: tuple[str, str]) -> str:
        """Let the module look up a kernel that users registered; return its name."""
        module, function = found_by
        name = "_" + operator.replace("::", "_")
        self.imports[function] = f"from {module} import {function}"
        self.functions[name] = f"{name} = {function}({operator!r})"
        return name

    def add(self, function: Callable[..., Any], name: str = "") -> str:
        """Add the source of `function` and of what it calls; return its name."""
        if not isinstance(function, FunctionType):
            raise CompileError(
                f"{function!r} is no plain function, it can't be emitted"
            )
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
            raise CompileError(
                f"{function.__qualname__} is a closure, it can't be emitted"
            )
        for name in _global_names(function):
            if name in function.__globals__:
                module = function.__module__
                self._add_global(name, function.__globals__[name], module)

    def _add_global(self, name: str, value: Any, module: str) -> None:
        if isinstance(value, ModuleType):
            self.imports[name] = f"import {value.__name__} as {name}"
        elif isinstance(value, type) and issubclass(value, TracegradError):
            self.error(value)
        elif isinstance(value, FunctionType) and _is_ours(value):
            self.add(value, name)
        elif (text := self.data_text(value)) is not None:
            if text != name:
                self.functions.setdefault(name, f"{name} = {text}")
        else:
            origin = getattr(value, "__module__", None) or module
            self.imports[name] = f"from {origin} import {name}"

    def error(self, cls: type) -> str:
        """Add an error class; return its name in the module."""
        builtin = next(b for b in cls.__mro__ if b.__module__ == "builtins")
        self.names[cls.__qualname__] = cls
        text = f"{cls.__qualname__} = {builtin.__name__}"
        self.functions.setdefault(cls.__qualname__, text)
        return cls.__qualname__

    def data_text(self, value: Any) -> str | None:
        """Return text that makes `value`, or None if it is not plain data."""
        if isinstance(value, DType):
            return self.dtype(value)
        if isinstance(value, OpDef):
            return self.operator(value)
        if isinstance(value, bool | int | float | str | type(None)):
            return repr(value)
        if type(value) in (tuple, list, frozenset, set):
            parts = [self.data_text(v) for v in value]
            if None in parts:
                return None
            inner = ", ".join(map(str, parts))
            if type(value) is tuple:
                return f"({inner},)" if len(parts) == 1 else f"({inner})"
            return f"{type(value).__name__}([{inner}])"
        if type(value) is dict:
            pairs = [(self.data_text(k), self.data_text(v)) for k, v in value.items()]
            if any(None in pair for pair in pairs):
                return None
            return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
        return None

    def settle(self) -> None:
        """Let a module that needs tracegrad take its dtypes from there as well.

        Its functions compare dtypes by identity with what tracegrad's functions give.
        """
        if not any("tracegrad.dtypes" in line for line in self.imports.values()):
            return
        for dtype in ALL:
            name = "bool_" if dtype.name == "bool" else dtype.name
            if self.functions.pop(name, None) is not None:
                self.imports[name] = f"from tracegrad.dtypes import {name}"
        self.functions.pop("DType", None)

    def operator(self, operator: OpDef) -> str:
        """Add an operator that an attribute names, a step of a view path."""
        if operator.kernel is None:
            raise CompileError(f"{operator.name} has no kernel to emit")
        kernel = self.add(operator.kernel, "_" + operator.name)
        self.functions.setdefault("Operator", _OPERATOR_CLASS)
        logical = operator.facts.get("logical")
        facts = "{}"
        if logical is not None:
            inner = self.add(logical["kernel"], f"_{operator.name}_logical")
            facts = f"{{'logical': {{'kernel': {inner}}}}}"
        return f"Operator({kernel}, {operator.name!r}, {facts})"

    def dtype(self, dtype: DType) -> str:
        """Add what kernels know of a dtype; return its name in the module."""
        self.functions.setdefault("DType", _DTYPE_CLASS)
        name = "bool_" if dtype.name == "bool" else dtype.name
        array = f"np.dtype({dtype.name!r})"
        if dtype.name == "bfloat16":
            array = "None"
            if find_spec("ml_dtypes") is not None:
                self.imports["ml_dtypes"] = "import ml_dtypes"
                array = "np.dtype(ml_dtypes.bfloat16)"
        self.functions.setdefault(
            name,
            f"{name} = DType({dtype.name!r}, {dtype.kind!r}, {dtype.itemsize}, "
            f"{dtype.signed}, {array})",
        )
        return name


def operator_text(operator: OpDef, attributes: dict[str, Any]) -> str | None:
    """Return NumPy's text for an operator: a template, or what makes one."""
    text = operator.facts.get("numpy")
    found = text(**attributes) if callable(text) else text
    return found if isinstance(found, str) else None


_OPERATOR_CLASS = (
    """class Operator(NamedTuple):
    """
    + '"""A view operator that an attribute names."""'
    + """

    kernel: object
    name: str
    facts: dict"""
)

_DTYPE_CLASS = (
    """class DType(NamedTuple):
    """
    + '"""What the functions below ask of an element type."""'
    + """

    name: str
    kind: str
    itemsize: int
    signed: bool
    numpy: np.dtype"""
)


def _allows(facts: dict[str, Any], node: Node) -> bool:
    """Return whether the operator's text holds for the node's dtypes."""
    allowed = facts.get("numpy_dtypes")
    if allowed is None:
        return True
    specs = [v.spec for v in node.operands() if isinstance(v.spec, TensorSpec)]
    return all(s.dtype.name in allowed for s in specs)


def _are_matrices(node: Node) -> bool:
    return all(
        isinstance(v.spec, TensorSpec) and v.spec.ndim == 2 for v in node.operands()
    )


def _is_ours(function: FunctionType) -> bool:
    module = function.__module__ or ""
    return module.startswith("tracegrad.ops")


def _global_names(function: FunctionType) -> list[str]:
    """Return the names that a function looks up in its module."""
    found: list[str] = []
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        found.extend(
            str(i.argval)
            for i in dis.get_instructions(code)
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        )
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
