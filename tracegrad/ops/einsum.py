"""Einstein's summation: an equation becomes permutations, products and sums."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, final

from tracegrad.dispatch.operator import public_function
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from tracegrad.ops._reduction import canonical_dim
from tracegrad.ops.arithmetic import add, mul
from tracegrad.ops.contraction import check_one_dtype, matrix_product
from tracegrad.ops.reductions import sum as sum_
from tracegrad.ops.views import expand, permute, reshape, slice_, unsqueeze
from tracegrad.sizes import Dimension, numel, shape_text

# A label of a dimension: a letter of the equation, or a number from the right for
# the dimensions that an ellipsis stands for.
Label = str | int

_LETTERS = string.ascii_letters


@final
class Labelled:
    """A tensor whose dimensions have labels, all different."""

    __slots__ = ("labels", "tensor")

    def __init__(self, tensor: Tensor, labels: tuple[Label, ...]) -> None:
        self.tensor = tensor
        self.labels = labels

    def size(self, label: Label) -> Dimension:
        """Return the size of a labelled dimension."""
        found: Dimension = self.tensor._array.shape[self.labels.index(label)]
        return found

    def arranged(self, labels: Sequence[Label]) -> Labelled:
        """Return the same with the dimensions in another order."""
        if tuple(labels) == self.labels:
            return self
        order = [self.labels.index(label) for label in labels]
        return Labelled(permute(self.tensor, *order), tuple(labels))

    def summed(self, labels: set[Label]) -> Labelled:
        """Return the sum over some dimensions."""
        dims = tuple(i for i, label in enumerate(self.labels) if label in labels)
        if not dims:
            return self
        kept = tuple(label for label in self.labels if label not in labels)
        return Labelled(sum_(self.tensor, dims), kept)


# -- reading the equation -------------------------------------------------------------


def _parsed(equation: str, ranks: list[int]) -> tuple[list[list[Label]], list[Label]]:
    """Return the labels of each operand and of the result.

    Raises
    ------
    ArgumentValueError
        If the equation is not one, or does not fit the operands' ranks.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ArgumentValueError(
            f"einsum: {equation!r} speaks of {len(terms)} operands, "
            f"{len(ranks)} were given"
        )
    labels = [_labels(equation, t, r) for t, r in zip(terms, ranks, strict=True)]
    hidden = sorted({i for term in labels for i in term if isinstance(i, int)})
    if not arrow:
        return labels, [*hidden, *_seen_once(labels)]
    return labels, _result_labels(equation, right, labels, hidden)


def _labels(equation: str, term: str, rank: int) -> list[Label]:
    before, dots, after = term.partition("...")
    letters = before + after
    wrong = [c for c in letters if c not in _LETTERS]
    if wrong:
        raise ArgumentValueError(
            f"einsum: {wrong[0]!r} in {equation!r} is neither a letter nor an ellipsis"
        )
    missing = rank - len(letters)
    if missing < 0 or (missing and not dots):
        raise ArgumentValueError(
            f"einsum: {term!r} in {equation!r} names {len(letters)} dimensions, "
            f"the operand has {rank}"
        )
    return [*before, *range(-missing, 0), *after]


def _seen_once(labels: list[list[Label]]) -> list[str]:
    letters = [label for term in labels for label in term if isinstance(label, str)]
    return sorted(label for label in set(letters) if letters.count(label) == 1)


def _result_labels(
    equation: str, text: str, labels: list[list[Label]], hidden: list[int]
) -> list[Label]:
    before, dots, after = text.partition("...")
    letters = before + after
    known = {label for term in labels for label in term}
    for letter in letters:
        if letter not in known or letters.count(letter) > 1:
            raise ArgumentValueError(
                f"einsum: {letter!r} in the result of {equation!r} must stand there "
                "once and in an operand"
            )
    return [*before, *(hidden if dots else ()), *after]


# -- doing it -------------------------------------------------------------------------


def _without_repeats(tensor: Tensor, labels: list[Label]) -> Labelled:
    """Return `tensor` with a diagonal taken wherever a label stands twice."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            tensor = _diagonal(tensor, label, first, second)
            rest = [x for i, x in enumerate(labels) if i not in (first, second)]
            labels = [*rest, label]
    return Labelled(tensor, tuple(labels))


def _diagonal(tensor: Tensor, label: Label, first: int, second: int) -> Tensor:
    """Return the diagonal of two dimensions, as the last dimension."""
    shape = tensor._array.shape
    size = shape[first]
    if size != shape[second]:
        raise ShapeError(
            f"einsum: {label!r} stands for sizes {size} and {shape[second]} of one "
            f"operand of shape {shape_text(shape)}"
        )
    rest = [i for i in range(len(shape)) if i not in (first, second)]
    square = permute(tensor, *rest, first, second)
    flat = reshape(square, *(shape[i] for i in rest), size * size)
    return slice_(flat, len(rest), 0, size * size, size + 1)  # type: ignore[no-any-return]


def _check_sizes(operands: list[Labelled]) -> dict[Label, Dimension]:
    sizes: dict[Label, Dimension] = {}
    for operand in operands:
        for label in operand.labels:
            size = operand.size(label)
            known = sizes.get(label, 1)
            if 1 not in (size, known) and size != known:
                raise ShapeError(
                    f"einsum: {label!r} stands for sizes {known} and {size}"
                )
            sizes[label] = size if known == 1 else known
    return sizes


def _spread(operand: Labelled, sizes: dict[Label, Dimension]) -> Labelled:
    """Return `operand` with dimensions of size 1 expanded to what others have."""
    shape = tuple(sizes[label] for label in operand.labels)
    if shape == operand.tensor._array.shape:
        return operand
    return Labelled(expand(operand.tensor, *shape), operand.labels)


def _product(a: Labelled, b: Labelled, later: set[Label]) -> Labelled:
    """Return the product of two, summed over what is not needed later."""
    a = a.summed({label for label in a.labels if label not in {*b.labels, *later}})
    b = b.summed({label for label in b.labels if label not in {*a.labels, *later}})
    shared = [label for label in a.labels if label in b.labels]
    batch = [label for label in shared if label in later]
    inner = [label for label in shared if label not in later]
    left = [label for label in a.labels if label not in shared]
    right = [label for label in b.labels if label not in shared]
    labels = (*batch, *left, *right)
    if not inner:
        return Labelled(_elementwise(a, b, batch, left, right), labels)
    sizes = {label: a.size(label) for label in a.labels}
    sizes |= {label: b.size(label) for label in b.labels}

    def grouped(operand: Labelled, *groups: list[Label]) -> Tensor:
        ordered = operand.arranged([x for group in groups for x in group]).tensor
        shape = [numel([sizes[x] for x in group]) for group in groups]
        return reshape(ordered, *shape)  # type: ignore[no-any-return]

    product = matrix_product(
        grouped(a, batch, left, inner), grouped(b, batch, inner, right)
    )
    return Labelled(reshape(product, *(sizes[x] for x in labels)), labels)


def _elementwise(
    a: Labelled,
    b: Labelled,
    batch: list[Label],
    left: list[Label],
    right: list[Label],
) -> Tensor:
    """Return products without a sum: multiplication is enough, and can be fused."""
    x = a.arranged([*batch, *left]).tensor
    y = b.arranged([*batch, *right]).tensor
    for _ in right:
        x = unsqueeze(x, -1)
    for _ in left:
        y = unsqueeze(y, len(batch))
    return mul(x, y)  # type: ignore[no-any-return]


def _from_sublists(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return equation and operands of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""

    def text(labels: Sequence[Any]) -> str:
        return "".join("..." if x is Ellipsis else _LETTERS[x] for x in labels)

    operands = args[: len(args) - len(args) % 2 : 2]
    equation = ",".join(text(labels) for labels in args[1::2])
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return equation, operands


@public_function(method=False)
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Return the sum of products that an equation of labels describes.

    Parameters
    ----------
    equation : str
        The labels of each operand's dimensions, separated by commas, then ``->`` and
        the result's: ``"bij,bjk->bik"``. A label that the result lacks is summed
        over; one that an operand has twice takes a diagonal; ``...`` stands for
        dimensions that broadcast. Without ``->`` the result has, in the order of
        the alphabet, the labels that stand once.
    *operands : Tensor, shape (...)
        Of one dtype. They are multiplied from left to right.

    Returns
    -------
    Tensor

    Raises
    ------
    ArgumentValueError
        If the equation can't be read, or names another number of dimensions.
    ShapeError
        If one label stands for two sizes, neither of them 1.
    DTypeError
        If the operands' dtypes differ.

    Examples
    --------
    >>> import tracegrad as tg
    >>> tg.einsum("ij,j->i", tg.tensor([[1, 2], [3, 4]]), tg.tensor([1, 10])).tolist()
    [21, 43]
    """
    if isinstance(equation, Tensor):
        equation, operands = _from_sublists((equation, *operands))
    elif len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    for operand in operands:
        if not isinstance(operand, Tensor):
            raise ArgumentTypeError(
                f"einsum takes tensors, not {type(operand).__name__}"
            )
    labels, wanted = _parsed(equation, [x.ndim for x in operands])
    if len(operands) > 1:
        check_one_dtype("einsum", *operands)
    parts = [_without_repeats(x, y) for x, y in zip(operands, labels, strict=True)]
    sizes = _check_sizes(parts)
    parts = [_spread(part, sizes) for part in parts]
    result = parts[0]
    for index, part in enumerate(parts[1:], 2):
        needed = {label for other in parts[index:] for label in other.labels}
        result = _product(result, part, needed | set(wanted))
    result = result.summed(set(result.labels) - set(wanted))
    return result.arranged(wanted).tensor


@public_function(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return the sums of products over several dimensions of two tensors.

    Parameters
    ----------
    a, b : Tensor, shape (...)
    dims : int, or two lists of int
        How many of the last dimensions of `a` and the first of `b`, or which of each.

    Raises
    ------
    ShapeError
        If the sizes of the dimensions differ.
    DTypeError
        If the dtypes differ.
    """
    check_one_dtype("tensordot", a, b)
    of_a, of_b = _dimension_pairs(a, b, dims)
    names = [chr(ord("a") + i) for i in range(a.ndim)]
    others = [chr(ord("A") + i) for i in range(b.ndim)]
    for i, j in zip(of_a, of_b, strict=True):
        if a.shape[i] != b.shape[j]:
            raise ShapeError(
                f"tensordot: dimension {i} of {shape_text(a._array.shape)} and {j} of "
                f"{shape_text(b._array.shape)} have different sizes"
            )
        others[j] = names[i]
    left = Labelled(a, tuple(names))
    right = Labelled(b, tuple(others))
    summed = {names[i] for i in of_a}
    later: set[Label] = {name for name in (*names, *others) if name not in summed}
    return _product(left, right, later).tensor


def _dimension_pairs(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ShapeError(
                f"tensordot: dims={dims} does not fit {a.ndim} and {b.ndim} dimensions"
            )
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    of_a, of_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(of_a) != len(of_b):
        raise ShapeError(
            f"tensordot: {len(of_a)} dimensions of one, {len(of_b)} of the other"
        )
    return (
        [canonical_dim("tensordot", d, a.ndim) for d in of_a],
        [canonical_dim("tensordot", d, b.ndim) for d in of_b],
    )


@public_function(method=False)
def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Return ``input1 @ weight[i] @ input2`` for each output i, plus the bias.

    Parameters
    ----------
    input1, input2 : Tensor, shapes (..., in1) and (..., in2)
    weight : Tensor, shape (out, in1, in2)
    bias : Tensor, shape (out,), optional

    Raises
    ------
    ShapeError
        If the sizes differ.
    """
    result = einsum("...i,oij,...j->...o", input1, weight, input2)
    return result if bias is None else add(result, bias)  # type: ignore[no-any-return]
