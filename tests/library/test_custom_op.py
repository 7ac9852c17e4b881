"""Custom operators: eager, differentiated, batched, captured; what they may not do."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    GradientError,
    InplaceError,
    OpCheckError,
)
from tracegrad.func import grad, vmap
from tracegrad.ir.interpreter import interpret
from tracegrad.ir.parser import parse
from tracegrad.library import custom_op, infer_schema, opcheck
from tracegrad.testing import assert_close

Tensor = tg.Tensor


@custom_op("tests::cube", mutates_args=())
def cube(x: Tensor, by: float = 1.0) -> Tensor:
    """Cube by NumPy."""
    return tg.from_numpy(np.power(x.numpy(), 3) * by)


@cube.register_fake
def _(x: Any, by: float = 1.0) -> Any:
    return tg.empty_like(x)


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.by = inputs[1]


def cube_backward(ctx: Any, ct: Any) -> Any:
    (x,) = ctx.saved_tensors
    return ct * 3 * x * x * ctx.by, None


cube.register_autograd(cube_backward, setup_context=keep)


@custom_op("tests::joined", mutates_args=())
def joined(xs: list[Tensor], y: Tensor | None) -> tuple[Tensor, Tensor]:
    """Exp of a sum, and the sum times a factor."""
    total = sum(xs[1:], xs[0])
    return total.exp(), total.clone() if y is None else total * y


@joined.register_fake
def _(xs: Any, y: Any) -> Any:
    return tg.empty_like(xs[0]), tg.empty_like(xs[0])


def keep_joined(ctx: Any, inputs: Any, output: Any) -> None:
    xs, y = inputs
    ctx.count = len(xs)
    ctx.save_for_backward(output[0], y, *xs)


def joined_backward(ctx: Any, ct: Any, other: Any) -> Any:
    out, y, *xs = ctx.saved_tensors
    if y is None:
        return [ct * out + other] * ctx.count, None
    return [ct * out + other * y] * ctx.count, other * sum(xs[1:], xs[0])


joined.register_autograd(joined_backward, setup_context=keep_joined)


@custom_op("tests::parts", mutates_args=())
def parts(x: Tensor, n: int) -> list[Tensor]:
    """Every n-th element, from each start."""
    return [x[i::n].clone() for i in range(n)]


@parts.register_fake
def _(x: Any, n: int) -> Any:
    return [tg.empty_like(x[i::n]) for i in range(n)]


def keep_parts(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.shape = inputs[0].shape


def parts_backward(ctx: Any, cts: Any) -> Any:
    return tg.stack(cts, 1).reshape(ctx.shape), None


parts.register_autograd(parts_backward, setup_context=keep_parts)


@custom_op("tests::bump", mutates_args=("p",))
def bump(p: Tensor, by: float = 1.0) -> Tensor:
    """Add to p; give its sum."""
    p += by
    return p.sum()


@bump.register_fake
def _(p: Any, by: float = 1.0) -> Any:
    return p.new_empty(())


@custom_op("tests::undeclared", mutates_args=())
def undeclared(p: Tensor) -> None:
    """Write what is not declared."""
    p.add_(1)


@custom_op("tests::hidden", mutates_args=())
def hidden(p: Tensor) -> None:
    """Write what is not declared, behind our back."""
    p.numpy()[...] = 3


@custom_op("tests::alias", mutates_args=())
def alias(p: Tensor) -> Tensor:
    """Give a view back."""
    return p[1:]


def sample() -> Any:
    return tg.tensor([0.5, 2.0], requires_grad=True)


SAMPLES = [
    (cube, (sample(), 2.0)),
    (joined, ([sample(), sample()], sample())),
    (joined, ([sample(), sample()], None)),
    (parts, (tg.arange(4.0).requires_grad_(), 2)),
    (bump, (tg.zeros(3),)),
]


@pytest.mark.parametrize(("op", "args"), SAMPLES)
def test_opcheck_is_content(op: Any, args: Any) -> None:
    assert set(opcheck(op, args).values()) == {"SUCCESS"}


def test_gradients_to_second_order() -> None:
    x = sample()
    (first,) = tg.autograd.grad(cube(x).sum(), x, create_graph=True)
    assert_close(first, 3 * x * x)
    (second,) = tg.autograd.grad(first.sum(), x)
    assert_close(second, 6 * x.detach())


def test_in_functional_transforms() -> None:
    x = sample().detach()

    def of(y: Any) -> Any:
        return cube(y).sum()

    assert_close(grad(of)(x), 3 * x * x)
    assert_close(grad(lambda y: grad(of)(y).sum())(x), 6 * x)
    batch = tg.stack([x, 2 * x])
    assert_close(vmap(cube)(batch), batch**3)
    assert_close(vmap(grad(of))(batch), 3 * batch * batch)


def test_its_own_rule_for_a_batch() -> None:
    seen = []

    @custom_op("tests::negated", mutates_args=())
    def negated(x: Tensor) -> Tensor:
        return -x

    @negated.register_vmap
    def _(info: Any, in_dims: Any, x: Any) -> Any:
        seen.append((info.batch_size, in_dims))
        return -x, in_dims[0]

    x = tg.arange(6.0).reshape(2, 3)
    assert_close(vmap(negated, in_dims=1)(x), -x.T)
    assert seen == [(3, (0,))]


def test_captured_as_one_node_that_parses_and_runs() -> None:
    captured = tg.trace(lambda x: cube(x, 2.0) * 2)
    x = sample()
    for _ in range(2):
        x.grad = None
        captured(x).sum().backward()
        assert_close(x.grad, 12 * x.detach() ** 2)
    graph = captured.graph
    assert [n.operator.name for n in graph.nodes] == ["tests::cube", "mul"]
    assert parse(str(graph)) == graph
    (result,) = interpret(graph, x)
    assert_close(result, captured(x))
    assert "kernel_of('tests::cube')" in captured.source


def test_interpreted_it_has_its_derivative() -> None:
    a, b, y = sample(), sample(), sample()
    captured = tg.trace(lambda a, b, y: sum(joined([a, b], y)))
    expected = tg.autograd.grad(captured(a, b, y).sum(), (a, b, y))
    (result,) = interpret(captured.graph, a, b, y)
    found = tg.autograd.grad(result.sum(), (a, b, y), create_graph=True)
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)
    second = tg.autograd.grad(found[0].sum(), (a, b))
    assert_close(second[1], (a + b).exp().detach() + 0)


def test_a_backward_inside_a_capture() -> None:
    x = sample()

    def step(x: Any) -> Any:
        loss = cube(x).sum()
        loss.backward()
        return loss

    captured = tg.trace(step)
    for _ in range(2):
        x.grad = None
        captured(x)
        assert_close(x.grad, 3 * x.detach() ** 2)
    assert captured.graph is not None


def test_writes_are_seen() -> None:
    p = tg.zeros(3)
    version = p._version
    assert float(bump(p, 2.0)) == 6
    assert p.tolist() == [2, 2, 2]
    assert p._version == version + 1
    captured = tg.trace(lambda p: bump(p) + p.sum())
    for wanted in (3, 4):
        version = p._version
        assert float(captured(p)) == 6 * wanted
        assert p.tolist() == [wanted] * 3
        assert p._version == version + 1
    assert "write %p <-" in str(captured.graph)


def test_writes_that_overlap_run_eagerly() -> None:
    @custom_op("tests::both", mutates_args=("a", "b"))
    def both(a: Tensor, b: Tensor) -> None:
        a.add_(1)
        b.mul_(2)

    captured = tg.trace(lambda x: both(x, x))
    for function in (lambda x: both(x, x), captured, captured):
        x = tg.ones(2)
        function(x)
        assert x.tolist() == [4, 4]


def test_a_saved_tensor_that_an_operator_writes() -> None:
    x = sample()
    y = x * 1
    z = y * y
    with tg.no_grad():
        bump(y)
    with pytest.raises(GradientError, match="written in place"):
        z.sum().backward()


def test_writes_under_gradient() -> None:
    with pytest.raises(InplaceError, match="leaf"):
        bump(sample())
    y = sample() * 1
    bump(y)
    with pytest.raises(GradientError, match="tests::bump"):
        y.sum().backward()
    with pytest.raises(GradientError, match="writes its arguments"):
        bump.register_autograd(lambda ctx, ct: ct)


def test_what_it_may_not_do() -> None:
    p = tg.zeros(3)
    with pytest.raises(InplaceError, match="'p'"):
        undeclared(p)
    with pytest.raises(InplaceError, match="memory of their own"):
        alias(p)
    with pytest.raises(OpCheckError, match=r"test_schema.*'p'"):
        opcheck(hidden, (p,))


def test_opcheck_finds_a_wrong_fake_and_a_wrong_derivative() -> None:
    @custom_op("tests::wrong", mutates_args=())
    def wrong(x: Tensor) -> Tensor:
        return x * 3

    found = opcheck(wrong, (sample(),), raise_exception=False)
    assert isinstance(found["test_autograd_registration"], OpCheckError)
    wrong.register_fake(lambda x: x.new_empty((7,)))
    wrong.register_autograd(lambda ctx, ct: ct * 2)
    found = opcheck(wrong, (sample(),), raise_exception=False)
    assert "shape" in str(found["test_faketensor"])
    assert isinstance(found["test_gradients"], Exception)
    assert found["test_schema"] == "SUCCESS"


def test_without_a_fake_a_capture_runs_eagerly_and_says_so() -> None:
    @custom_op("tests::unfaked", mutates_args=())
    def unfaked(x: Tensor) -> Tensor:
        return x + 1

    captured = tg.trace(lambda x: unfaked(x) * 2)
    assert captured(tg.ones(2)).tolist() == [4, 4]
    assert "tests::unfaked has no fake" in str(captured.explain())
    with pytest.raises(NotImplementedError, match="register_fake"):
        unfaked(tg.empty(2, device="meta"))


def test_without_a_derivative_backward_says_so() -> None:
    @custom_op("tests::constant", mutates_args=())
    def constant(x: Tensor) -> Tensor:
        return x + 1

    y = constant(sample())
    assert y.requires_grad
    with pytest.raises(GradientError, match="register_autograd"):
        y.sum().backward()


def test_on_the_meta_device() -> None:
    found = cube(tg.empty(3, 2, device="meta"))
    assert found.is_meta
    assert found.shape == (3, 2)


def test_kernels_by_device() -> None:
    @custom_op("tests::only_cuda", mutates_args=(), device_types="cuda")
    def only_cuda(x: Tensor) -> Tensor:
        return x + 1

    with pytest.raises(RuntimeError, match="'cpu'"):
        only_cuda(tg.ones(1))
    only_cuda.register_kernel("cpu")(lambda x: x + 2)
    assert only_cuda(tg.ones(1)).item() == 3
    with only_cuda.set_kernel_enabled("cpu", enabled=False):
        assert only_cuda(tg.ones(1)).item() == 2


def test_copied_and_pickled_it_is_itself() -> None:
    assert copy.deepcopy({"op": cube})["op"] is cube
    assert pickle.loads(pickle.dumps(cube)) is cube


def test_arguments_are_checked() -> None:
    with pytest.raises(ArgumentTypeError, match="'x' must be Tensor"):
        cube(3)
    with pytest.raises(ArgumentTypeError, match="missing"):
        cube()
    with pytest.raises(ArgumentError, match="namespace::name"):
        custom_op("cube", mutates_args=())


def test_schemas() -> None:
    assert bump.schema.text == "(Tensor(a0!) p, float by=1.0) -> Tensor"
    assert joined.schema.text == "(Tensor[] xs, Tensor? y) -> (Tensor, Tensor)"

    def unannotated(x):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(ArgumentError, match="type annotation"):
        infer_schema(unannotated, mutates_args=())
    with pytest.raises(ArgumentError, match="does not take"):
        infer_schema(undeclared._init_fn, mutates_args=("q",))
    with pytest.raises(ArgumentError, match="mutates_args"):
        custom_op(
            "tests::odd", lambda x: None, mutates_args=(), schema="(Tensor(a!) x) -> ()"
        )


def test_found_by_name() -> None:
    assert tg.library.ops.tests.cube is cube
    with pytest.raises(AttributeError, match="tests::absent"):
        _ = tg.library.ops.tests.absent
    with pytest.raises(ArgumentError, match="import the module"):
        tg.library.register_fake("tests::absent", len)


def test_redefined_it_is_the_new_one() -> None:
    first = custom_op("tests::again", lambda x: x + 1, mutates_args=(), schema=SIMPLE)
    captured = tg.trace(lambda x: tg.library.ops.tests.again(x))
    assert captured(tg.ones(1)).item() == 2
    second = custom_op("tests::again", lambda x: x + 2, mutates_args=(), schema=SIMPLE)
    assert first is not second
    assert captured(tg.ones(1)).item() == 3


SIMPLE = "(Tensor x) -> Tensor"


def test_kernels_and_derivatives_of_later_reach_captured_calls() -> None:
    op = custom_op("tests::later", lambda x: x + 1, mutates_args=(), schema=SIMPLE)
    op.register_fake(tg.empty_like)
    captured = tg.trace(lambda x: op(x))
    assert [captured(tg.ones(1)).item() for _ in range(2)] == [2, 2]
    op.register_kernel("cpu")(lambda x: x + 5)
    assert captured(tg.ones(1)).item() == 6
    x = tg.ones(1, requires_grad=True)
    with pytest.raises(GradientError, match="register_autograd"):
        captured(x).backward()
    op.register_autograd(lambda ctx, ct: ct * 7)
    captured(x).backward()
    assert x.grad.item() == 7


def test_defined_by_a_schema() -> None:
    op = tg.library.define("tests::scaled", "(Tensor x, *, float by=2.0) -> Tensor")
    tg.library.impl("tests::scaled", "cpu", lambda x, *, by: x * by)
    assert op(tg.ones(1), by=3.0).item() == 3
    assert op(tg.ones(1)).item() == 2
