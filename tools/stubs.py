"""Stubs, made of the registry: what type checkers and editors see of generated names.

Annotations are copied as they were written. Names in them are imported from where
the defining module has them, private aliases are written out, and a builtin that the
stub's own names hide (``Tensor.float``) is spelt ``builtins.float``.
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import tracegrad
from tracegrad.cli.describe import signature_text, summary_of
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import ALIASES, ALL

_PACKAGE = Path(tracegrad.__file__).parent
_HEAD = '"""Written by tools/generate.py, which see; not by hand."""'
_WIDTH = 88


@final
@dataclass(slots=True)
class Stub:
    """A stub in the making.

    Attributes
    ----------
    home : str
        The module that it is of.
    hidden : set of str
        The stub's own names: a builtin of such a name is spelt out.
    imports : set of (module, name)
    """

    home: str
    hidden: set[str]
    imports: set[tuple[str, str]] = field(default_factory=set)

    def annotation(self, text: str, module: str) -> str:
        """Return an annotation of `module` as the stub writes it."""
        tree = ast.parse(text, mode="eval")
        return ast.unparse(_Renaming(self, module).visit(tree))

    def import_lines(self) -> Iterator[str]:
        """Yield the import statements that annotations have asked for."""
        yield "import builtins"
        yield from sorted(
            f"import {name}" for module, name in self.imports if not module
        )
        for module in sorted({module for module, _ in self.imports if module}):
            names = sorted(name for where, name in self.imports if where == module)
            yield from _wrapped(f"from {module} import ", names)


def _wrapped(start: str, names: list[str]) -> Iterator[str]:
    line = start + ", ".join(names)
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"{start}("
    yield from (f"    {name}," for name in names)
    yield ")"


@final
class _Renaming(ast.NodeTransformer):
    """Give an annotation's names the form that they have in a stub."""

    def __init__(self, stub: Stub, module: str) -> None:
        self.stub = stub
        self.module = module

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Read a quoted annotation."""
        if not isinstance(node.value, str):
            return node
        inner: ast.expr = self.visit(ast.parse(node.value, mode="eval").body)
        return inner

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Import a name, write it out, or spell it as a builtin."""
        name = node.id
        imported = _imports_of(self.module).get(name)
        alias = _aliases_of(self.module).get(name)
        if imported is not None:
            return self._imported(node, *imported)
        if alias is not None:
            written_out: ast.expr = self.visit(ast.parse(alias, mode="eval").body)
            return written_out
        if name in self.stub.hidden:
            return ast.parse(f"builtins.{name}", mode="eval").body
        if not _is_builtin(name):
            self._import(self.module, name)
        return node

    def _import(self, module: str, name: str) -> None:
        if module != self.stub.home and name not in self.stub.hidden:
            self.stub.imports.add((module, name))

    def _imported(self, node: ast.Name, module: str, name: str) -> ast.expr:
        if name in _aliases_of(module):
            renaming = _Renaming(self.stub, module)
            expanded: ast.expr = renaming.visit_Name(ast.Name(name))
            return expanded
        self._import(module, name)
        return node


def _is_builtin(name: str) -> bool:
    return name in ("None", "True", "False") or name in dir(sys.modules["builtins"])


def _tree_of(module: str) -> ast.Module:
    found = _trees.get(module)
    if found is None:
        source = inspect.getsource(sys.modules[module])
        found = _trees[module] = ast.parse(source)
    return found


_trees: dict[str, ast.Module] = {}


def _imports_of(module: str) -> dict[str, tuple[str, str]]:
    """Return module and name of what a module imports; no module for ``import x``."""
    found = {}
    for node in ast.walk(_tree_of(module)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module or "", alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name] = ("", ast.unparse(alias))
    return found


def _aliases_of(module: str) -> dict[str, str]:
    """Return the type aliases of one of the package's modules, as texts."""
    if not module.startswith("tracegrad") or module not in sys.modules:
        return {}
    found = {}
    for node in _tree_of(module).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.value is not None and ast.unparse(node.annotation) == "TypeAlias":
                found[node.target.id] = ast.unparse(node.value)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.unparse(node.value)
    return found


# -- functions ------------------------------------------------------------------


def function_lines(
    stub: Stub,
    name: str,
    function: Callable[..., Any],
    signature: inspect.Signature,
    indent: str = "",
) -> list[str]:
    """Return a function's definition without its body."""
    module = inspect.unwrap(function).__module__
    parameters = [
        p.replace(annotation=_of_parameter(stub, p, module, indent), default=_elided(p))
        for p in signature.parameters.values()
    ]
    returned = _written(stub, signature.return_annotation, module)
    text = signature_text(
        signature.replace(parameters=parameters, return_annotation=returned)
    ).replace(" = Ellipsis", " = ...")
    summary = _as_docstring(summary_of(function))
    body = [f"{indent}    {summary}"] if summary else []
    head = f"{indent}def {name}{text}:" + ("" if body else " ...")
    return [*_folded(head, indent), *body]


def _as_docstring(summary: str) -> str:
    text = summary.replace("\\", "\\\\").replace('"""', "'''").removesuffix('"')
    return f'"""{text}"""' if text else ""


def _folded(head: str, indent: str) -> list[str]:
    """Return a definition's head, one parameter per line where it is long."""
    if len(head) <= _WIDTH:
        return [head]
    start, rest = head.split("(", 1)
    closing = rest.rindex(")")
    parameters = _split_at_commas(rest[:closing])
    return [
        f"{start}(",
        *(f"{indent}    {p}," for p in parameters),
        f"{indent}{rest[closing:]}",
    ]


def _split_at_commas(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]


def _of_parameter(
    stub: Stub, parameter: inspect.Parameter, module: str, indent: str
) -> Any:
    if indent and parameter.name in ("self", "cls"):
        return inspect.Parameter.empty
    return _written(stub, parameter.annotation, module)


def _written(stub: Stub, annotation: Any, module: str) -> str:
    if annotation is inspect.Parameter.empty:
        annotation = "Any"
    if isinstance(annotation, type):
        annotation = annotation.__name__
    text = "None" if annotation is None else str(annotation)
    if text == "Any":
        stub.imports.add(("typing", "Any"))
    return stub.annotation(text, module)


def _elided(parameter: inspect.Parameter) -> Any:
    return parameter.default if parameter.default is inspect.Parameter.empty else ...


# -- operators ------------------------------------------------------------------


def operator_signature(operator: OpDef, with_out: bool) -> inspect.Signature:
    """Return the signature that users see: with numbers for tensors, and ``out``."""
    takes_numbers = operator.family == "pointwise" or operator.body is not None
    parameters = []
    for index, parameter in enumerate(operator.signature.parameters.values()):
        annotation = str(parameter.annotation)
        if takes_numbers and index and annotation == "Tensor":
            parameter = parameter.replace(annotation="Tensor | complex")
        parameters.append(parameter)
    if with_out and "out" not in operator.signature.parameters:
        parameters = _with_out(parameters)
    return operator.signature.replace(parameters=parameters)


def _with_out(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    out = inspect.Parameter(
        "out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Tensor | None"
    )
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        return [*parameters[:-1], out, parameters[-1]]
    return [*parameters, out]


def _as_method(signature: inspect.Signature) -> inspect.Signature:
    first, *rest = signature.parameters.values()
    named = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if first.kind is inspect.Parameter.VAR_POSITIONAL:
        return signature.replace(parameters=[named, first, *rest])
    return signature.replace(parameters=[named, *rest])


# -- tensor.pyi -----------------------------------------------------------------

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BINARY = (*_ARITHMETIC, "and", "or", "xor", "lshift", "rshift")
_COMPARING = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = ("__neg__", "__pos__", "__abs__", "__invert__")


def tensor_stub() -> str:
    """Return the stub of the module that holds Tensor: written and generated."""
    # A copy: annotations are rewritten in place.
    source = copy.deepcopy(_tree_of(Tensor.__module__))
    generated = _generated_names(_written_names(source))
    hidden = {name for name in vars(Tensor) if not name.startswith("__")}
    stub = Stub(Tensor.__module__, hidden)
    body: list[str] = []
    for node in source.body:
        body += _stub_of(stub, node, generated)
    lines = [_HEAD, "", *_import_lines(stub, body), "", *body]
    return "\n".join(lines).rstrip("\n") + "\n"


def _written_names(source: ast.Module) -> set[str]:
    classes = [
        n for n in source.body if isinstance(n, ast.ClassDef) and n.name == "Tensor"
    ]
    return {n.name for n in classes[0].body if isinstance(n, ast.FunctionDef)}


def _generated_names(written: set[str]) -> list[str]:
    return sorted(
        name
        for name, value in vars(Tensor).items()
        if name not in written
        and (
            callable(value) or isinstance(value, property | staticmethod | classmethod)
        )
    )


def _stub_of(stub: Stub, node: ast.stmt, generated: list[str]) -> list[str]:
    """Return what the stub has of a statement of the module."""
    if isinstance(node, ast.FunctionDef):
        return [*_bare(stub, node, ""), ""]
    if isinstance(node, ast.ClassDef):
        lines = _class_lines(stub, node)
        if node.name == "Tensor":
            for name in generated:
                lines += _member(stub, name)
        return ["", *lines, ""]
    if isinstance(node, ast.AnnAssign):
        return [f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"]
    if isinstance(node, ast.Assign):
        stub.imports.add(("typing", "Any"))
        return [f"{ast.unparse(node.targets[0])}: Any"]
    return []


def _class_lines(stub: Stub, node: ast.ClassDef) -> list[str]:
    bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
    lines = [f"@{ast.unparse(d)}" for d in node.decorator_list]
    lines += [f"class {node.name}{bases}:", f"    {_as_docstring(_first_line(node))}"]
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            lines.append(f"    {ast.unparse(member)}")
        elif isinstance(member, ast.FunctionDef):
            lines += _attributes_set(member) if node.name == "View" else []
            lines += _bare(stub, member, "    ")
    return lines


def _attributes_set(node: ast.FunctionDef) -> list[str]:
    """Return what ``__init__`` makes of its parameters, as annotations."""
    if node.name != "__init__":
        return []
    return [
        f"    {a.arg}: {ast.unparse(a.annotation)}"
        for a in node.args.args
        if a.annotation is not None
    ]


def _first_line(node: ast.ClassDef | ast.FunctionDef) -> str:
    doc = ast.get_docstring(node) or ""
    return " ".join(doc.split("\n\n", maxsplit=1)[0].split())


def _bare(stub: Stub, node: ast.FunctionDef, indent: str) -> list[str]:
    """Return a hand-written definition without its body."""
    arguments = node.args
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            argument.annotation = _rewritten(stub, argument.annotation)
    arguments.defaults = [ast.Constant(...) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(...) for d in arguments.kw_defaults]
    returned = (
        "Any" if node.returns is None else ast.unparse(_rewritten(stub, node.returns))
    )
    summary = _as_docstring(_first_line(node))
    head = f"{indent}def {node.name}({ast.unparse(arguments)}) -> {returned}:"
    decorators = [f"{indent}@{ast.unparse(d)}" for d in node.decorator_list]
    end = [f"{indent}    {summary}"] if summary else []
    return [*decorators, *_folded(head + ("" if end else " ..."), indent), *end]


def _rewritten(stub: Stub, annotation: ast.expr) -> ast.expr:
    text = stub.annotation(ast.unparse(annotation), Tensor.__module__)
    return ast.parse(text, mode="eval").body


def _member(stub: Stub, name: str) -> list[str]:
    """Return the definition of a member that another module gave to Tensor."""
    value = vars(Tensor)[name]
    if isinstance(value, property):
        return _property_lines(stub, name, value)
    if isinstance(value, staticmethod | classmethod):
        function = value.__func__
        kind = type(value).__name__
        lines = function_lines(
            stub, name, function, inspect.signature(function), "    "
        )
        return [f"    @{kind}", *lines]
    if name in _UNARY or _is_binary(name):
        return [_dunder(stub, name)]
    function, signature = _method_signature(name, value)
    return function_lines(stub, name, function, signature, "    ")


def _method_signature(name: str, value: Any) -> tuple[Any, inspect.Signature]:
    operator = OPERATORS.get(name)
    if operator is not None and value in (operator.call, operator.facts["fast"]):
        return operator.function, _as_method(operator_signature(operator, False))
    inplace = OPERATORS.get(name.removesuffix("_"))
    if inplace is not None and inplace.inplace and name.endswith("_"):
        signature = _as_method(operator_signature(inplace, False))
        return inplace.function, signature.replace(return_annotation="Tensor")
    return value, _as_method(inspect.signature(value))


def _dunder(stub: Stub, name: str) -> str:
    """Return one of Python's operators; they take numbers and return Tensors."""
    if name in _UNARY:
        return f"    def {name}(self) -> Tensor: ..."
    if name in ("__eq__", "__ne__"):
        ignore = "  # type: ignore[override]"
        return f"    def {name}(self, other: object) -> Tensor: ...{ignore}"
    number = stub.annotation("complex", "tracegrad.errors")
    return f"    def {name}(self, other: Tensor | {number}) -> Tensor: ..."


def _is_binary(name: str) -> bool:
    plain = name.strip("_")
    is_dunder = name == f"__{plain}__"
    return is_dunder and (
        plain in _COMPARING or plain in _BINARY or plain[1:] in _BINARY
    )


def _property_lines(stub: Stub, name: str, value: property) -> list[str]:
    assert value.fget is not None
    getter = function_lines(
        stub, name, value.fget, inspect.signature(value.fget), "    "
    )
    lines = ["    @property", *getter]
    if value.fset is not None:
        setter = function_lines(
            stub, name, value.fset, inspect.signature(value.fset), "    "
        )
        lines += [f"    @{name}.setter", *setter]
    return lines


def _import_lines(stub: Stub, body: Iterable[str]) -> Iterator[str]:
    """Yield the imports: those of the module that the stub uses, and its own."""
    used = {word for line in body for word in _words(line)}
    for name, (module, original) in _imports_of(stub.home).items():
        if name in used and module != "__future__":
            stub.imports.add((module, original))
    yield from stub.import_lines()


def _words(line: str) -> list[str]:
    if line.strip().startswith('"""'):
        return []
    return "".join(c if c.isidentifier() or c.isdigit() else " " for c in line).split()


# -- tracegrad/__init__.pyi -----------------------------------------------------


def package_stub() -> str:
    """Return the stub of ``import tracegrad``."""
    source = ast.parse((_PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    public = [
        op
        for op in OPERATORS.values()
        if op.public and op.name not in FUNCTIONS and hasattr(tracegrad, op.name)
    ]
    names = {op.name for op in public} | set(FUNCTIONS) | _dtype_names()
    stub = Stub("tracegrad", names | {"Tensor", "Parameter"})
    body: list[str] = []
    for operator in sorted(public, key=lambda op: op.name):
        signature = operator_signature(operator, True)
        body += function_lines(stub, operator.name, operator.function, signature)
    for name, definition in sorted(FUNCTIONS.items()):
        signature = inspect.signature(definition.function)
        body += function_lines(stub, name, definition.function, signature)
    dtypes = [f"{name}: _DType" for name in sorted(_dtype_names())]
    return "\n".join(
        [
            *(_HEAD, "", *_package_imports(source, stub, names)),
            *("", "__version__: str", *dtypes, "", *body, ""),
        ]
    )


def _dtype_names() -> set[str]:
    return {d.name for d in ALL} | set(ALIASES)


def _package_imports(source: ast.Module, stub: Stub, names: set[str]) -> Iterator[str]:
    for node in source.body:
        if isinstance(node, ast.ImportFrom):
            yield from (
                f"from {node.module} import {a.name} as {a.asname}"
                for a in node.names
                if a.asname and not a.asname.startswith("_") and a.asname not in names
            )
    yield "from tracegrad.dtypes import DType as _DType"
    for name, (module, attribute) in sorted(vars(tracegrad)["_LAZY"].items()):
        if (
            not (_PACKAGE.parent / module.replace(".", "/")).exists()
            and not (_PACKAGE.parent / (module.replace(".", "/") + ".py")).exists()
        ):
            continue
        yield (
            f"from {module} import {attribute} as {attribute}"
            if attribute
            else f"from tracegrad import {name} as {name}"
        )
    yield from stub.import_lines()
