"""autocast: the weights' casts, gradients, capture, and transforms."""

import threading

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn
from tracegrad.amp import GradScaler, autocast
from tracegrad.dispatch.state import installed


@pytest.fixture(autouse=True)
def _nothing_stays_installed():
    before = installed.busy
    yield
    assert installed.busy == before


def half():
    return autocast("cpu", dtype=tg.float16)


def test_gradients_come_in_the_dtype_of_the_weight():
    w = nn.Parameter(tg.ones(2, 2))
    x = tg.ones(3, 2)
    with half():
        y = x @ w
        assert y.dtype is tg.float16
        loss = y.float().sum()
    loss.backward()
    assert w.grad.dtype is tg.float32
    assert w.grad.tolist() == [[3, 3], [3, 3]]


def test_a_weight_is_cast_once_until_the_outermost_block_ends():
    w = nn.Parameter(tg.ones(2, 2))
    x = tg.ones(1, 2)
    with half():
        first = x @ w
        with autocast("cpu", dtype=tg.float16):
            second = x @ w
        w.data.mul_(3)
        third = x @ w
    assert first.tolist() == second.tolist() == third.tolist() == [[2, 2]]
    with half():
        assert (x @ w).tolist() == [[6, 6]]
    with autocast("cpu", dtype=tg.float16, cache_enabled=False):
        assert (x @ w).tolist() == [[6, 6]]
        w.data.mul_(0)
        assert (x @ w).tolist() == [[0, 0]]


def test_a_cast_without_gradients_is_not_used_with_them():
    w = nn.Parameter(tg.ones(2, 2))
    x = tg.ones(1, 2)
    with half():
        with tg.no_grad():
            x @ w
        (x @ w).sum().backward()
    assert w.grad is not None


def test_other_threads_are_not_cast():
    found = []
    with half():
        thread = threading.Thread(
            target=lambda: found.append((tg.ones(2, 2) @ tg.ones(2, 2)).dtype)
        )
        thread.start()
        thread.join()
    assert found == [tg.float32]


def test_an_exception_leaves_it():
    with pytest.raises(ZeroDivisionError), half():
        1 / 0  # noqa: B018 - raises
    assert not tg.is_autocast_enabled("cpu")


def test_composites_are_looked_into():
    with half():
        assert nn.functional.linear(tg.ones(2, 2), tg.ones(2, 2)).dtype is tg.float16
        total = tg.einsum("ij,jk->ik", tg.ones(2, 2), tg.ones(2, 2))
        assert total.dtype is tg.float16
        assert tg.ones(2, 2).half().softmax(0).dtype is tg.float16
        assert tg.ones(2, 2).half().sum().dtype is tg.float16


@pytest.mark.filterwarnings("ignore:autocast for")
def test_a_device_that_is_not_there():
    with autocast("cuda"):
        assert (tg.ones(2, 2) @ tg.ones(2, 2)).dtype is tg.float32
        assert not tg.is_autocast_enabled()


def test_transforms_see_the_casts():
    w = tg.ones(2, 2)

    def loss(x):
        with half():
            return (x @ w).float().sum()

    assert tg.func.grad(loss)(tg.ones(3, 2)).dtype is tg.float32
    with half():
        batched = tg.func.vmap(lambda x: x @ w)(tg.ones(4, 3, 2))
    assert batched.dtype is tg.float16
    assert batched.shape == (4, 3, 2)


def _step(model, optimizer, x, y):
    optimizer.zero_grad()
    with half():
        loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def _losses(traced):
    tg.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)
    rng = np.random.default_rng(0)
    step = tg.trace(_step) if traced else _step
    found = []
    for _ in range(5):
        x = tg.from_numpy(rng.normal(size=(8, 3)).astype("f"))
        found.append(step(model, optimizer, x, x[:, :1]).item())
    return found, step


def test_a_captured_step():
    expected, _ = _losses(traced=False)
    found, step = _losses(traced=True)
    assert found == pytest.approx(expected, rel=1e-3)
    assert "eagerly" not in str(step.explain())
    assert len(step.specializations) == 1


def test_it_is_part_of_what_programs_depend_on():
    product = tg.trace(lambda x: x @ x)
    x = tg.ones(2, 2)
    assert product(x).dtype is tg.float32
    with half():
        assert product(x).dtype is tg.float16
        with autocast("cpu", enabled=False):
            assert product(x).dtype is tg.float32
    assert product(x).dtype is tg.float32
    assert len(product.specializations) == 2
    assert "autocast was" in str(product.explain())


def test_gradients_of_a_program_captured_inside():
    function = tg.trace(lambda x, w: (x @ w).float().sum())
    x, w = tg.ones(3, 2), tg.ones(2, 2, requires_grad=True)
    for _ in range(2):
        w.grad = None
        with half():
            total = function(x, w)
        total.backward()
        assert w.grad.dtype is tg.float32
        assert w.grad.tolist() == [[3, 3], [3, 3]]


def test_a_scaler_leaves_out_a_step_that_overflowed():
    p = nn.Parameter(tg.ones(1))
    optimizer = tg.optim.SGD([p], lr=1.0)
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale(p * float("inf")).backward()
    assert scaler.step(optimizer) is None
    scaler.update()
    assert p.item() == 1.0
    assert scaler.get_scale() == 2.0
    p.grad = None
    scaler.scale([p * 2])[0].backward()
    assert p.grad.item() == 4.0
    scaler.step(optimizer)
    assert p.item() == -1.0


@pytest.mark.filterwarnings("ignore:GradScaler is enabled")
def test_a_scaler_that_is_disabled_lets_all_through():
    for scaler in (GradScaler(), GradScaler("cpu", enabled=False)):
        p = nn.Parameter(tg.ones(1))
        optimizer = tg.optim.SGD([p], lr=1.0)
        loss = p * 2
        assert scaler.scale(loss) is loss
        loss.backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert p.item() == -1.0
        assert scaler.get_scale() == 1.0
        assert scaler.state_dict() == {}
        assert not scaler.is_enabled()
