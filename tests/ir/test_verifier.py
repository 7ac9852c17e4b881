"""Rules of the IR that no text can break, because the parser refuses it before."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tracegrad.ir as ir
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dtypes import float32, float64
from tracegrad.errors import VerifyError
from tracegrad.ir.graph import Constant, Graph, Node, Value, WriteStorage
from tracegrad.ir.verifier import same_layout
from tracegrad.spec import ScalarSpec, TensorSpec

SPEC = TensorSpec(float32, (3,))


def graph() -> Graph:
    return ir.parse("""
    graph f(%x: f32[3]) {
      const %c: f32[3] = [1.0, 2.0, 3.0]
      %y: f32[3] = add(%x, %c)
      %z: f32[3] = exp(%y)
      return %z
    }""")


def reversed_nodes(g: Graph) -> Graph:
    return replace(g, nodes=g.nodes[::-1])


def another_value_of_the_name(g: Graph) -> Graph:
    return replace(g, outputs=(Value("z", SPEC),))


def output_that_is_a_number(g: Graph) -> Graph:
    return replace(g, outputs=(2.5,))  # type: ignore[arg-type]


def constant_of_another_dtype(g: Graph) -> Graph:
    constant = Constant(g.constants[0].value, np.zeros(3))
    return replace(g, constants=(constant,))


def constant_of_another_shape(g: Graph) -> Graph:
    constant = Constant(g.constants[0].value, np.zeros(4, np.float32))
    return replace(g, constants=(constant,))


def constant_that_is_no_tensor(g: Graph) -> Graph:
    constant = Constant(Value("c", ScalarSpec("float")), 2.5)
    return replace(g, constants=(constant,))


def with_node(g: Graph, inputs: tuple, attributes: tuple) -> Graph:
    node = Node(OPERATORS["sum"], inputs, attributes, (Value("s", SPEC),))
    return replace(g, nodes=(*g.nodes, node))


def unhashable_attribute(g: Graph) -> Graph:
    attributes = (("dim", [0]), ("keepdim", False), ("dtype", None))
    return with_node(g, g.inputs, attributes)


def unprintable_attribute(g: Graph) -> Graph:
    attributes = (("dim", (object(),)), ("keepdim", False), ("dtype", None))
    return with_node(g, g.inputs, attributes)


def attributes_in_another_order(g: Graph) -> Graph:
    attributes = (("keepdim", False), ("dim", (0,)), ("dtype", None))
    return with_node(g, g.inputs, attributes)


def write_to_a_stranger(g: Graph) -> Graph:
    return replace(g, writes=(WriteStorage(Value("x", SPEC), g.outputs[0]),))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (reversed_nodes, "%y is used as operand 'input' and not defined before"),
        (another_value_of_the_name, "%z is used as an output and not defined before"),
        (output_that_is_a_number, "an output must be a value, not 2.5"),
        (constant_of_another_dtype, "constant %c: f32[3] holds an array f64[3]"),
        (constant_of_another_shape, "constant %c: f32[3] holds an array f32[4]"),
        (constant_that_is_no_tensor, "constant %c must be a tensor, not float"),
        (unhashable_attribute, "'dim' must be hashable and printable, not a list"),
        (unprintable_attribute, "'dim' must be hashable and printable, not a tuple"),
        (attributes_in_another_order, "sum has the attributes ['dim', 'keepdim', "),
        (write_to_a_stranger, "the target %x of a write must be an input"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_sentence(spoil: Callable[[Graph], Graph], sentence: str) -> None:
    whole = graph()
    ir.verify(whole)
    with pytest.raises(VerifyError) as caught:
        ir.verify(spoil(whole))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "a", "b", "same"),
    [
        ((2, 3), (3, 1), (3, 1), True),
        ((2, 3), (3, 1), (1, 2), False),
        ((2, 1), (1, 1), (1, 7), True),
        ((2, 0), (1, 1), (5, 7), True),
        ((), (), (), True),
    ],
)
def test_same_layout(shape: tuple, a: tuple, b: tuple, same: bool) -> None:
    first, second = TensorSpec(float32, shape, a), TensorSpec(float32, shape, b)
    assert same_layout(first, second) is same
    assert not same_layout(first, second.with_dtype(float64))
