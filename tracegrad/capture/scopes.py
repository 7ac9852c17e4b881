"""What a name means at a place: a local, a variable of an enclosing function, a global.

Python decides this before a function runs, from where names are bound; so does this
module, for functions whose outermost one is known by its code object.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Meaning(Enum):
    """Where a name is looked up."""

    LOCAL = "local"  # born inside the outermost function
    CELL = "cell"  # a free variable of the outermost function
    GLOBAL = "global"
    CLASS = "class"  # in a class body: perhaps its own, else a global


ScopeNode = (
    ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.Lambda
    | ast.ClassDef
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Scope:
    """A function, lambda, comprehension or class body, and the names it binds."""

    node: ScopeNode
    parent: "Scope | None"
    free: tuple[str, ...]
    bound: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    def meaning(self, name: str) -> Meaning:
        """Where `name` is looked up when it is read or bound here."""
        if name in self.global_names:
            return Meaning.GLOBAL
        if name in self.bound:
            in_class = isinstance(self.node, ast.ClassDef)
            return Meaning.CLASS if in_class else Meaning.LOCAL
        scope = self.parent
        if name == "__class__" and self._in_class():
            return Meaning.LOCAL
        while scope is not None:
            if name in scope.global_names:
                return Meaning.GLOBAL
            if name in scope.bound and not isinstance(scope.node, ast.ClassDef):
                return Meaning.LOCAL
            scope = scope.parent
        return Meaning.CELL if name in self.free else Meaning.GLOBAL

    def _in_class(self) -> bool:
        """Whether a class statement around this scope gives it `__class__`."""
        scope = self.parent
        while scope is not None and not isinstance(scope.node, ast.ClassDef):
            scope = scope.parent
        return scope is not None


def enter_scope(node: ScopeNode, parent: Scope | None, free: tuple[str, ...]) -> Scope:
    """The scope of `node` inside `parent`; `free` are the outermost one's."""
    scope = Scope(node, parent, free)
    for child in _own_nodes(node):
        _bind(scope, child)
    scope.bound -= scope.global_names | scope.nonlocal_names
    return scope


def _bind(scope: Scope, node: ast.AST) -> None:
    match node:
        case ast.Global(names=names):
            scope.global_names.update(names)
        case ast.Nonlocal(names=names):
            scope.nonlocal_names.update(names)
        case _:
            scope.bound.update(bound_names(node))


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds, not those in nodes below it."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=asname) if name != "*":
            yield asname or name.split(".")[0]
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _own_nodes(node: ScopeNode) -> Iterator[ast.AST]:
    """The nodes that bind names in the scope of `node`."""
    match node:
        case ast.Lambda():
            yield from _walk([node.args, node.body])
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _walk([node.args, *node.body])
        case ast.ClassDef():
            yield from _walk(node.body)
        case _:
            first, *others = node.generators
            inner = [first.target, *first.ifs, *others]
            yield from _walk([*inner, *_elements(node)])


def _elements(node: Any) -> list[ast.expr]:
    if isinstance(node, ast.DictComp):
        return [node.key, node.value]
    return [node.elt]


def _walk(roots: list[Any]) -> Iterator[ast.AST]:
    """All nodes below, but of inner scopes only what is evaluated or bound here."""
    stack: list[ast.AST] = list(roots)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(_visible_children(node))


def _visible_children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from getattr(node, "decorator_list", [])
            yield from node.args.defaults
            yield from (d for d in node.args.kw_defaults if d is not None)
        case ast.ClassDef():
            yield from [*node.decorator_list, *node.bases, *node.keywords]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield node.generators[0].iter
            yield from _walruses(node)
        case _:
            yield from ast.iter_child_nodes(node)


def _walruses(node: ast.AST) -> Iterator[ast.AST]:
    """Targets of `:=` in a comprehension, which the function around it binds."""
    for child in ast.walk(node):
        if isinstance(child, ast.NamedExpr):
            yield child.target
