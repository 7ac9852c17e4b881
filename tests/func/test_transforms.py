"""Functional transforms: nesting, randomness, errors, Functions, memory."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.autograd import Function
from tracegrad.errors import (
    ArgumentError,
    GradientError,
    InplaceError,
    NotSupportedError,
    ScalarError,
    TransformError,
)
from tracegrad.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    vjp,
    vmap,
)

BATCH = tg.arange(6.0, dtype=tg.float64).reshape(2, 3) + 1


def function(x: Any) -> Any:
    return (x.exp() * x[0] + x.sin()).sum()


def central(f: Any, x: Any) -> Any:
    """Return the gradient by differences."""
    found = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        step = np.zeros(x.shape)
        step[place] = 1e-6
        ahead, behind = f(x + tg.tensor(step)), f(x - tg.tensor(step))
        found[place] = (ahead - behind).item() / 2e-6
    return found


# -- 103: nesting ----------------------------------------------------------------------


def test_103_no_perturbation_confusion() -> None:
    one = tg.tensor(1.0)
    assert grad(lambda x: x * grad(lambda y: x + y)(one))(one).item() == 1.0

    def forward(x: Any) -> Any:
        return x * jvp(lambda y: x + y, (one,), (one,))[1]

    assert jvp(forward, (one,), (one,))[1].item() == 1.0
    assert grad(forward)(one).item() == 1.0
    assert (
        jvp(lambda x: x * grad(lambda y: x + y)(one), (one,), (one,))[1].item() == 1.0
    )


def test_103_a_captured_tensor_is_a_constant_of_its_level() -> None:
    x = tg.tensor(3.0)
    assert jvp(lambda y: y * x, (x,), (tg.tensor(1.0),))[1].item() == 3.0
    assert grad(lambda y: y * x)(x).item() == 3.0
    assert grad(lambda y: grad(lambda z: z * y * x)(y))(x).item() == 3.0


def test_103_captured_tensors_stay_on_the_eager_tape() -> None:
    w = tg.tensor([1.0, 2.0, 3.0], dtype=tg.float64, requires_grad=True)
    found = grad(lambda x: (x * x * w).sum())(BATCH[0])
    assert found.requires_grad
    found.sum().backward()
    assert w.grad.tolist() == [2.0, 4.0, 6.0]
    plain = grad(lambda x: (x * x).sum())(BATCH[0])
    assert not plain.requires_grad


@pytest.mark.parametrize(
    "second",
    [
        lambda f: jacfwd(grad(f)),
        lambda f: jacrev(grad(f)),
        lambda f: jacrev(jacfwd(f)),
        lambda f: jacfwd(jacfwd(f)),
        hessian,
    ],
)
def test_every_order_of_modes_gives_the_second_derivatives(second: Any) -> None:
    x = BATCH[0] / 4
    expected = np.stack(
        [central(lambda p, i=i: grad(function)(p)[i], x) for i in range(3)]
    )
    np.testing.assert_allclose(second(function)(x).numpy(), expected, 1e-6, 1e-7)
    np.testing.assert_allclose(
        vmap(second(function))(x[None])[0].numpy(), expected, 1e-6, 1e-7
    )


def test_third_derivatives() -> None:
    x = tg.tensor(2.0)
    third = jvp(grad(grad(lambda v: v**5)), (x,), (tg.tensor(1.0),))[1]
    assert third.item() == 240.0


def test_gradient_modes_outside_do_not_matter() -> None:
    x = BATCH[0]
    expected = grad(function)(x).tolist()
    with tg.no_grad():
        assert grad(function)(x).tolist() == expected
        assert jacfwd(grad(function))(x).shape == (3, 3)

    def partly(x: Any) -> Any:
        with tg.no_grad():
            constant = x * 2
        return (x * constant).sum()

    assert grad(partly)(x).tolist() == (2 * x).tolist()


def test_writes_in_place_are_differentiated() -> None:
    def written(x: Any) -> Any:
        y = x * 2
        view = y[1:]
        view.mul_(x[:1])
        y[0] = x[2] * x[2]
        y.add_(view.sum())
        return (y * y).sum()

    for x in BATCH:
        expected = central(written, x)
        np.testing.assert_allclose(grad(written)(x).numpy(), expected, 1e-6)
        np.testing.assert_allclose(jacfwd(written)(x).numpy(), expected, 1e-6)
    both = vmap(grad(written))(BATCH)
    assert both.tolist() == [grad(written)(x).tolist() for x in BATCH]


# -- 116, 117: vmap --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (lambda x: x.sum().item(), ScalarError),
        (lambda x: x.tolist(), ScalarError),
        (lambda x: x.numpy(), ScalarError),
        (lambda x: 1 if x.sum() > 0 else 2, ScalarError),
        (lambda x: x * int(x[0]), ScalarError),
        (lambda x: [1, 2, 3][x[0].long()], ScalarError),
        (lambda x: x.nonzero(), TransformError),
        (lambda x: x[x > 1], TransformError),
        (lambda x: x + tg.randn(3), TransformError),
        (lambda x: tg.zeros(3, dtype=tg.float64).add_(x), InplaceError),
        (lambda x: 3, ArgumentError),
        (lambda x: tg.autograd.grad(x.sum(), x), TransformError),
    ],
)
def test_116_what_is_not_possible_raises(program: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        vmap(program)(BATCH)


def test_116_randomness() -> None:
    def draw(x: Any) -> Any:
        return x * 0 + tg.rand(3, dtype=tg.float64)

    tg.manual_seed(0)
    same = vmap(draw, randomness="same")(BATCH)
    assert same[0].tolist() == same[1].tolist()
    tg.manual_seed(0)
    assert same[0].tolist() == tg.rand(3, dtype=tg.float64).tolist()
    tg.manual_seed(0)
    different = vmap(draw, randomness="different")(BATCH)
    tg.manual_seed(0)
    assert different.tolist() == [draw(x).tolist() for x in BATCH]


def test_116_examples_without_dimensions_promote_as_such() -> None:
    singles = tg.ones(2, 3)
    doubles = tg.ones(2, dtype=tg.float64)
    assert vmap(lambda a, s: a * s)(singles, doubles).dtype is tg.float32
    assert vmap(lambda a, s: a.sum() * s)(singles, doubles).dtype is tg.float64


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x * 2,
        lambda x: x.sum(),
        lambda x: x.softmax(0),
        lambda x: (x.sort()[0], x[1:]),
        lambda x: x.histc(4, 0, 1),
        lambda x: tg.cat([x, x]),
        grad(lambda x: x.exp().sum()),
    ],
)
def test_117_an_empty_batch(program: Any) -> None:
    def shapes(value: Any) -> Any:
        several = value if isinstance(value, tuple) else (value,)
        return [list(v.shape) for v in several]

    empty = tg.ones(0, 3)
    expected = [[0, *shape] for shape in shapes(program(tg.ones(3)))]
    assert shapes(vmap(program)(empty)) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ({"in_dims": (0, 0)}, (BATCH,)),
        ({"in_dims": 5}, (BATCH,)),
        ({"in_dims": None}, (BATCH,)),
        ({"in_dims": 0}, (3,)),
        ({"out_dims": 7}, (BATCH,)),
        ({"out_dims": None}, (BATCH,)),
        ({"out_dims": (0, 0, 0)}, (BATCH,)),
        ({"randomness": "some"}, (BATCH,)),
        ({"chunk_size": 0}, (BATCH,)),
    ],
)
def test_wrong_arguments_of_vmap(arguments: Any) -> None:
    options, values = arguments
    with pytest.raises(ArgumentError):
        vmap(lambda x: x * 2, **options)(*values)
    with pytest.raises(ArgumentError):
        vmap(lambda x, y: x)(BATCH, BATCH[0])


def test_a_batched_tensor_outside_of_vmap() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x) or x)(BATCH)
    with pytest.raises(TransformError, match="outside"):
        kept[0] + 1


def test_vmap_inside_shows_one_example() -> None:
    def look(x: Any) -> Any:
        assert x.shape == (3,)
        assert x.ndim == 1
        assert x.numel() == 3
        assert x.dtype is tg.float64
        assert x.device == tg.device("cpu")
        assert x.stride() == (1,)
        assert "BatchedTensor" in repr(x)
        return x

    assert vmap(look)(BATCH).tolist() == BATCH.tolist()


# -- errors of the others --------------------------------------------------------------


def test_wrong_uses_of_derivatives() -> None:
    x = BATCH[0]
    with pytest.raises(GradientError, match="without dimensions"):
        grad(lambda v: v * 2)(x)
    with pytest.raises(TypeError, match="tensor"):
        grad(lambda v: 3)(x)
    with pytest.raises(TypeError, match="tensors"):
        grad(lambda v: v)(3.0)
    with pytest.raises(ArgumentError, match="argnums"):
        grad(lambda v: v.sum(), argnums=1)(x)
    with pytest.raises(GradientError, match="shape"):
        jvp(lambda v: v, (x,), (x[:2],))
    with pytest.raises(GradientError, match="primals"):
        jvp(lambda v: v, (x,), (x, x))
    with pytest.raises(TypeError, match="tuples"):
        jvp(lambda v: v, x, x)
    with pytest.raises(GradientError, match="does not depend"):
        jvp(lambda v: v.detach(), (x,), (x,), strict=True)
    with pytest.raises(GradientError, match="cotangent"):
        vjp(lambda v: v, x)[1](x[:2])
    with pytest.raises(TransformError, match="functional transform"):
        grad(lambda v: tg.autograd.grad(v.sum(), v)[0])(x)


def test_an_error_inside_leaves_nothing_installed() -> None:
    def failing(x: Any) -> Any:
        raise KeyError

    for transform in (grad(failing), vmap(failing), jacfwd(failing), jacrev(failing)):
        with pytest.raises(KeyError):
            transform(BATCH)
    assert tg.is_grad_enabled()
    x = tg.ones(2, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_has_aux_and_argnums() -> None:
    def f(a: Any, b: Any) -> Any:
        return (a * b).sum(), a + b

    x, y = BATCH
    (by_a, by_b), (value, aux) = grad_and_value(f, argnums=(0, 1), has_aux=True)(x, y)
    assert (by_a.tolist(), by_b.tolist()) == (y.tolist(), x.tolist())
    assert value.item() == (x * y).sum().item()
    assert aux.tolist() == (x + y).tolist()
    assert grad(f, argnums=-1, has_aux=True)(x, y)[0].tolist() == x.tolist()
    jacobian, aux = jacrev(lambda v: (v * 2, v.sum()), has_aux=True)(x)
    assert jacobian.tolist() == (2 * tg.eye(3)).tolist()
    assert aux.item() == x.sum().item()
    jacobian, aux = jacfwd(lambda v: (v * 2, v.sum()), has_aux=True)(x)
    assert jacobian.tolist() == (2 * tg.eye(3)).tolist()


def test_vjp_can_be_pulled_twice() -> None:
    x = BATCH[0]
    _, pull = vjp(lambda v: v.exp() * v, x)
    first = pull(tg.ones_like(x))[0].tolist()
    assert pull(tg.ones_like(x))[0].tolist() == first


# -- Function --------------------------------------------------------------------------


class Cube(Function):
    @staticmethod
    def forward(x: Any) -> Any:
        return x * x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        (x,) = ctx.saved_tensors
        return ct * 3 * x * x

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return t * 3 * x * x


class BatchedCube(Cube):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        assert info.batch_size == x.shape[in_dims[0]]
        return BatchedCube.apply(x), in_dims[0]


class OldStyle(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        return ct * 2


@pytest.mark.parametrize("cube", [Cube, BatchedCube])
def test_functions_under_transforms(cube: type[Cube]) -> None:
    x = BATCH[0]

    def f(x: Any) -> Any:
        return cube.apply(x).sum()

    assert grad(f)(x).tolist() == (3 * x * x).tolist()
    assert jvp(f, (x,), (tg.ones_like(x),))[1].item() == (3 * x * x).sum().item()
    assert vmap(cube.apply)(BATCH).tolist() == (BATCH**3).tolist()
    assert vmap(grad(f))(BATCH).tolist() == (3 * BATCH**2).tolist()
    assert hessian(f)(x).diagonal().tolist() == (6 * x).tolist()
    assert jacrev(grad(f))(x).diagonal().tolist() == (6 * x).tolist()


def test_a_function_without_setup_context_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="setup_context"):
        grad(lambda x: OldStyle.apply(x).sum())(BATCH[0])
    assert vmap(OldStyle.apply)(BATCH).tolist() == (2 * BATCH).tolist()


def test_a_function_without_jvp_is_refused_in_forward_mode() -> None:
    class Reverse(Cube):
        jvp = Function.jvp

    with pytest.raises(NotSupportedError, match="jvp"):
        jvp(Reverse.apply, (BATCH[0],), (BATCH[0],))


# -- functional_call, memory -----------------------------------------------------------


def test_functional_call_leaves_the_module_as_it_was() -> None:
    layer = tg.nn.Linear(3, 2)
    before = dict(layer.named_parameters())
    zeros = {name: tg.zeros_like(p) for name, p in before.items()}
    x = tg.ones(1, 3)
    assert functional_call(layer, zeros, x).tolist() == [[0.0, 0.0]]
    assert functional_call(layer, [{"weight": zeros["weight"]}], (x,)).tolist() == [
        layer.bias.tolist()
    ]
    assert all(layer.get_parameter(n) is p for n, p in before.items())
    with pytest.raises(ArgumentError, match="unknown"):
        functional_call(layer, {"unknown": x}, x)
    with pytest.raises(ArgumentError, match="bias"):
        functional_call(layer, {"weight": zeros["weight"]}, x, strict=True)
    with pytest.raises(ArgumentError, match="twice"):
        functional_call(layer, [zeros, zeros], x)


@pytest.mark.parametrize(
    "transform",
    [grad, jacrev, jacfwd, hessian, lambda f: vmap(f), lambda f: vmap(grad(f))],
)
def test_nothing_is_kept(transform: Any) -> None:
    references: list[Any] = []

    def f(x: Any) -> Any:
        y = x * x
        y[:1].mul_(2)
        references.extend([weakref.ref(x), weakref.ref(y)])
        return (y * x).sum()

    gc.collect()
    gc.disable()
    try:
        found = transform(f)(BATCH if "lambda" in transform.__name__ else BATCH[0])
        del found
        assert [r for r in references if r() is not None] == []
    finally:
        gc.enable()
