"""Sizes of dimensions: integers, or symbolic ones such as ``B`` and ``2*B + 1``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, TypeAlias, final

from tracegrad.errors import ParseError, ShapeError

_Monomial: TypeAlias = tuple[str, ...]


@final
class SymbolicSize:
    """A size known only when the program runs: a polynomial of named sizes.

    Two symbolic sizes are equal when their polynomials are.

    Examples
    --------
    >>> batch = SymbolicSize.named("B")
    >>> 2 * batch + 1
    2*B + 1
    >>> batch - batch
    0
    """

    __slots__ = ("_terms",)

    def __init__(self, terms: dict[_Monomial, int]) -> None:
        self._terms = tuple(sorted((m, c) for m, c in terms.items() if c != 0))

    @classmethod
    def named(cls, name: str) -> SymbolicSize:
        """Return the size called `name`."""
        return cls({(name,): 1})

    def __add__(self, other: Dimension) -> Dimension:
        terms = dict(self._terms)
        for monomial, factor in _terms_of(other):
            terms[monomial] = terms.get(monomial, 0) + factor
        return _simplest(terms)

    __radd__ = __add__

    def __mul__(self, other: Dimension) -> Dimension:
        terms: dict[_Monomial, int] = {}
        for left, a in self._terms:
            for right, b in _terms_of(other):
                monomial = tuple(sorted(left + right))
                terms[monomial] = terms.get(monomial, 0) + a * b
        return _simplest(terms)

    __rmul__ = __mul__

    def __sub__(self, other: Dimension) -> Dimension:
        return self + (-1) * other

    def __rsub__(self, other: Dimension) -> Dimension:
        return (-1) * self + other

    def __floordiv__(self, other: Dimension) -> Dimension:
        if isinstance(other, int) and all(c % other == 0 for _, c in self._terms):
            return _simplest({m: c // other for m, c in self._terms})
        return SymbolicSize({(f"(({self}) // {other})",): 1})

    def evaluate(self, values: dict[str, int]) -> int:
        """Return the number for given values of the names.

        Raises
        ------
        ShapeError
            If a name has no value.
        """
        total = 0
        for monomial, factor in self._terms:
            product = factor
            for name in monomial:
                product *= _value_of(name, values)
            total += product
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicSize) and self._terms == other._terms

    def __hash__(self) -> int:
        return hash(self._terms)

    def __bool__(self) -> bool:
        raise ShapeError(f"the size {self} is symbolic: it has no truth value here")

    def __index__(self) -> int:
        raise ShapeError(f"the size {self} is symbolic: no integer is known for it")

    def __repr__(self) -> str:
        # Products before the constant, which reads as one writes it.
        ordered = sorted(self._terms, key=lambda term: (not term[0], term[0]))
        return " + ".join(_term_text(m, c) for m, c in ordered)


Dimension: TypeAlias = int | SymbolicSize
Shape: TypeAlias = tuple[Dimension, ...]


def _terms_of(size: Dimension) -> tuple[tuple[_Monomial, int], ...]:
    return size._terms if isinstance(size, SymbolicSize) else (((), int(size)),)


def _simplest(terms: dict[_Monomial, int]) -> Dimension:
    left = {m: c for m, c in terms.items() if c != 0}
    if not left:
        return 0
    if set(left) == {()}:
        return left[()]
    return SymbolicSize(left)


def _term_text(monomial: _Monomial, factor: int) -> str:
    if not monomial:
        return str(factor)
    product = "*".join(monomial)
    return product if factor == 1 else f"{factor}*{product}"


def _value_of(name: str, values: dict[str, int]) -> int:
    if name.startswith("("):
        left, right = name[1:-1].rsplit(" // ", 1)
        return _as_int(parse_size(left), values) // _as_int(parse_size(right), values)
    if name not in values:
        raise ShapeError(f"the size {name} has no value; known are {sorted(values)}")
    return values[name]


def _as_int(size: Dimension, values: dict[str, int]) -> int:
    return size.evaluate(values) if isinstance(size, SymbolicSize) else size


def parse_size(text: str) -> Dimension:
    """Return the size written as `text`, the inverse of ``str``.

    Raises
    ------
    ParseError
        If `text` is not a sum of products of names and integers.
    """
    try:
        return _size_of_tree(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ParseError(f"{text!r} is not a size") from error


def _size_of_tree(tree: ast.expr) -> Dimension:
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return tree.value
    if isinstance(tree, ast.Name):
        return SymbolicSize.named(tree.id)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return (-1) * _size_of_tree(tree.operand)
    if isinstance(tree, ast.BinOp):
        left, right = _size_of_tree(tree.left), _size_of_tree(tree.right)
        if isinstance(tree.op, ast.Add):
            return left + right
        if isinstance(tree.op, ast.Mult):
            return left * right
        if isinstance(tree.op, ast.FloorDiv):
            return left // right  # type: ignore[operator]
    raise ParseError(f"{ast.unparse(tree)!r} is not a size")


def numel(shape: Iterable[Dimension]) -> Dimension:
    """Return the number of elements of `shape`."""
    total: Dimension = 1
    for size in shape:
        total = total * size
    return total


def contiguous_strides(shape: Shape) -> Shape:
    """Return the strides, in elements, of row-major order."""
    strides: list[Dimension] = []
    step: Dimension = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * (size if size != 0 else 1)
    return tuple(reversed(strides))


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the common shape of `shapes` under broadcasting.

    Raises
    ------
    ShapeError
        If two sizes differ and neither is 1.
    """
    result = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_pair(result, shape)
    return result


def _broadcast_pair(a: Shape, b: Shape) -> Shape:
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + a
    right = (1,) * (rank - len(b)) + b
    sizes: list[Dimension] = []
    for axis, (x, y) in enumerate(zip(left, right, strict=True)):
        if x == y or y == 1:
            sizes.append(x)
        elif x == 1:
            sizes.append(y)
        else:
            raise ShapeError(
                f"shapes {shape_text(a)} and {shape_text(b)} do not broadcast: "
                f"sizes {x} and {y} at dimension {axis - rank} differ and neither is 1"
            )
    return tuple(sizes)


def shape_text(shape: Iterable[Dimension]) -> str:
    """Return `shape` as ``[2, 3]``."""
    return "[" + ", ".join(map(str, shape)) + "]"


@final
class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of sizes that can count its elements."""

    __slots__ = ()

    def numel(self) -> int:
        """Return the number of elements."""
        total = 1
        for size in self:
            total *= size
        return total

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __repr__(self) -> str:
        return f"tracegrad.Size({list(self)})"
