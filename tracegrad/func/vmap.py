"""`vmap`: a function of one example becomes a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from tracegrad.autograd.function import Function
from tracegrad.dispatch.batched import BatchedTensor, batched
from tracegrad.dispatch.bind import bind, link_views
from tracegrad.dispatch.inplace import check_writable, write
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import install_transforms, thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, InplaceError, TransformError
from tracegrad.func.batching import apply_batched, one_by_one, specs_of, stacked
from tracegrad.func.trees import flatten, spread
from tracegrad.ops.batching import Call, repeated

Randomness: TypeAlias = Literal["error", "different", "same"]


@final
class VmapTransform:
    """One level of vmap: it gives operators the whole batch.

    Attributes
    ----------
    size : int
        The number of examples.
    randomness : str
    depth : int
        How many transforms are outside.
    entered : bool
        Whether the function is running.
    """

    functional = True

    def __init__(self, size: int, randomness: Randomness) -> None:
        self.size = size
        self.randomness = randomness
        self.depth = len(thread.transforms) + 1
        self.entered = False

    def __enter__(self) -> VmapTransform:
        self._before = install_transforms((*thread.transforms, self))
        self.entered = True
        return self

    def __exit__(self, *exception: object) -> None:
        self.entered = False
        install_transforms(self._before)

    def owns(self, operand: Any) -> bool:
        """Return whether an operand is, or holds, a batch of this level."""
        if operand.__class__ is BatchedTensor:
            return operand.level is self  # type: ignore[no-any-return]
        return operand.__class__ is tuple and any(map(self.owns, operand))

    def bind(
        self, operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """Apply the operator to all examples."""
        if operator.is_random:
            return self._draw(operator, operands, attributes)
        if not any(map(self.owns, operands)):
            return bind(operator, operands, attributes)
        if operator.body is not None:
            before = install_transforms((*thread.transforms, self))
            try:
                return operator.body(*operands, **attributes)
            finally:
                install_transforms(before)
        outcome = apply_batched(operator, self._call(operands, attributes))
        result = self.wrapped(outcome.results)
        if operator.is_view:
            self._link(operator, operands[0], attributes, result, outcome.shares)
        return result

    def _call(self, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Call:
        return Call(
            tuple(map(self.physical, operands)),
            tuple(map(self._flags, operands)),
            specs_of(operands),
            attributes,
            self.size,
        )

    def physical(self, operand: Any) -> Any:
        """Return the batch behind an operand, or the operand itself."""
        if operand.__class__ is tuple:
            return tuple(map(self.physical, operand))
        return operand.value if self.owns(operand) else operand

    def _flags(self, operand: Any) -> Any:
        if operand.__class__ is tuple:
            return tuple(map(self._flags, operand))
        return self.owns(operand)

    def wrapped(self, results: Any) -> Any:
        """Return what the function sees of a batch's result(s)."""
        if isinstance(results, tuple):
            return tuple(map(self.wrapped, results))
        return batched(results, self)

    def _link(
        self,
        operator: OpDef,
        source: Tensor,
        attributes: dict[str, Any],
        result: Any,
        shares: bool,
    ) -> None:
        several = result if isinstance(result, tuple) else (result,)
        if shares:
            link_views(operator, source, attributes, result)
            return
        for tensor in several:
            tensor._array = _unwritable(tensor)

    def _draw(
        self, operator: OpDef, operands: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        if self.randomness == "error":
            raise TransformError(
                f"{operator.name} draws random numbers inside vmap; pass "
                "randomness='different' or randomness='same' to say what is meant"
            )
        on_batch = any(map(self.owns, operands))
        if self.randomness == "same" and not on_batch:
            return bind(operator, operands, attributes)
        if self.randomness == "same":
            raise TransformError(
                f"{operator.name}: randomness='same' is not possible where the operand "
                "differs from example to example"
            )
        return self.wrapped(one_by_one(operator, self._call(operands, attributes)))

    def write(self, target: Tensor, value: Tensor) -> None:
        """Write into all examples.

        Raises
        ------
        InplaceError
            If the target is one for all examples and the value is not.
        """
        if not self.owns(target):
            if self.owns(value):
                raise InplaceError(
                    "inside vmap a tensor that all examples share can't take a "
                    "value that "
                    "differs from example to example; use an operator that makes a "
                    "new one"
                )
            write(target, value)
            return
        memory = self.physical(target)
        check_writable(memory, "a write inside vmap")
        same = not self.owns(value)
        write(memory, repeated(value, self.size) if same else self.physical(value))

    def call(self, function: type[Function], args: tuple[Any, ...]) -> Any:
        """Apply a `Function`: by its ``vmap``, or example by example."""
        if not any(map(self.owns, args)):
            return function.apply(*args)
        values = tuple(map(self.physical, args))
        if function.vmap is Function.vmap:
            return self._call_each(function, args)
        in_dims = tuple(0 if self.owns(a) else None for a in args)
        info = VmapInfo(self.size, self.randomness)
        results, out_dims = function.vmap(info, in_dims, *values)
        leaves, build = flatten(results)
        dims = spread(out_dims, results, "the out_dims of a Function's vmap")
        return build(
            [
                leaf if dim is None else batched(_to_front(leaf, dim), self)
                for leaf, dim in zip(leaves, dims, strict=True)
            ]
        )

    def _call_each(self, function: type[Function], args: tuple[Any, ...]) -> Any:
        call = self._call(args, {})
        if self.size == 0:
            raise TransformError(
                f"{function.__name__} defines no vmap, and there is no example to "
                "apply it to"
            )
        found = [function.apply(*call.example(place)) for place in range(self.size)]
        named = OPERATORS["stack"]
        if isinstance(found[0], tuple):
            parts = zip(*found, strict=True)
            return self.wrapped(tuple(stacked(named, part) for part in parts))
        return self.wrapped(stacked(named, found))


@final
@dataclass(frozen=True, slots=True)
class VmapInfo:
    """What a Function's ``vmap`` is told."""

    batch_size: int
    randomness: str


def _unwritable(tensor: Tensor) -> Any:
    """Mark the copy that stands for a view: a write into it would be lost."""
    value = tensor.value  # type: ignore[attr-defined]
    if hasattr(value._array, "flags"):
        value._array.flags.writeable = False
    return tensor._array


def _to_front(tensor: Tensor, dim: int) -> Tensor:
    return tensor if dim == 0 else tensor.movedim(dim, 0)  # type: ignore[attr-defined, no-any-return]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: Randomness = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that applies `func` to each example of a batch at once.

    Parameters
    ----------
    func : callable
        From tensors, or nestings of them, to the same.
    in_dims : int, None or nesting
        Which dimension of each argument counts the examples; None for an argument
        that is the same for all.
    out_dims : int, None or nesting
        Where the examples are counted in each result.
    randomness : {"error", "different", "same"}
        What random operators do: raise, draw for each example, or draw once for all.
    chunk_size : int, optional
        How many examples at a time; all if not given.

    Returns
    -------
    callable

    Raises
    ------
    ArgumentError
        If `in_dims` or `out_dims` do not fit, or the sizes differ.

    Examples
    --------
    >>> import tracegrad as tg
    >>> from tracegrad.func import grad, vmap
    >>> x, y = tg.tensor([[1.0, 2.0], [3.0, 4.0]]), tg.tensor([1.0, 10.0])
    >>> vmap(lambda a, b: a @ b, in_dims=(0, None))(x, y)
    tensor([21., 43.])
    >>> vmap(grad(lambda a: (a * a).sum()))(x)
    tensor([[2., 4.],
            [6., 8.]])
    """
    if randomness not in ("error", "different", "same"):
        raise ArgumentError(
            f"vmap: randomness is 'error', 'different' or 'same', not {randomness!r}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentError(f"vmap: chunk_size must be positive, not {chunk_size}")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        batch = _Batch.of(args, kwargs, in_dims)
        if chunk_size is None or batch.size <= chunk_size:
            return _run(func, batch, out_dims, randomness)
        parts = [
            _run(func, part, out_dims, randomness) for part in batch.chunks(chunk_size)
        ]
        return _joined(parts, out_dims)

    return wrapped


@final
@dataclass(frozen=True, slots=True)
class _Batch:
    """Arguments taken apart; batched leaves have the batch dimension first."""

    leaves: Sequence[Any]
    flags: Sequence[bool]
    build: Callable[[Sequence[Any]], Any]
    size: int

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: dict[str, Any], in_dims: Any) -> _Batch:
        dims = (
            list(in_dims)
            if isinstance(in_dims, tuple | list)
            else [in_dims] * len(args)
        )
        if len(dims) != len(args):
            raise ArgumentError(
                f"vmap: in_dims has {len(dims)} entries for {len(args)} arguments"
            )
        leaves, build = flatten((args, kwargs))
        positional = spread(tuple(dims), args, "in_dims")
        of_keywords = [
            0 if isinstance(leaf, Tensor) else None for leaf in flatten(kwargs)[0]
        ]
        moved, flags, sizes = [], [], set()
        for leaf, dim in zip(leaves, [*positional, *of_keywords], strict=True):
            batch_first = leaf if dim is None else _batch_first(leaf, dim)
            moved.append(batch_first)
            flags.append(dim is not None)
            if dim is not None:
                sizes.add(batch_first._array.shape[0])
        if len(sizes) != 1:
            what = "no argument is batched" if not sizes else f"sizes {sorted(sizes)}"
            raise ArgumentError(f"vmap: the arguments must have one batch size; {what}")
        return cls(moved, flags, build, sizes.pop())

    def chunks(self, count: int) -> list[_Batch]:
        """Return the batch in pieces of at most `count` examples."""
        found = []
        for start in range(0, self.size, count):
            stop = min(start + count, self.size)
            leaves = [
                leaf[start:stop] if flag else leaf
                for leaf, flag in zip(self.leaves, self.flags, strict=True)
            ]
            found.append(_Batch(leaves, self.flags, self.build, stop - start))
        return found


def _batch_first(leaf: Any, dim: Any) -> Tensor:
    if not isinstance(leaf, Tensor):
        raise ArgumentError(
            f"vmap: in_dims {dim!r} is for a tensor, not for "
            f"{type(leaf).__name__}; use None"
        )
    if not isinstance(dim, int) or not -leaf.ndim <= dim < leaf.ndim:
        raise ArgumentError(
            f"vmap: in_dims {dim!r} is no dimension of a tensor of shape "
            f"{list(leaf.shape)}"
        )
    return _to_front(leaf, dim % leaf.ndim)


def _run(
    func: Callable[..., Any], batch: _Batch, out_dims: Any, randomness: Randomness
) -> Any:
    level = VmapTransform(batch.size, randomness)
    with level:
        args, kwargs = batch.build(
            [
                batched(leaf, level) if flag else leaf
                for leaf, flag in zip(batch.leaves, batch.flags, strict=True)
            ]
        )
        result = func(*args, **kwargs)
    leaves, build = flatten(result)
    dims = spread(out_dims, result, "out_dims")
    return build(
        [_unwrapped(leaf, dim, level) for leaf, dim in zip(leaves, dims, strict=True)]
    )


def _unwrapped(leaf: Any, dim: Any, level: VmapTransform) -> Any:
    if not isinstance(leaf, Tensor):
        raise ArgumentError(
            f"vmap: the function must return tensors, not {type(leaf).__name__}"
        )
    if dim is None:
        if level.owns(leaf):
            raise ArgumentError("vmap: out_dims is None for a result that is batched")
        return leaf
    batch = level.physical(leaf) if level.owns(leaf) else repeated(leaf, level.size)
    if not -batch.ndim <= dim < batch.ndim:
        raise ArgumentError(
            f"vmap: out_dims {dim} is no dimension of a result of shape "
            f"{list(batch.shape)}"
        )
    return batch if dim == 0 else batch.movedim(0, dim)


def _joined(parts: list[Any], out_dims: Any) -> Any:
    first, build = flatten(parts[0])
    dims = spread(out_dims, parts[0], "out_dims")
    columns = zip(*[flatten(part)[0] for part in parts], strict=True)
    joined = [
        column[0] if dim is None else OPERATORS["cat"](list(column), dim)
        for column, dim in zip(columns, dims, strict=True)
    ]
    assert len(joined) == len(first)
    return build(joined)
