"""The reference interpreter: a graph's meaning."""

import numpy as np
import pytest

import tracegrad as tg
import tracegrad.ir as ir
from tests.support.random_graphs import random_graphs, random_inputs
from tracegrad.dispatch.tensor import Tensor, spec_of
from tracegrad.errors import ArgumentError, TracegradError
from tracegrad.ir.interpreter import interpret_all
from tracegrad.ir.verifier import same_layout


def test_it_computes() -> None:
    graph = ir.parse("""
    graph f(%x: f32[2], %lr: float) {
      const %c: f32[2] = [1.0, 2.0]
      %y: f32[2] = add(%x, %c)
      %z: f32[2] = mul(%y, %lr)
      return %z, %x
    }""")
    x = tg.tensor([1.0, 1.0])
    z, same = ir.interpret(graph, x, 0.5)
    assert z.tolist() == [1.0, 1.5]
    assert same is x


def test_a_generator_is_not_advanced() -> None:
    graph = ir.parse("""
    graph f(%rng: state<mt19937>) {
      %a: f32[3], %s: state<mt19937> = any_integers(%rng, shape=[3], dtype=f32)
      return %a
    }""")
    generator = tg.Generator().manual_seed(7)
    (first,) = ir.interpret(graph, generator)
    (again,) = ir.interpret(graph, generator)
    np.testing.assert_array_equal(first.numpy(), again.numpy())


def test_wrong_number_of_inputs() -> None:
    graph = ir.parse("graph f(%x: f32[2]) {\n  return %x\n}")
    with pytest.raises(ArgumentError, match="graph f takes 1 inputs, not 0"):
        ir.interpret(graph)


def test_values_have_the_layout_that_abstract_eval_says(seed: int) -> None:
    for graph in random_graphs(seed, count=80):
        try:
            found = interpret_all(graph, random_inputs(graph, seed))
        except TracegradError:
            continue
        for node in graph.nodes:
            for value in node.results:
                tensor = found[value]
                if isinstance(tensor, Tensor):
                    assert same_layout(spec_of(tensor), value.spec), str(node)
