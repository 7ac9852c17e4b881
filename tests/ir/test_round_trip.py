"""`parse(print(g)) == g`, for random graphs and for what is awkward to write."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tracegrad.ir as ir
from tests.support.random_graphs import random_graph, random_graphs
from tests.support.round_trip import check_round_trip
from tracegrad.device import Device
from tracegrad.dispatch.operator import OPERATORS
from tracegrad.dtypes import ALL, DType, bfloat16, complex64, float16, float32
from tracegrad.errors import VerifyError
from tracegrad.ir.builder import GraphBuilder
from tracegrad.ir.graph import Graph, Node, Value
from tracegrad.ir.literal_parser import parse_literal
from tracegrad.ir.printer import literal
from tracegrad.ir.tokens import Cursor
from tracegrad.location import Location
from tracegrad.sizes import SymbolicSize
from tracegrad.spec import TensorSpec

BATCH = SymbolicSize.named("B")


def test_random_graphs(seed: int) -> None:
    for graph in random_graphs(seed, count=80):
        check_round_trip(graph)


def test_a_large_random_graph(seed: int) -> None:
    graph = random_graph(seed, 300)
    assert len(graph.nodes) > 250
    check_round_trip(graph)


def no_graph() -> Graph:
    raise AssertionError("there is no sub-graph in these")


def read_back(text: str) -> object:
    return parse_literal(Cursor(text), no_graph)


floats = st.integers(0, 2**64 - 1).map(
    lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]
)
literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | floats
    | st.builds(complex, floats, floats)
    | st.text()
    | st.sampled_from(ALL)
    | st.sampled_from(sorted(OPERATORS.values(), key=lambda op: op.name))
    | st.sampled_from([Device("cpu"), Device("cuda", 0), Device("meta")])
    | st.builds(Device, st.text(min_size=1), st.none() | st.integers(0, 9))
    | st.sampled_from([BATCH, 2 * BATCH + 1, BATCH * BATCH + -3, (BATCH + 1) // 2]),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=8,
)


@given(literals)
def test_literals_keep_type_and_bits(value: object) -> None:
    text = literal(value)
    back = read_back(text)
    assert type(back) is type(value)
    assert literal(back) == text
    assert "\n" not in text


def test_literals_of_different_bits_differ() -> None:
    nan = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
    different = [1, 1.0, True, 1 + 0j, "1", 0.0, -0.0, float("nan"), nan, -float("inf")]
    texts = [literal(value) for value in different]
    assert len(set(texts)) == len(texts)
    assert struct.pack("<d", read_back(literal(nan))) == struct.pack("<d", nan)


def test_paths() -> None:
    steps = (
        (OPERATORS["slice"], (("dim", 0), ("start", 1), ("stop", 3), ("step", 1)), 0),
        (OPERATORS["select"], (("dim", 0), ("index", 1)), 2),
    )
    text = literal(steps)
    assert text == (
        "[slice(dim=0, start=1, stop=3, step=1), select(dim=0, index=1)[2]]"
    )
    assert read_back(text) == steps


def test_unprintable_attribute_is_refused() -> None:
    with pytest.raises(VerifyError, match="can't be of type object"):
        literal(object())


# -- constants -----------------------------------------------------------------


def constant_graph(array: np.ndarray, dtype: DType) -> Graph:
    builder = GraphBuilder("g")
    strides = tuple(s // array.itemsize for s in array.strides)
    spec = TensorSpec(dtype, array.shape, strides)
    return builder.finish([builder.constant("c", spec, array)])


NUMPY_DTYPES = [d for d in ALL if d is not bfloat16]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda d: d.name)
@pytest.mark.parametrize("count", [0, 1, 7, 16, 17, 100])
def test_constants_keep_their_bits(dtype: DType, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    if dtype.kind == "bool":
        array = rng.integers(0, 2, count).astype(bool)
    else:
        raw = rng.integers(0, 256, count * dtype.itemsize, dtype=np.uint8)
        array = raw.view(dtype.numpy)
    graph = constant_graph(array, dtype)
    check_round_trip(graph)
    back = ir.parse(str(graph)).constants[0].array
    assert back.dtype == array.dtype
    assert back.tobytes() == array.tobytes()


def test_every_half_and_many_floats_are_shortest_and_exact(seed: int) -> None:
    for dtype, kind in ((float16, np.uint16), (float32, np.uint32)):
        rng = np.random.default_rng(seed)
        bits = rng.integers(0, 2 ** (8 * dtype.itemsize), 16 * 60, dtype=kind)
        for part in bits.reshape(-1, 16):
            array = part.view(dtype.numpy)
            back = ir.parse(str(constant_graph(array, dtype))).constants[0].array
            assert back.tobytes() == array.tobytes()


def test_constant_text() -> None:
    array = np.array([0.1, -0.0, np.inf, 1e-45], np.float32)
    array = np.append(array, np.array([0x7FC00001, 0xFFC00000], np.uint32).view("f4"))
    line = str(constant_graph(array, float32)).splitlines()[1]
    assert line == (
        "  const %c: f32[6] = [0.1, -0.0, inf, 1e-45, nan(0x7fc00001), nan(0xffc00000)]"
    )
    array = np.array([complex(1.5, -0.0)], np.complex64)
    assert "= [complex(1.5, -0.0)]" in str(constant_graph(array, complex64))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6.0)[::-2],
        np.arange(60.0).reshape(3, 4, 5)[:, ::2, 1:],
        np.broadcast_to(np.arange(3.0), (4, 3)),
        np.zeros((0, 3)),
        np.array(2.5),
    ],
    ids=["transposed", "reversed", "gaps", "broadcast", "empty", "0-dim"],
)
def test_constants_keep_their_layout(array: np.ndarray) -> None:
    graph = constant_graph(array, DTYPE_F64)
    check_round_trip(graph)
    back = ir.parse(str(graph)).constants[0].array
    assert back.strides == array.strides or array.size == 0
    np.testing.assert_array_equal(back, array)


DTYPE_F64 = next(d for d in ALL if d.code == "f64")

# -- users' text ---------------------------------------------------------------

EVIL = [
    "a b",
    "it's",
    'say "hi"',
    "line\nline",
    "# no",
    "ü",
    "\\",
    "}",
    "\u2028",
    "\0",
    "100%",
    "a:3",
    "-",
    "",
]


@pytest.mark.parametrize("text", EVIL)
def test_users_text_breaks_nothing(text: str) -> None:
    x = Value("x", TensorSpec(float32, (3,)))
    y = Value("y", x.spec)
    location = Location(text + ".py", 7)
    node = Node(OPERATORS["exp"], (x,), (), (y,), location, text)
    graph = Graph(text, (x,), (node,), (y,))
    assert len(str(graph).splitlines()) == 4
    check_round_trip(graph)


def test_locations_stand_in_a_column() -> None:
    text = """\
graph f(%x: f32[3]) {
  %y: f32[3] = exp(%x)          # model.py:7
  %zz: f32[3] = add(%y, 2.5)    # model.py:8 gelu
  %w: f32[3] = mul(%zz, %y)     # - gelu
  return %w
}"""
    printed = str(ir.parse(text)).splitlines()
    assert {line.index("#") for line in printed if "#" in line} == {30}


def test_many_inputs_stand_below_each_other() -> None:
    builder = GraphBuilder("step")
    for i in range(9):
        builder.input(f"weight{i}", TensorSpec(float32, (10, 10)))
    graph = builder.finish([])
    assert str(graph).splitlines()[:2] == ["graph step(", "    %weight0: f32[10, 10],"]
    check_round_trip(graph)


def test_graphs_are_equal_by_text() -> None:
    text = "graph f(%x: f32[3]) {\n  %y: f32[3] = add(%x, 1.0)\n  return %y\n}"
    assert ir.parse(text) == ir.parse(text)
    assert len({ir.parse(text), ir.parse(text)}) == 1
    for other in ("1", "True", "-1.0", "1.5"):
        assert ir.parse(text) != ir.parse(text.replace("1.0", other))
    assert ir.parse(text) != ir.parse(text.replace("add(%x, 1.0)", "add(1.0, %x)"))
    assert ir.parse(text) != text


def test_random_graphs_are_varied(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [n for _ in range(60) for n in random_graph(rng.randrange(10**6), 25).nodes]
    families = {node.operator.family for node in nodes}
    assert {"pointwise", "reduction", "view", "contraction", "random"} <= families
    assert any(len(node.results) > 1 for node in nodes)
