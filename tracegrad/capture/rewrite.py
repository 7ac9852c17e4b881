"""Rewrite a function so that each read, call and store asks a hook first.

Stores, operators and calls themselves stay in the user's own frame: a hook returns the
object that the statement then works on. So tracebacks, `locals()` and `super()` are as
they were. Each hook gets the line last. See `hooks.FunctionHooks` for what each does.
"""

# ruff: noqa: N815 (`ast` says how these methods are called)

import ast
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

from tracegrad.capture.mixed import METHODS
from tracegrad.capture.scopes import (
    COMPREHENSIONS,
    Meaning,
    Scope,
    ScopeNode,
    bound_names,
    enter_scope,
)
from tracegrad.capture.source import FunctionNode

# Not an identifier, so no name of the user's is the same.
HOOK = ".hook"

_Node = TypeVar("_Node", bound=ast.AST)

# Their results are made by the expression itself.
_FRESH = (ast.Constant, ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Compare)


def rewrite(node: FunctionNode, free: tuple[str, ...], class_name: str | None) -> None:
    """Rewrite an outermost function in place.

    Parameters
    ----------
    node : ast.FunctionDef or ast.Lambda
        The function.
    free : tuple of str
        Its free variables.
    class_name : str or None
        The class in whose body it stands.
    """
    _Rewriter(free, class_name).rewrite(node)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, free: tuple[str, ...], class_name: str | None) -> None:
        self._free = free
        self._classes = [class_name]
        self._places = 0
        self._scope: Scope

    def rewrite(self, node: FunctionNode) -> None:
        self._scope = enter_scope(node, None, self._free)
        self._function_body(node)

    # Names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        meaning = self._scope.meaning(node.id)
        hook = _NAME_HOOKS.get(meaning)
        if hook is None:
            return node
        return self._hook(hook, node, ast.Constant(self._mangled(node.id)), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self._read(node.value)
        return node

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        return node

    # Attributes and items

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value, name = self._read(node.value), ast.Constant(self._mangled(node.attr))
        if isinstance(node.ctx, ast.Load):
            return _on_last_line(self._hook("attribute", node, value, name), node)
        node.value = self._hook("holder", node, value, name)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value, index = self._read(node.value), self._index(node.slice)
        if isinstance(node.ctx, ast.Load):
            return self._hook("item", node, value, index)
        node.value = self._hook("container", node, value)
        plain = isinstance(node.slice, (ast.Slice, ast.Tuple, ast.Constant))
        key = self._index(node.slice) if plain else self._operand(node.slice)
        node.slice = self._hook("key", node, key)
        return node

    def _index(self, node: ast.expr) -> ast.expr:
        """An index as a value: `1:2` stands only in brackets, so it becomes a slice."""
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            values = [self._read(p) if p else ast.Constant(None) for p in parts]
            return _call(_hook_method("slice"), values, node)
        if isinstance(node, ast.Tuple):
            elements = [self._index(element) for element in node.elts]
            return ast.copy_location(ast.Tuple(elements, ast.Load()), node)
        return self._read(node)

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        return self.generic_visit(node)

    # Calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        callee = self._read(node.func)
        args = [self._read(arg) for arg in node.args]
        for keyword in node.keywords:
            keyword.value = self._read(keyword.value)
            if keyword.arg is None:
                keyword.value = self._hook("mapping", node, keyword.value)
        call = ast.Call(self._hook("function", node, callee), args, node.keywords)
        ast.copy_location(call, node)
        if isinstance(node.func, ast.Attribute):
            return _on_last_line(call, node.func)
        return call

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            depth, kept = ast.Constant(1), ast.Constant(False)
            value = self._read(node.value)
            node.value = self._hook("unpacked", node, value, depth, kept)
            return node
        node.value = self._read(node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        for i, key in enumerate(node.keys):
            value = self._read(node.values[i])
            if key is None:
                node.values[i] = self._hook("mapping", node, value)
                continue
            node.keys[i] = self._read(key)
            node.values[i] = value
        return node

    # Operators

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._pair(node.left, node.right, node.op)
        return node

    def _pair(
        self, left: ast.expr, right: ast.expr, op: ast.operator | ast.cmpop
    ) -> tuple[ast.expr, ast.expr]:
        """Two operands, the right one looked at beside the left one."""
        if isinstance(right, ast.Constant):
            return self._operand(left), right
        self._places += 1
        place = ast.Constant(self._places)
        kept = self._hook("left", left, self._operand(left), place)
        return kept, self._right(right, place, op)

    def _right(
        self, node: ast.expr, place: ast.expr, op: ast.operator | ast.cmpop
    ) -> ast.expr:
        name = ast.Constant(f"__{METHODS[type(op)]}__")
        return self._hook("right", node, self._operand(node), place, name)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            node.operand = self._truth(node.operand)
        else:
            node.operand = self._operand(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 and (hook := _TWO_SIDED.get(type(node.ops[0]))):
            left, right = self._read(node.left), self._read(node.comparators[0])
            return self._negated(node, self._hook(hook, node, left, right))
        if len(node.ops) == 1:
            pair = self._pair(node.left, node.comparators[0], node.ops[0])
            node.left, node.comparators = pair[0], [pair[1]]
            return node
        node.left = self._compared(node.left)
        node.comparators = [self._compared(c) for c in node.comparators]
        return node

    def _compared(self, node: ast.expr) -> ast.expr:
        return self._hook("compared", node, self._operand(node))

    def _negated(self, node: ast.Compare, value: ast.expr) -> ast.expr:
        if isinstance(node.ops[0], (ast.NotIn, ast.IsNot)):
            return ast.copy_location(ast.UnaryOp(ast.Not(), value), node)
        return value

    def _operand(self, node: ast.expr) -> ast.expr:
        value = self._read(node)
        return value if isinstance(node, _FRESH) else self._hook("operand", node, value)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        *tested, last = [self._read(value) for value in node.values]
        node.values = [*(self._hook("tested", v, v) for v in tested), last]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self._truth(node.test)
        node.body, node.orelse = self._read(node.body), self._read(node.orelse)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._operand(node.value)
        if node.format_spec is not None:
            node.format_spec = self._read(node.format_spec)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        value = self._read(node.value)
        node.value = self._hook("iterated", node, value, ast.Constant(0))
        return node

    # Inner scopes

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node.args)
        with_scope = self._inner(node)
        self._function_body(node)
        self._scope = with_scope
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = self._decorators(node.decorator_list)
        self._defaults(node.args)
        outer = self._inner(node)
        self._function_body(node)
        self._scope = outer
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return self.visit_FunctionDef(node)  # type: ignore[arg-type]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        born = ast.copy_location(_hook_method("born"), node)
        node.decorator_list = [born, *self._decorators(node.decorator_list), born]
        node.bases = [self._read(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self._read(keyword.value)
        outer = self._inner(node)
        self._classes.append(node.name)
        node.body = self._block(node.body)
        self._classes.pop()
        self._scope = outer
        return node

    def _comprehension(self, node: Any) -> ast.expr:
        first = node.generators[0]
        first.iter = self._iterated(first.iter, first.target)
        outer = self._inner(node)
        for generator in node.generators:
            if generator is not first:
                generator.iter = self._iterated(generator.iter, generator.target)
            generator.target = self._read(generator.target)
            generator.ifs = [self._truth(test) for test in generator.ifs]
        for name in ("key", "value", "elt"):
            if hasattr(node, name):
                setattr(node, name, self._read(getattr(node, name)))
        self._scope = outer
        return node  # type: ignore[no-any-return]

    visit_ListComp = visit_SetComp = _comprehension
    visit_DictComp = visit_GeneratorExp = _comprehension

    def _inner(self, node: ScopeNode) -> Scope:
        """Enter the scope of `node`; the scope to go back to."""
        outer = self._scope
        self._scope = enter_scope(node, outer, self._free)
        return outer

    def _function_body(self, node: FunctionNode) -> None:
        if isinstance(node, ast.Lambda):
            node.body = self._read(node.body)
        else:
            node.body = self._block(node.body)

    def _decorators(self, decorators: list[ast.expr]) -> list[ast.expr]:
        return [self._hook("function", d, self._read(d)) for d in decorators]

    def _defaults(self, args: ast.arguments) -> None:
        args.defaults = [self._read(default) for default in args.defaults]
        args.kw_defaults = [d and self._read(d) for d in args.kw_defaults]

    # Statements

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [new for statement in body for new in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        before = self._rebindings(node)
        new = self.visit(node)
        return [*before, *(new if isinstance(new, list) else [new])]

    def _rebindings(self, node: ast.stmt) -> list[ast.stmt]:
        """Notes of the outside variables that a statement, without its block, binds."""
        names = sorted({name for n in _without_blocks(node) for name in bound_names(n)})
        outside = [
            name
            for name in names
            if self._scope.meaning(name) in (Meaning.GLOBAL, Meaning.CELL)
        ]
        return [self._note("rebound", node, ast.Constant(name)) for name in outside]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self._block(value))
            elif isinstance(value, list):
                setattr(node, name, [self._any(element) for element in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _any(self, value: Any) -> Any:
        return self.visit(value) if isinstance(value, ast.AST) else value

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        depth = max(map(_unpacking_depth, node.targets))
        # An array reads what is stored into it; of other containers this asks too much.
        into = any(isinstance(target, ast.Subscript) for target in node.targets)
        node.value = self._operand(node.value) if into else self._read(node.value)
        if depth:
            kept = len(node.targets) > 1
            arguments = ast.Constant(depth), ast.Constant(kept)
            node.value = self._hook("unpacked", node, node.value, *arguments)
        node.targets = [self._read(target) for target in node.targets]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            node.value = self._read(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = self.visit(node.target)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self._places += 1
        place = ast.Constant(self._places)
        node.value = self._right(node.value, place, node.op)
        target = node.target
        if isinstance(target, ast.Name):
            load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return [self._note("augmented_name", node, load, place), node]
        value = self._read(target.value)
        if isinstance(target, ast.Attribute):
            name = ast.Constant(self._mangled(target.attr))
            target.value = self._hook("augmented_holder", target, value, name, place)
            return node
        target.value = self._hook("augmented_container", target, value)
        index = self._index(target.slice)
        target.slice = self._hook("augmented_key", target, index, place)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.iter = self._iterated(node.iter, node.target)
        node.target = self._read(node.target)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_If(self, node: ast.If | ast.While) -> ast.stmt:
        node.test = self._truth(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    visit_While = visit_If

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, self._note("caught", node))
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if isinstance(node.test, ast.Compare) and sys.version_info < (3, 12):
            # There the error is raised on the comparison's line.
            node.lineno = node.test.lineno
        node.test = self._truth(node.test)
        if node.msg is not None:
            node.msg = self._read(node.msg)
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        for item in node.items:
            value = self._read(item.context_expr)
            item.context_expr = self._hook("context", item.context_expr, value)
            if item.optional_vars is not None:
                item.optional_vars = self._read(item.optional_vars)
        node.body = self._block(node.body)
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        notes = []
        for alias in node.names:
            module = alias.name if alias.asname else alias.name.split(".")[0]
            bound = alias.asname or module
            notes.append(self._rebind("imported", node, bound, ast.Constant(module)))
        return [node, *notes]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = ast.Constant("." * node.level + (node.module or ""))
        notes: list[ast.stmt] = [
            self._rebind(
                "imported_name",
                node,
                alias.asname or alias.name,
                module,
                ast.Constant(alias.name),
            )
            for alias in node.names
        ]
        return [node, *notes]

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        read = [self._attempt(named) for named in _named_in_patterns(node)]
        subject = self._read(node.subject)
        node.subject = self._hook("matched", node.subject, subject)
        for case in node.cases:
            if case.guard is not None:
                case.guard = self._truth(case.guard)
            case.body = self._block(case.body)
        return [*read, node]

    def _attempt(self, named: ast.expr) -> ast.stmt:
        """Read what a pattern names: patterns themselves take only dotted names."""
        copy = ast.parse(ast.unparse(named), mode="eval").body
        for part in ast.walk(copy):
            ast.copy_location(part, named)
        nothing = ast.arguments([], [], None, [], [], None, [])
        function = ast.copy_location(ast.Lambda(nothing, copy), named)
        return self._note("attempt", named, self._read(function))

    # Making nodes

    def _read(self, node: ast.expr) -> ast.expr:
        return self.visit(node)  # type: ignore[no-any-return]

    def _truth(self, node: ast.expr) -> ast.expr:
        return self._hook("truth", node, self._read(node))

    def _iterated(self, node: ast.expr, target: ast.expr) -> ast.expr:
        depth = ast.Constant(_unpacking_depth(target))
        return self._hook("iterated", node, self._read(node), depth)

    def _hook(self, name: str, node: ast.AST, *args: ast.expr) -> ast.expr:
        line = ast.Constant(getattr(node, "lineno", 0))
        return _call(_hook_method(name), [*args, line], node)

    def _note(self, name: str, node: ast.AST, *args: ast.expr) -> ast.stmt:
        return _located(ast.Expr(self._hook(name, node, *args)), node)

    def _rebind(self, name: str, node: ast.AST, bound: str, *args: Any) -> ast.stmt:
        load = _located(ast.Name(bound, ast.Load()), node)
        value = self._hook(name, node, load, *args)
        target = _located(ast.Name(bound, ast.Store()), node)
        return _located(ast.Assign([target], value), node)

    def _mangled(self, name: str) -> str:
        """A private name as the compiler would have it in the class around it."""
        cls = (self._classes[-1] or "").lstrip("_")
        private = name.startswith("__") and not name.endswith("__")
        return f"_{cls}{name}" if cls and private else name


_NAME_HOOKS = {
    Meaning.GLOBAL: "name",
    Meaning.CELL: "cell",
    Meaning.CLASS: "class_name",
}

_TWO_SIDED: dict[type[ast.cmpop], str] = {
    ast.In: "contains",
    ast.NotIn: "contains",
    ast.Is: "same",
    ast.IsNot: "same",
}


def _hook_method(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(HOOK, ast.Load()), name, ast.Load())


def _call(function: ast.expr, args: Sequence[ast.expr], node: ast.AST) -> ast.expr:
    call = ast.Call(function, list(args), [])
    for part in (call, function, getattr(function, "value", function), *args):
        if not hasattr(part, "lineno"):
            _located(part, node)
    return _located(call, node)


def _located(new: _Node, node: ast.AST) -> _Node:
    return ast.copy_location(new, node)


def _on_last_line(new: ast.expr, attribute: ast.Attribute) -> ast.expr:
    """Give `new` the line that Python gives an attribute that has one of its own."""
    if attribute.lineno != attribute.end_lineno and attribute.end_lineno is not None:
        new.lineno = attribute.end_lineno
        new.col_offset = max((attribute.end_col_offset or 0) - len(attribute.attr), 0)
        new.end_lineno = max(new.end_lineno or 0, new.lineno)
    return new


def _unpacking_depth(target: ast.expr) -> int:
    if not isinstance(target, (ast.Tuple, ast.List)):
        return 0
    return 1 + max(map(_unpacking_depth, target.elts), default=0)


def _without_blocks(statement: ast.stmt) -> list[ast.AST]:
    """A statement's nodes, without the statements in it and without inner scopes."""
    found: list[ast.AST] = [statement]
    stack: list[ast.AST] = [] if isinstance(statement, _NAMED) else [statement]
    while stack:
        for child in ast.iter_child_nodes(stack.pop()):
            if isinstance(child, (ast.stmt, ast.Lambda)):
                continue
            if isinstance(child, COMPREHENSIONS):
                walruses = (n for n in ast.walk(child) if isinstance(n, ast.NamedExpr))
                found.extend(walrus.target for walrus in walruses)
                continue
            found.append(child)
            stack.append(child)
    return found


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _named_in_patterns(node: ast.Match) -> list[ast.expr]:
    """The classes and dotted names in the patterns of a `match`."""
    found: list[ast.expr] = []
    for case in node.cases:
        for pattern in ast.walk(case.pattern):
            if isinstance(pattern, ast.MatchClass):
                found.append(pattern.cls)
            elif isinstance(pattern, ast.MatchValue):
                found.append(pattern.value)
    return [named for named in found if isinstance(named, (ast.Name, ast.Attribute))]
