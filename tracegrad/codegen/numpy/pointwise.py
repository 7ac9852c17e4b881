"""From an operator's NumPy expression to calls with ``out=``."""

from __future__ import annotations

import ast
import math
import re
from typing import Any, Protocol

import numpy as np

from tracegrad.codegen.numpy.instructions import Argument, Array, Call, Expression
from tracegrad.dtypes import DType, from_numpy_dtype
from tracegrad.errors import CompileError
from tracegrad.ir.graph import Node, Value
from tracegrad.spec import TensorSpec

_BINARY = {
    ast.Add: "np.add", ast.Sub: "np.subtract", ast.Mult: "np.multiply",
    ast.Div: "np.true_divide", ast.FloorDiv: "np.floor_divide",
    ast.Mod: "np.remainder", ast.Pow: "np.power", ast.BitAnd: "np.bitwise_and",
    ast.BitOr: "np.bitwise_or", ast.BitXor: "np.bitwise_xor",
    ast.LShift: "np.left_shift", ast.RShift: "np.right_shift",
}  # fmt: skip
_COMPARE = {
    ast.Lt: "np.less", ast.LtE: "np.less_equal", ast.Gt: "np.greater",
    ast.GtE: "np.greater_equal", ast.Eq: "np.equal", ast.NotEq: "np.not_equal",
}  # fmt: skip
_UNARY = {ast.USub: "np.negative", ast.Invert: "np.invert"}


class Sink(Protocol):
    """Where calls go, and where names and buffers come from."""

    def temporary(self, hint: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return a planned buffer."""

    def local(self, hint: str, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return a name for what a call returns."""

    def emit(self, instruction: Call | Expression) -> None:
        """Add an instruction."""


def literal_text(value: Any) -> str:
    """Return a Python number as text that evaluates to the same bits."""
    if isinstance(value, complex):
        return f"complex({literal_text(value.real)}, {literal_text(value.imag)})"
    if isinstance(value, float) and math.isnan(value):
        return "np.nan" if math.copysign(1.0, value) > 0 else "-np.nan"
    if isinstance(value, float) and math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


class Literal(str):
    """A Python number's text, with the dtype that the operator computes in."""

    dtype: DType

    @classmethod
    def of(cls, value: Any, dtype: DType) -> Literal:
        """Return `value` as text of the kind that `dtype` computes with."""
        made = cls(typed(value, dtype))
        made.dtype = dtype
        return made


def dtype_text(dtype: DType) -> str:
    """Return a dtype as NumPy's text."""
    if dtype.name == "bfloat16":
        return "ml_dtypes.bfloat16"
    return "np.bool_" if dtype.name == "bool" else f"np.{dtype.name}"


def spec_of(value: Value) -> TensorSpec:
    """Return the tensor spec of a value."""
    assert isinstance(value.spec, TensorSpec)
    return value.spec


def wrapped_number(value: Any, dtype: DType) -> Any:
    """Return a Python number as `dtype` holds it."""
    return dtype.numpy.type(_evaluated(typed(value, dtype))).item()


def typed(value: Any, dtype: DType) -> str:
    """Return a Python number as text of the kind that `dtype` computes with."""
    if dtype.kind == "float" and isinstance(value, int):
        return literal_text(float(value))
    if dtype.kind == "complex" and isinstance(value, int | float):
        return literal_text(complex(value))
    if dtype.kind == "int":
        bits = 8 * dtype.itemsize
        wrapped = int(value) & ((1 << bits) - 1)
        if dtype.signed and wrapped >> (bits - 1):
            wrapped -= 1 << bits
        return repr(wrapped)
    if dtype.kind == "bool":
        return repr(bool(value))
    return literal_text(value)


def cast(sink: Sink, array: Argument, dtype: DType, comment: str) -> Argument:
    """Return `array` as `dtype`, converted by a call where it differs."""
    if isinstance(array, str) or array.dtype is None or array.dtype == dtype.numpy:
        return array
    text = conversion_text(array, dtype)
    target = sink.local(f"{array.name}_{dtype.code}", array.shape, dtype.numpy)
    sink.emit(Expression(text, (array,), target, comment))
    return target


def conversion_text(array: Array, dtype: DType) -> str:
    """Return the text that converts, by the one definition of conversions."""
    text = array.name
    own = from_numpy_dtype(array.dtype)
    if own.kind == "complex" and dtype.kind not in ("complex", "bool"):
        text = f"{text}.real"
    wide = own.kind in ("float", "complex") and dtype.kind == "int"
    if wide and dtype.itemsize < 4:
        text = f"{text}.astype({'np.int64' if dtype.name == 'uint8' else 'np.int32'})"
    return f"{text}.astype({dtype_text(dtype)})"


def emit_expression(
    sink: Sink,
    node: Node,
    text: str,
    operands: dict[str, Argument],
    attributes: dict[str, str],
    target: Array,
    result: DType,
    comment: str,
    helpers: dict[str, str],
) -> None:
    """Emit the calls that compute `text` into `target`.

    Parameters
    ----------
    sink : Sink
    node : Node
    text : str
        The operator's expression.
    operands : dict
        By name, already cast to the compute dtype.
    attributes : dict
        Their texts by name.
    target : Array
    result : DType
        The dtype `target` must have.
    comment : str
    helpers : dict
        Sources of the functions that `text` calls besides NumPy's.
    """
    _Writer(sink, operands, attributes, comment, helpers).into(
        _tree(text), target, result
    )


def emit_condition(
    sink: Sink,
    text: str,
    operands: dict[str, Argument],
    comment: str,
) -> Argument:
    """Emit the calls that compute a condition; return what holds it."""
    return _Writer(sink, operands, {}, comment, {})._argument(_tree(text))


def _tree(text: str) -> ast.expr:
    return ast.parse(re.sub(r"\{(\w+)\}", r"\1", text), mode="eval").body


class _Writer:
    def __init__(
        self,
        sink: Sink,
        operands: dict[str, Argument],
        attributes: dict[str, str],
        comment: str,
        helpers: dict[str, str],
    ) -> None:
        self.sink = sink
        self.operands = operands
        self.attributes = attributes
        self.comment = comment
        self.helpers: dict[str, Any] = {"np": np}
        for source in helpers.values():
            exec(source, self.helpers)

    def into(self, tree: ast.expr, target: Array, result: DType) -> None:
        """Emit `tree` so that `target` holds it."""
        tree = self._chosen(tree)
        called = self._ufunc_call(tree)
        if called is not None:
            function, args = called
            self._call(function, args, target)
            return
        text = self._text(tree)
        if text is not None and _takes_any_array(target):
            # The array that the call makes becomes the target.
            found, arrays, dtype = text
            if dtype == target.dtype:
                target.kind = "result"
                self.sink.emit(Expression(found, arrays, target, self.comment))
                return
        value = self._argument(tree)
        if isinstance(value, Array) and not _copies(value, target):
            value = cast(self.sink, value, result, self.comment)
        self.sink.emit(
            Call("np.copyto", (target, value), target, into=False, comment=self.comment)
        )

    def _call(self, function: str, args: tuple[Argument, ...], target: Array) -> None:
        given = self._result_dtype(function, args)
        options = ""
        if not np.can_cast(given, target.dtype, "same_kind"):
            options = 'casting="unsafe"'
        self.sink.emit(
            Call(
                function,
                args,
                target,
                options,
                elementwise=given == target.dtype,
                comment=self.comment,
            )
        )

    def _chosen(self, tree: ast.expr) -> ast.expr:
        """Return the branch of a ``np.where`` whose condition is known here."""
        while isinstance(tree, ast.Call) and ast.unparse(tree.func) == "np.where":
            known = self._folded(tree.args[0])
            if known not in ("True", "False"):
                break
            tree = tree.args[1 if known == "True" else 2]
        return tree

    def _folded(self, tree: ast.expr) -> str | None:
        """Return the text of what depends on no array, computed as a kernel would."""
        names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
        scope: dict[str, Any] = dict(self.helpers)
        known = len(scope)
        for name in names:
            operand = self.operands.get(name)
            if isinstance(operand, Literal):
                scope[name] = operand.dtype.numpy.type(_evaluated(operand))
            elif name in self.attributes:
                scope[name] = _evaluated(self.attributes[name])
            elif name not in self.helpers:
                return None
        if len(scope) == known:
            return None
        with np.errstate(all="ignore"):
            value = eval(ast.unparse(tree), scope)
        return literal_text(getattr(value, "item", lambda: value)())

    def _argument(self, tree: ast.expr) -> Argument:
        """Return `tree` as an argument, computed before where it is a call."""
        tree = self._chosen(tree)
        if (
            not isinstance(tree, ast.Name)
            and (folded := self._folded(tree)) is not None
        ):
            return folded
        if isinstance(tree, ast.Name):
            if tree.id in self.operands:
                return self.operands[tree.id]
            return self.attributes.get(tree.id, tree.id)
        if isinstance(tree, ast.Constant):
            return self._number(tree.value)
        called = self._ufunc_call(tree)
        if called is None:
            return self._other(tree)
        function, args = called
        target = self.sink.temporary(
            function.rpartition(".")[2],
            _broadcast(args),
            self._result_dtype(function, args),
        )
        self._call(function, args, target)
        return target

    def _number(self, value: Any) -> Argument:
        """Return a number that stands in an expression, of the arrays' dtype."""
        dtypes = {a.dtype for a in self.operands.values() if isinstance(a, Array)}
        if type(value) in (int, float) and len(dtypes) == 1 and None not in dtypes:
            (dtype,) = dtypes
            if dtype.kind == "f":
                return Literal.of(value, from_numpy_dtype(dtype))
        return literal_text(value)

    def _ufunc_call(self, tree: ast.expr) -> tuple[str, tuple[Argument, ...]] | None:
        """Return the ufunc and its arguments if `tree` is a call of one."""
        if isinstance(tree, ast.BinOp):
            parts: list[ast.expr] = [tree.left, tree.right]
            function = _BINARY[type(tree.op)]
        elif isinstance(tree, ast.UnaryOp):
            if isinstance(tree.operand, ast.Constant):
                return None
            parts, function = [tree.operand], _UNARY[type(tree.op)]
        elif isinstance(tree, ast.Compare):
            parts = [tree.left, tree.comparators[0]]
            function = _COMPARE[type(tree.ops[0])]
        elif isinstance(tree, ast.Call) and _is_ufunc(tree):
            parts, function = list(tree.args), ast.unparse(tree.func)
        else:
            return None
        args = tuple(map(self._argument, parts))
        if not any(isinstance(a, Array) for a in args):
            return None
        return function, args

    def _other(self, tree: ast.expr) -> Argument:
        """Return a name for an expression that is no ufunc call, such as np.where."""
        if isinstance(tree, ast.UnaryOp | ast.Attribute):
            return ast.unparse(tree)
        if not isinstance(tree, ast.Call):
            raise CompileError(f"the expression {ast.unparse(tree)!r} can't be emitted")
        text, arrays, dtype = self._called(tree)
        if not arrays:
            return text
        hint = ast.unparse(tree.func).rpartition(".")[2]
        target = self.sink.local(hint, _broadcast(arrays), dtype)
        self.sink.emit(Expression(text, arrays, target, self.comment))
        return target

    def _text(self, tree: ast.expr) -> tuple[str, tuple[Array, ...], Any] | None:
        """Return the text of a call that is no ufunc's, if `tree` is one on arrays."""
        if not isinstance(tree, ast.Call) or _is_ufunc(tree):
            return None
        text, arrays, dtype = self._called(tree)
        return (text, arrays, dtype) if arrays else None

    def _called(self, tree: ast.Call) -> tuple[str, tuple[Array, ...], Any]:
        args = [self._argument(a) for a in tree.args]
        if not ast.unparse(tree.func).startswith("np."):
            # Our own functions take arrays and typed numbers, as eager kernels do.
            args = [_typed_literal(a) for a in args]
        arrays = tuple(a for a in args if isinstance(a, Array))
        texts = [a.name if isinstance(a, Array) else a for a in args]
        texts += [f"{k.arg}={ast.unparse(k.value)}" for k in tree.keywords]
        text = f"{ast.unparse(tree.func)}({', '.join(texts)})"
        return text, arrays, self._called_dtype(tree, args)

    def _called_dtype(self, tree: ast.Call, args: list[Argument]) -> Any:
        """Return the dtype a non-ufunc call gives, by calling it on empty arrays."""
        scope = self.helpers | {"complex": complex}

        def evaluated(text: str) -> Any:
            return eval(text, scope)

        function = evaluated(ast.unparse(tree.func))
        given = [
            np.empty((0,), a.dtype) if isinstance(a, Array) else evaluated(a)
            for a in args
        ]
        keywords = {str(k.arg): evaluated(ast.unparse(k.value)) for k in tree.keywords}
        with np.errstate(all="ignore"):
            return function(*given, **keywords).dtype

    def _result_dtype(self, function: str, args: tuple[Argument, ...]) -> Any:
        ufunc = getattr(np, function.removeprefix("np."))
        given = tuple(_weak_or_dtype(a) for a in args)
        return ufunc.resolve_dtypes((*given, None))[-1]


def _typed_literal(argument: Argument) -> Argument:
    if isinstance(argument, Literal):
        return f"{dtype_text(argument.dtype)}({argument})"
    return argument


def _copies(value: Array, target: Array) -> bool:
    """Return whether NumPy's plain copy converts `value` as the operator does."""
    return bool(np.can_cast(value.dtype, target.dtype, "same_kind"))


def _takes_any_array(target: Array) -> bool:
    """Return whether any array may stand for `target`: no planned place is cut out."""
    return target.base is None and target.cut is None and bool(target.shape)


def _is_ufunc(tree: ast.Call) -> bool:
    text = ast.unparse(tree.func)
    found = getattr(np, text.removeprefix("np."), None)
    return isinstance(found, np.ufunc) and not tree.keywords


def _weak_or_dtype(argument: Argument) -> Any:
    """Return an argument's dtype, or the Python type of a literal (NumPy's weak)."""
    if isinstance(argument, Array):
        return argument.dtype
    value = _evaluated(argument)
    if isinstance(value, bool | np.bool_):
        return np.dtype(bool)
    if isinstance(value, int | float | complex) and type(value) in (
        int,
        float,
        complex,
    ):
        return type(value)
    return np.asarray(value).dtype


def _evaluated(text: str) -> Any:
    return eval(text, {"np": np, "complex": complex})


def _broadcast(args: tuple[Argument, ...]) -> tuple[int, ...]:
    return np.broadcast_shapes(*[a.shape for a in args if isinstance(a, Array)])
