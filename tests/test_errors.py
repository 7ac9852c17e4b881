"""Bad input, as a user gives it: what is said, of which class, with the user's line."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import errors

NAN = float("nan")
functional = tg.nn.functional


def matrix() -> tg.Tensor:
    """Return a tensor that fits few others."""
    return tg.ones(2, 3)


def other() -> tg.Tensor:
    """Return one that does not fit `matrix`."""
    return tg.ones(4, 5)


def index(*values: Any) -> tg.Tensor:
    """Return an index tensor, or what is meant to be one."""
    return tg.tensor(list(values))


Program = Callable[[], Any]

# What is done, the class, and what the message says: the operator, what was asked,
# what arrived.
CASES: list[tuple[Program, type[Exception], list[str]]] = [
    # -- shapes
    (lambda: matrix() + other(), errors.ShapeError, ["add", "[2, 3]", "[4, 5]"]),
    (lambda: matrix() @ other(), errors.ShapeError, ["matmul", "3 columns", "4 rows"]),
    (lambda: matrix().reshape(4, 2), errors.ShapeError, ["reshape", "8", "6"]),
    (lambda: matrix().view(5), errors.ShapeError, ["view", "[5]", "6"]),
    (
        lambda: tg.cat([matrix(), other()]),
        errors.ShapeError,
        ["cat", "[2, 3]", "[4, 5]"],
    ),
    (lambda: tg.stack([matrix(), other()]), errors.ShapeError, ["stack", "[4, 5]"]),
    (lambda: matrix().expand(3, 3), errors.ShapeError, ["expand", "2", "3"]),
    (lambda: matrix().permute(0, 0), errors.ShapeError, ["permute", "[0, 0]"]),
    (lambda: tg.zeros(-1), errors.ShapeError, ["full", "-1"]),
    (lambda: tg.linspace(0, 1, -1), errors.ShapeError, ["linspace", "-1"]),
    (lambda: matrix().narrow(0, 1, 9), errors.ShapeError, ["narrow", "9", "2"]),
    (
        lambda: tg.where(matrix() > 0, matrix(), other()),
        errors.ShapeError,
        ["where", "[2, 3]", "[4, 5]"],
    ),
    (
        lambda: functional.linear(matrix(), other()),
        errors.ShapeError,
        ["linear: ", "[2, 3]", "in matmul"],
    ),
    (
        lambda: tg.nn.Linear(4, 2)(matrix()),
        errors.ShapeError,
        ["linear: ", "3 columns", "4 rows", "in matmul"],
    ),
    (
        lambda: functional.conv2d(tg.ones(1, 2, 4, 4), tg.ones(3, 5, 2, 2)),
        errors.ShapeError,
        ["conv2d", "5 input channels", "has 2"],
    ),
    (
        lambda: functional.max_pool2d(tg.ones(1, 1, 2, 2), 5),
        errors.ShapeError,
        ["max_pool2d", "[5, 5]", "[2, 2]"],
    ),
    # -- dtypes
    (lambda: matrix() & matrix(), errors.DTypeError, ["bitwise_and", "float32"]),
    (lambda: tg.softmax(index(1, 2), 0), errors.DTypeError, ["softmax", "int64"]),
    (lambda: tg.mean(index(1, 2)), errors.DTypeError, ["mean", "int64"]),
    (
        lambda: tg.where(matrix(), matrix(), matrix()),
        errors.DTypeError,
        ["where", "bool", "float32"],
    ),
    (
        lambda: tg.tensor([1], requires_grad=True),
        errors.GradientError,
        ["floating", "int64"],
    ),
    (
        lambda: tg.tensor([1], dtype="float99"),
        errors.ArgumentTypeError,
        ["tensor", "dtype", "'float99'"],
    ),
    (
        lambda: matrix().sum(dtype="x"),
        errors.ArgumentTypeError,
        ["sum()", "'dtype'", "tracegrad.float32", "'x'"],
    ),
    (
        lambda: tg.from_numpy(np.array(["x"])),
        errors.DTypeError,
        ["<U1", "float32"],
    ),
    # -- devices
    (lambda: tg.ones(2, device="xyz"), errors.DeviceError, ["'xyz'", "cpu", "meta"]),
    (lambda: matrix().to("xyz"), errors.DeviceError, ["'xyz'", "cpu"]),
    (
        lambda: matrix() + tg.ones(2, 3, device="meta"),
        errors.DeviceError,
        ["add", "meta", "cpu", "tensor.to(device)"],
    ),
    (lambda: tg.ones(1, device="meta").item(), errors.ShapeError, ["item()", "meta"]),
    # -- no tensors
    (lambda: tg.exp("x"), errors.ArgumentTypeError, ["exp", "str"]),
    (lambda: tg.exp(None), errors.ArgumentTypeError, ["exp", "NoneType"]),
    (lambda: tg.exp([1.0]), errors.ArgumentTypeError, ["exp", "list"]),
    (lambda: tg.exp(), errors.ArgumentTypeError, ["exp()", "'input'"]),
    (lambda: tg.exp(matrix(), 1), errors.ArgumentTypeError, ["exp()", "1", "2"]),
    (lambda: tg.exp(matrix(), base=2), errors.ArgumentTypeError, ["exp()", "base"]),
    (lambda: matrix() + None, errors.ArgumentTypeError, ["add", "NoneType"]),
    (lambda: "x" * matrix(), errors.ArgumentTypeError, ["mul", "str"]),
    (lambda: matrix() < "x", errors.ArgumentTypeError, ["lt", "str"]),
    (lambda: matrix() % [1], errors.ArgumentTypeError, ["remainder", "list"]),
    (lambda: matrix() @ 3, errors.ArgumentTypeError, ["matmul", "int"]),
    (lambda: tg.cat([matrix(), 1]), errors.ArgumentTypeError, ["cat()", "int"]),
    (lambda: tg.cat([]), errors.ArgumentError, ["cat"]),
    (
        lambda: tg.add(matrix(), 1, out=3),
        errors.ArgumentTypeError,
        ["add()", "out", "int"],
    ),
    (lambda: tg.tensor("x"), errors.ArgumentTypeError, ["numbers", "str"]),
    (lambda: tg.tensor([1, object()]), errors.ArgumentTypeError, ["numbers", "object"]),
    (lambda: tg.tensor([1, 2**70]), errors.ArgumentValueError, [str(2**70), "int64"]),
    (lambda: tg.tensor([[1, 2], [3]]), errors.ArgumentError, ["equal lengths"]),
    (lambda: tg.zeros("x"), errors.ArgumentTypeError, ["size", "'x'"]),
    (lambda: tg.zeros(2.5), errors.ArgumentTypeError, ["size", "2.5"]),
    (lambda: tg.from_numpy([1]), errors.ArgumentTypeError, ["from_numpy", "list"]),
    (lambda: tg.trace(3), errors.ArgumentTypeError, ["trace", "int"]),
    # -- NaN and other things where an index is wanted
    (lambda: matrix()[NAN], errors.IndexRangeError, ["index", "float"]),
    (lambda: matrix()[1.5], errors.IndexRangeError, ["index", "float"]),
    (lambda: matrix()["x"], errors.ArgumentTypeError, ["index", "str"]),
    (lambda: matrix()[index(NAN)], errors.IndexRangeError, ["index", "float32"]),
    (lambda: matrix().sum(NAN), errors.ArgumentTypeError, ["sum()", "'dim'", "nan"]),
    (lambda: matrix().sum("x"), errors.ArgumentTypeError, ["sum()", "'dim'", "'x'"]),
    (lambda: tg.max(matrix(), NAN), errors.ArgumentTypeError, ["max", "float"]),
    (
        lambda: tg.gather(matrix(), 0, tg.ones(1, 3)),
        errors.IndexRangeError,
        ["gather", "int64", "float32"],
    ),
    (
        lambda: functional.embedding(index(NAN), matrix()),
        errors.IndexRangeError,
        ["embedding", "int64", "float32"],
    ),
    (
        lambda: functional.one_hot(index(NAN), 3),
        errors.DTypeError,
        ["one_hot", "int64", "float32"],
    ),
    (lambda: tg.bernoulli(index(NAN)), errors.DrawError, ["bernoulli", "NaN"]),
    # -- indices out of range
    (lambda: matrix()[5], errors.IndexRangeError, ["index 5", "dimension 0", "size 2"]),
    (lambda: matrix()[-3], errors.IndexRangeError, ["index -3", "size 2"]),
    (lambda: matrix()[0, 0, 0], errors.IndexRangeError, ["3", "2 dimensions"]),
    (lambda: matrix()[index(0, 7)], errors.IndexRangeError, ["index 7", "size 2"]),
    (
        lambda: matrix()[index(True, False, True)],
        errors.IndexRangeError,
        ["mask", "[3]", "[2]"],
    ),
    (lambda: matrix().sum(5), errors.IndexRangeError, ["sum", "5", "2 dimensions"]),
    (lambda: matrix().cumsum(9), errors.IndexRangeError, ["cumsum: ", "9"]),
    (lambda: tg.std(matrix(), 9), errors.IndexRangeError, ["9", "std"]),
    (lambda: matrix().transpose(0, 7), errors.IndexRangeError, ["transpose", "7"]),
    (
        lambda: tg.index_select(matrix(), 0, index(9)),
        errors.IndexRangeError,
        ["index_select", "index 9", "size 2"],
    ),
    (
        lambda: functional.embedding(index(9), matrix()),
        errors.IndexRangeError,
        ["embedding", "index 9", "size 2"],
    ),
    (
        lambda: functional.one_hot(index(9), 3),
        errors.IndexRangeError,
        ["one_hot: ", "index 9", "size 3"],
    ),
    (
        lambda: functional.cross_entropy(matrix(), index(0, 9)),
        errors.IndexRangeError,
        ["cross_entropy: ", "index 9", "size 3"],
    ),
    # -- gradients, numbers, random draws
    (lambda: matrix().item(), errors.ScalarError, ["item()", "6", "[2, 3]"]),
    (lambda: bool(matrix()), errors.ScalarError, ["6", "any()"]),
    (lambda: index(1) // 0, errors.DivisionError, ["floor_divide", "zero"]),
    (
        lambda: matrix().sum().backward(),
        errors.GradientError,
        ["does not require grad"],
    ),
    (
        lambda: (matrix().requires_grad_() * 1).backward(),
        errors.GradientError,
        ["one element", "[2, 3]"],
    ),
    (
        lambda: matrix().requires_grad_().numpy(),
        errors.GradientError,
        ["numpy()", "detach()"],
    ),
    (
        lambda: matrix().requires_grad_().add_(1),
        errors.InplaceError,
        ["add_", "leaf", "no_grad"],
    ),
    (lambda: tg.randint(5, 3, (2,)), errors.DrawError, ["randint", "[5, 3)"]),
    (
        lambda: functional.dropout(matrix(), 2.0),
        errors.ArgumentError,
        ["dropout", "2.0"],
    ),
    # -- settings and texts
    (lambda: setattr(tg.config, "zzz", 1), errors.ConfigError, ["'zzz'", "target"]),
    (lambda: tg.trace(abs, target="zzz"), errors.ConfigError, ["target", "'zzz'"]),
    (lambda: tg.ir.parse("graph f("), errors.ParseError, ["line 1", "column 9"]),
]


@pytest.mark.parametrize(
    ("program", "kind", "said"), CASES, ids=lambda value: getattr(value, "__name__", "")
)
def test_said_with_the_users_line(
    program: Program, kind: type[errors.TracegradError], said: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        program()
    error = caught.value
    assert [part for part in said if part not in str(error)] == []
    first = inspect.unwrap(program).__code__.co_firstlineno
    assert error.location is not None
    assert error.location.file == "test_errors.py"
    assert first <= error.location.line <= first + 3
    assert error.__notes__ == [f"called at {error.location}"]


# In-place operations that fail.
WRITES: list[Callable[[tg.Tensor], Any]] = [
    lambda a: a.__setitem__(index(0, 9), 1.0),
    lambda a: a.__setitem__(index(0, 1), tg.ones(5)),
    lambda a: a.__setitem__(0, "x"),
    lambda a: a.__setitem__(0, 1j),
    lambda a: a.index_put_((index(0, 9),), tg.tensor(1.0)),
    lambda a: a.scatter_(0, tg.tensor([[0, 1], [9, 0]]), 1.0),
    lambda a: a.scatter_add_(0, tg.tensor([[0, 1], [9, 0]]), tg.ones(2, 2)),
    lambda a: a.index_add_(0, index(0, 9), tg.ones(2, 2)),
    lambda a: a.index_copy_(0, index(0, 9), tg.ones(2, 2)),
    lambda a: a.put_(index(0, 99), tg.ones(2)),
    lambda a: a.copy_(tg.ones(5)),
    lambda a: a.add_(tg.ones(5)),
    lambda a: a.add_(1j),
    lambda a: a.fill_(tg.ones(3)),
    lambda a: a.masked_fill_(tg.ones(4).bool(), 1.0),
    lambda a: a.clamp_(tg.ones(7)),
    lambda a: a.bernoulli_(2.0),
    lambda a: a.normal_(0, -1),
    lambda a: a.__iadd__("x"),
    lambda a: tg.add(tg.ones(3, 2), 1j, out=a),
]


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_half_written(write: Callable[[tg.Tensor], Any]) -> None:
    target = tg.zeros(3, 2)
    with pytest.raises(errors.TracegradError):
        write(target)
    assert target.tolist() == [[0.0, 0.0]] * 3
    assert target._version == 0


# -- a graph's text with any line broken ----------------------------------------

TEXT = """graph step(%x: f32[2, 3] grad, %w: f32[3] grad, %s: state<mt19937>) {
  const %c: f32[3] = [1.0, 2.0, -0.5]
  %y: f32[2, 3] = mul(%x, %w)                                        # m.py:1
  %a: f32[2, 3] = add(%y, %c)                                        # m.py:2
  %t: f32[] = sum(%a, dim=[0, 1], keepdim=False, dtype=None)         # m.py:3
  check %t == 4.5                                                    # m.py:4
  write %x <- %a bumps 1                                             # m.py:5
  bind %w.grad <- None                                               # m.py:6
  return %t
}"""


def broken(line: str) -> list[str]:
    """Return a line's ends cut off, and characters doubled or taken out."""
    text = line.split("#")[0].rstrip()
    places = range(len(text) - len(text.lstrip()), len(text))
    return [
        *(text[:place] for place in places),
        *(text[:place] + text[place + 1 :] for place in places),
        *(text[:place] + "@" + text[place:] for place in places),
    ]


@pytest.mark.parametrize("number", range(len(TEXT.splitlines())))
def test_a_broken_line_is_refused_or_read_as_it_stands(number: int) -> None:
    lines = TEXT.splitlines()
    refused = 0
    for text in broken(lines[number]):
        changed = [*lines[:number], text, *lines[number + 1 :]]
        try:
            tg.ir.verify(tg.ir.parse("\n".join(changed)))
        except (errors.ParseError, errors.VerifyError):
            refused += 1
    assert refused > 0


def test_the_whole_text_is_a_graph() -> None:
    tg.ir.verify(tg.ir.parse(TEXT))


@pytest.mark.parametrize("number", range(len(TEXT.splitlines()) - 2))
def test_a_line_that_is_missing_is_noticed(number: int) -> None:
    lines = TEXT.splitlines()
    optional = ("  check", "  write", "  bind")
    if lines[number].startswith(optional):
        return
    with pytest.raises((errors.ParseError, errors.VerifyError)):
        tg.ir.verify(tg.ir.parse("\n".join([*lines[:number], *lines[number + 1 :]])))


# -- functions without source, and others that can't be captured ------------------


def test_a_function_without_source_runs_eagerly_and_says_so() -> None:
    names: dict[str, Any] = {}
    exec("def double(x):\n    return x * 2", names)
    traced = tg.trace(names["double"])
    assert traced(tg.tensor([2.0])).tolist() == [4.0]
    assert "double has no source" in str(traced.explain())


def test_a_function_without_source_is_an_error_where_strict() -> None:
    names: dict[str, Any] = {}
    exec("def double(x):\n    return x * 2", names)
    with pytest.raises(errors.CaptureError, match="double has no source"):
        tg.trace(names["double"], strict=True)(tg.tensor([2.0]))


def test_an_error_in_a_traced_function_is_the_eager_one() -> None:
    def wrong(x: tg.Tensor) -> tg.Tensor:
        return x @ other()

    traced = tg.trace(wrong)
    with pytest.raises(errors.ShapeError, match="matmul") as caught:
        traced(matrix())
    assert caught.value.location.line == wrong.__code__.co_firstlineno + 1
