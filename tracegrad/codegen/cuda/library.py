"""Calls of CuPy: library operators, and what no kernel can be written for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, final

from tracegrad.codegen.c_family.expressions import pointwise_types, text_for
from tracegrad.codegen.c_family.problems import may_fail
from tracegrad.codegen.c_family.reductions import carried_dtype
from tracegrad.codegen.c_family.types import compute_dtype
from tracegrad.codegen.numpy.emitter import attribute_text
from tracegrad.codegen.numpy.library import Library
from tracegrad.codegen.numpy.pointwise import dtype_text, typed
from tracegrad.device import Device
from tracegrad.dtypes import DType
from tracegrad.errors import CompileError
from tracegrad.ir.builder import Names
from tracegrad.ir.graph import Node, Operand, Value
from tracegrad.spec import ScalarSpec, TensorSpec

_OUT = re.compile(r",\s*out=\{out\}")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@final
class Calls:
    """Texts of calls, and the functions they need.

    Attributes
    ----------
    library : Library
    """

    def __init__(self, names: Names) -> None:
        self.library = Library()
        self._names = names

    def text(self, node: Node, names: Mapping[Value, str]) -> str:
        """Return the expression that computes a node's results.

        Parameters
        ----------
        node : Node
        names : mapping from Value to str
            The local names of its operands.
        """
        facts = node.operator.facts
        if "pointwise" in facts:
            return self._pointwise(node, names)
        if "reduction" in facts:
            return self._reduction(node, names)
        values = {
            p.name: _operand(o, names)
            for p, o in zip(node.operator.operands, node.inputs, strict=True)
        }
        plain = self.library.plain_text(node)
        if plain is not None:
            values |= {name: attribute_text(value) for name, value in node.attributes}
            return _filled(_OUT.sub("", plain), values)
        values |= {name: self._attribute(value) for name, value in node.attributes}
        return _filled(self.library.call_text(node), values)

    def _attribute(self, value: Any) -> str:
        """Return an attribute as text for a kernel function's source."""
        if isinstance(value, Device):
            return "None"
        text = self.library.data_text(value)
        if text is None:
            raise CompileError(f"the attribute {value!r} can't be emitted")
        return text

    def checks(self, node: Node, names: Mapping[Value, str]) -> list[str]:
        """Return the lines that raise where an element has no result."""
        facts = node.operator.facts.get("pointwise")
        if facts is None or not may_fail(node):
            return []
        types, _ = pointwise_types(node)
        text = text_for(facts.fails, compute_dtype(types[-1]))
        assert text is not None
        cls, said = facts.refusal
        error = self.library.error(cls)
        message = f"{node.operator.name}: {said}"
        failed = _filled(text, self._operands(node, names, types))
        return [f"if np.any({failed}):", f"    raise {error}({message!r})"]

    def _pointwise(self, node: Node, names: Mapping[Value, str]) -> str:
        types, result = pointwise_types(node)
        facts = node.operator.facts["pointwise"]
        values = self._operands(node, names, types)
        values |= {name: attribute_text(value) for name, value in node.attributes}
        self.library.functions.update(facts.numpy_helper_texts)
        text = _filled(facts.text(types[-1]), values)
        return f"np.asarray({text}).astype({dtype_text(result)}, copy=False)"

    def _operands(
        self, node: Node, names: Mapping[Value, str], types: tuple[DType, ...]
    ) -> dict[str, str]:
        return {
            p.name: _cast(o, names, compute_dtype(dtype))
            for p, o, dtype in zip(
                node.operator.operands, node.inputs, types, strict=True
            )
        }

    def _reduction(self, node: Node, names: Mapping[Value, str]) -> str:
        facts = node.operator.facts["reduction"]
        carried = carried_dtype(node)
        values = {
            "x": _cast(node.inputs[0], names, carried),
            "axis": repr(node.attribute("dim")),
            "keepdims": repr(node.attribute("keepdim")),
        }
        spec = node.result.spec
        assert isinstance(spec, TensorSpec)
        text = _filled(facts.numpy, values)
        return f"np.asarray({text}).astype({dtype_text(spec.dtype)}, copy=False)"


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda m: values[m[1]], text)


def _operand(operand: Operand, names: Mapping[Value, str]) -> str:
    if isinstance(operand, tuple):
        return "[" + ", ".join(names[v] for v in operand) + "]"
    return names[operand] if isinstance(operand, Value) else repr(operand)


def _cast(operand: Any, names: Mapping[Value, str], dtype: DType) -> str:
    """Return an operand in a dtype, by the one definition of conversions."""
    if not isinstance(operand, Value):
        return f"np.asarray({typed(operand, dtype)}, {dtype_text(dtype)})"
    name = names[operand]
    spec = operand.spec
    if isinstance(spec, ScalarSpec):
        return f"np.asarray({name}).astype({dtype_text(dtype)})"
    assert isinstance(spec, TensorSpec)
    if spec.dtype is dtype:
        return name
    if spec.dtype.kind == "complex" and dtype.kind not in ("complex", "bool"):
        name = f"{name}.real"
    if spec.dtype.kind in ("float", "complex") and dtype.kind == "int":
        name = f"{name}.astype({_wide(dtype)})" if dtype.itemsize < 4 else name
    return f"{name}.astype({dtype_text(dtype)})"


def _wide(dtype: DType) -> str:
    return "np.int64" if dtype.name == "uint8" else "np.int32"
