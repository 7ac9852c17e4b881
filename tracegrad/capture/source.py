"""Find the syntax tree of a code object in its file; refuse one that isn't its own."""

import __future__

import ast
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NoSourceError(Exception):
    """A function's source can't be had: the message says why."""


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function in a fresh syntax tree, and what its surroundings mean for it.

    Attributes
    ----------
    node : ast.FunctionDef or ast.Lambda
        The function, free to be changed.
    class_name : str or None
        The class whose body the function stands in, for its private names.
    """

    node: FunctionNode
    class_name: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """A function in a file: the smallest statement around it, and its own position."""

    first_line: int
    last_line: int
    position: tuple[int, int]
    class_name: str | None


class _SourceFile:
    """The functions of a file by the line and name that code objects have."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.places: dict[tuple[int, str], list[_Place]] = {}
        tree = ast.parse("".join(lines))
        self.imports = sorted(_module_imports(tree))
        self._enter(tree, 1, len(lines), None)

    def _enter(
        self, node: ast.AST, first: int, last: int, class_name: str | None
    ) -> None:
        for child in ast.iter_child_nodes(node):
            here = first, last
            if isinstance(child, ast.stmt):
                here = first_line(child), child.end_lineno or child.lineno
            if isinstance(child, FunctionNode):
                place = _Place(*here, (child.lineno, child.col_offset), class_name)
                name = getattr(child, "name", "<lambda>")
                self.places.setdefault((first_line(child), name), []).append(place)
            inner = child.name if isinstance(child, ast.ClassDef) else class_name
            self._enter(child, *here, inner)


def _module_imports(node: ast.AST) -> Iterator[str]:
    """Names that import statements bind in the module itself."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            for alias in child.names:
                yield alias.asname or alias.name.split(".")[0]
        elif not isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.expr)):
            yield from _module_imports(child)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def first_line(node: ast.stmt | ast.expr) -> int:
    """The line a code object counts as its first: that of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


_files: dict[str, _SourceFile] = {}


def find_source(code: CodeType, module_globals: dict[str, object]) -> FunctionSource:
    """The syntax tree of the function whose code object is `code`.

    Parameters
    ----------
    code : code
        The code object of a function or a lambda.
    module_globals : dict
        Its globals, through which an archive's loader gives source.

    Raises
    ------
    NoSourceError
        If there is none, or the file has changed since it was imported.
    """
    file = _source_file(code, module_globals)
    places = file.places.get((code.co_firstlineno, code.co_name), [])
    for place in places:
        source = _parse(file, place)
        if _compiles_to(source, code, file.imports):
            return source
    if not places:
        raise NoSourceError(
            f"{code.co_qualname} isn't on line {code.co_firstlineno} of its file "
            f"{code.co_filename}, which may have changed since it was imported"
        )
    raise NoSourceError(
        f"the source of {code.co_qualname} in {code.co_filename} isn't what runs; "
        "the file may have changed since it was imported"
    )


def _source_file(code: CodeType, module_globals: dict[str, object]) -> _SourceFile:
    lines = linecache.getlines(code.co_filename, module_globals)
    if not lines:
        raise NoSourceError(
            f"{code.co_qualname} has no source file ({code.co_filename})"
        )
    known = _files.get(code.co_filename)
    if known is not None and known.lines == lines:
        return known
    try:
        file = _SourceFile(lines)
    except SyntaxError as error:
        raise NoSourceError(
            f"the source file of {code.co_qualname} has a syntax error in line "
            f"{error.lineno}, so it has changed since it was imported"
        ) from error
    _files[code.co_filename] = file
    return file


def _parse(file: _SourceFile, place: _Place) -> FunctionSource:
    for node in _functions(_tree_around(file, place)):
        if (node.lineno, node.col_offset) == place.position:
            _strip(node)
            return FunctionSource(node, place.class_name)
    raise NoSourceError(f"no function at line {place.first_line}")


def _tree_around(file: _SourceFile, place: _Place) -> ast.AST:
    """The statement around a function, parsed alone: a file may be long."""
    lines = file.lines[place.first_line - 1 : place.last_line]
    # An indented statement stays at its columns, under an `if`.
    head = "if 1:\n" if lines[0][:1].isspace() else ""
    try:
        tree = ast.parse(head + "".join(lines))
    except SyntaxError:  # it begins with `elif`, or shares its line with an `else`
        return ast.parse("".join(file.lines))
    return ast.increment_lineno(tree, place.first_line - 1 - bool(head))


def _functions(tree: ast.AST) -> Iterator[FunctionNode]:
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode):
            yield node


def wrapped(
    node: FunctionNode, class_name: str | None, free: tuple[str, ...]
) -> ast.Module:
    """A module in which `node` finds its free variables and its class, as it did.

    The surroundings are a function with the free variables as its parameters and, for
    a method, a class of the right name, so that private names are mangled.
    """
    inner: list[ast.stmt] = [_statement(node)]
    bound = None if isinstance(node, ast.Lambda) else node.name
    if class_name is not None:
        bound = class_name
        inner = [
            ast.ClassDef(
                name=class_name, bases=[], keywords=[], body=inner, decorator_list=[]
            )
        ]
    if bound is not None and bound not in free:
        # Else the surroundings would bind the name, and recursion would find that.
        inner.insert(0, ast.Global(names=[bound]))
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=name) for name in free],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    outer = ast.FunctionDef(name=WRAPPER, args=arguments, body=inner, decorator_list=[])
    module = ast.Module(body=[outer], type_ignores=[])
    return ast.fix_missing_locations(module)


WRAPPER = ".surroundings"


def _statement(node: FunctionNode) -> ast.stmt:
    return ast.Expr(value=node) if isinstance(node, ast.Lambda) else node


def _strip(node: FunctionNode) -> None:
    """Drop what runs around the function, not in it: the function object has it."""
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    if isinstance(node, ast.Lambda):
        return
    node.decorator_list = []
    node.returns = None
    for arg in _arguments(node.args):
        arg.annotation = None


def _arguments(args: ast.arguments) -> list[ast.arg]:
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return named + [arg for arg in (args.vararg, args.kwarg) if arg is not None]


def compile_alone(module: ast.Module, code: CodeType, in_class: bool) -> CodeType:
    """Compile what `wrapped` made; the function's code object, with its right names."""
    compiled = compile(
        module,
        code.co_filename,
        "exec",
        flags=code.co_flags & _FUTURE_FLAGS,
        dont_inherit=True,
    )
    for _ in range(3 if in_class else 2):
        compiled = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    return _renamed(compiled, compiled.co_qualname, code.co_qualname)


_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag
# These bits mean something else in a code object.
_FUTURE_FLAGS &= ~(inspect.CO_NESTED | inspect.CO_GENERATOR)


def _renamed(code: CodeType, old: str, new: str) -> CodeType:
    """The code with `old` at the head of qualified names replaced, to any depth."""
    name = code.co_qualname
    if name != old and not name.startswith(old + "."):
        return code
    right = new + name[len(old) :]
    is_class_body = not code.co_flags & inspect.CO_OPTIMIZED

    def rename(const: Any) -> Any:
        if isinstance(const, CodeType):
            return _renamed(const, old, new)
        # A class body stores its own qualified name from a constant. In a function
        # such a text is the user's, an attribute's name for instance.
        stored = is_class_body and const == name and isinstance(const, str)
        return right if stored else const

    consts = tuple(rename(const) for const in code.co_consts)
    return code.replace(co_qualname=right, co_consts=consts)


def _compiles_to(source: FunctionSource, code: CodeType, imports: list[str]) -> bool:
    """Whether the tree is what `code` was made of.

    Test runners rewrite `assert` before they compile; such code is told by its names,
    and taken on trust.
    """
    if any(name.startswith("@py") for name in (*code.co_varnames, *code.co_names)):
        return True
    module = wrapped(source.node, source.class_name, code.co_freevars)
    # Calls of an imported module's attributes compile differently.
    for name in imports:
        if name != "*":
            statement = ast.Import(names=[ast.alias(name=name)])
            module.body.append(ast.fix_missing_locations(statement))
    return same_code(compile_alone(module, code, source.class_name is not None), code)


def same_code(code: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    return (
        code.co_code == other.co_code
        and code.co_names == other.co_names
        and code.co_varnames == other.co_varnames
        and code.co_freevars == other.co_freevars
        and code.co_cellvars == other.co_cellvars
        and len(code.co_consts) == len(other.co_consts)
        and all(map(_same_constant, code.co_consts, other.co_consts))
    )


def _same_constant(const: Any, other: Any) -> bool:
    if isinstance(const, CodeType) and isinstance(other, CodeType):
        return same_code(const, other)
    if isinstance(const, frozenset):  # of equal sets the order may differ
        return type(other) is frozenset and sorted(map(repr, const)) == sorted(
            map(repr, other)
        )
    return repr(const) == repr(other)
