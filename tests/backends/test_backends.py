"""Operators on arrays of other libraries, and the meta device, against NumPy."""

import copy
import importlib.metadata
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tests.ops.samples import samples, tensors
from tracegrad.dispatch import foreign
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.tensor import Tensor
from tracegrad.errors import ArgumentError, DeviceError, NoDataError
from tracegrad.testing import assert_close

# `tracegrad.device` is a function too.
devices = importlib.import_module("tracegrad.device")
LIBRARIES = ("array_api_strict", "jax.numpy", "numpy")
TESTED = [
    op
    for op in OPERATORS.values()
    if (op.examples or "pointwise" in op.facts) and op.family != "creation"
]


@pytest.fixture(params=LIBRARIES)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    library = pytest.importorskip(request.param, reason="NOT RUN: not installed")
    if request.param == "jax.numpy":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    name = "tested_" + request.param.replace(".", "_")
    tg.backends.register(name, library)
    yield name
    devices._BACKENDS.pop(name)


def moved(value: Any, device: str) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(moved(part, device) for part in value)
    return value.to(device) if isinstance(value, Tensor) else value


def cases(operator: OpDef) -> Iterator[tuple[list[Any], dict[str, Any], Any]]:
    """Yield arguments on the CPU, attributes and the result there."""
    for sample in samples(operator):
        args = tensors(sample)
        if not any(isinstance(a, Tensor | list | tuple) for a in args):
            continue
        generators = [(a, a.get_state()) for a in args if isinstance(a, tg.Generator)]
        try:
            result = operator(*args, **sample.attributes)
        except tg.errors.DTypeError:
            continue
        for generator, state in generators:
            generator.set_state(state)
        yield args, sample.attributes, result


def several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize("operator", TESTED, ids=lambda op: op.name)
def test_every_operator(operator: OpDef, backend: str) -> None:
    for args, attributes, result in cases(operator):
        found = operator(*moved(args, backend), **attributes)
        for one, other in zip(several(result), several(found), strict=True):
            assert one.dtype is other.dtype
            if operator.name != "to_device":
                assert other.device.type == backend
                assert_close(other.cpu(), one, rtol=1e-10, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("operator", TESTED, ids=lambda op: op.name)
def test_every_operator_on_meta(operator: OpDef) -> None:
    if operator.facts.get("dynamic_size") or operator.name == "to_device":
        pytest.skip("its size depends on values, or it needs them")
    for args, attributes, result in cases(operator):
        found = operator(*moved(args, "meta"), **attributes)
        for one, other in zip(several(result), several(found), strict=True):
            assert other.is_meta
            assert (one.dtype, one.shape) == (other.dtype, other.shape)


def loss(w: Any, x: Any) -> Any:
    hidden = tg.tanh(x @ w).softmax(1)
    return (hidden * hidden).sum() + hidden[0].exp().mean() + tg.cat([x, x]).amax()


def test_gradients(backend: str) -> None:
    x = tg.tensor(np.linspace(-1, 1, 12).reshape(4, 3))
    w = tg.tensor(np.linspace(-1, 2, 6).reshape(3, 2), requires_grad=True)
    own = w.detach().to(backend).requires_grad_()
    loss(w, x).backward()
    value = loss(own, x.to(backend))
    value.backward()
    assert own.grad.device.type == backend
    assert_close(own.grad.cpu(), w.grad)
    (first,) = tg.autograd.grad(loss(own, x.to(backend)), own, create_graph=True)
    (second,) = tg.autograd.grad(first.sum(), own)
    assert second.shape == own.shape


def test_transfers_are_differentiable(backend: str) -> None:
    x = tg.ones(3, requires_grad=True)
    (x.to(backend) * 2).cpu().sum().backward()
    assert x.grad.device.type == "cpu"
    assert x.grad.tolist() == [2, 2, 2]


def test_writes_and_views(backend: str) -> None:
    x = tg.zeros(2, 3, device=backend)
    row, column = x[0], x.t()[2]
    version = x._version
    row.add_(1)
    assert column.tolist() == [1, 0]
    column[1] = 5
    assert x.tolist() == [[1, 1, 1], [0, 0, 5]]
    assert row.tolist() == [1, 1, 1]
    assert x._version == version + 2


def test_aliases_and_copies(backend: str) -> None:
    x = tg.zeros(2, device=backend)
    for alias in (x.detach(), x.data, x.view(2)):
        alias.add_(1)
    assert x.tolist() == [3, 3]
    for fresh in (x.clone(), x + 0, x.to(tg.float64), x.contiguous().clone()):
        fresh.add_(1)
    assert x.tolist() == [3, 3]
    assert x.contiguous() is x


def test_transforms(backend: str) -> None:
    x = tg.arange(6.0).reshape(2, 3)
    own = x.to(backend)

    def function(v: Any) -> Any:
        return (v.reshape(3, 1) * v.flip(0)).sum(0).sin()

    found = tg.func.vmap(function, in_dims=0)(own)
    assert_close(found.cpu(), tg.func.vmap(function)(x))
    columns = tg.func.vmap(lambda v: v[1:] * 2, in_dims=1)(own)
    assert_close(columns.cpu(), 2 * x.t()[:, 1:])
    gradient = tg.func.grad(lambda v: (v.t() @ v).sum())(own)
    assert_close(gradient.cpu(), tg.func.grad(lambda v: (v.t() @ v).sum())(x))


def test_saved_tensors_are_watched(backend: str) -> None:
    x = tg.ones(2, device=backend, requires_grad=True)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="written in place"):
        z.sum().backward()


def test_a_training_step(backend: str) -> None:
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.ReLU(), tg.nn.Linear(4, 1))
    other = copy.deepcopy(model).to(backend)
    x = tg.randn(5, 3)
    losses = []
    for net, data in ((model, x), (other, x.to(backend))):
        optimizer = tg.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            value = net(data).square().mean()
            value.backward()
            optimizer.step()
        losses.append(value.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_captured_it_runs_eagerly_and_says_why(backend: str) -> None:
    captured = tg.trace(lambda x: tg.sin(x) * 2)
    x = tg.ones(2, device=backend)
    for _ in range(2):
        assert_close(captured(x).cpu(), 2 * tg.ones(2).sin())
    assert f"a tensor on {backend} can't be captured" in str(captured.explain())


def test_draws_are_the_cpus_and_where_they_were_asked_for(backend: str) -> None:
    tg.manual_seed(0)
    expected = [tg.randn(3), tg.randperm(4), tg.nn.functional.dropout(tg.ones(5))]
    tg.manual_seed(0)
    x = tg.ones(5, device=backend)
    found = [
        tg.randn(3, device=backend),
        tg.randperm(4, device=backend),
        tg.nn.functional.dropout(x),
    ]
    for one, other in zip(expected, found, strict=True):
        assert other.device.type == backend
        assert_close(other.cpu(), one)


def test_copies_and_addresses(backend: str) -> None:
    model = tg.nn.Linear(3, 2).to(backend)
    other = copy.deepcopy(model)
    assert other.weight.device.type == backend
    assert other.weight.data_ptr() != model.weight.data_ptr()
    assert model.weight.detach()[0].data_ptr() == model.weight.data_ptr()
    other.load_state_dict(tg.nn.Linear(3, 2).state_dict())
    assert other.weight.device.type == backend


def test_mixed_devices_are_refused(backend: str) -> None:
    with pytest.raises(DeviceError, match=backend):
        tg.ones(2, device=backend) + tg.ones(2)
    assert (tg.ones(2, device=backend) + tg.tensor(1.0)).tolist() == [2, 2]


def test_arrays_go_in_and_out(backend: str) -> None:
    array = tg.backends.to_array(tg.ones(2, device=backend))
    tensor = tg.backends.from_array(array, backend)
    assert (tensor * 2).tolist() == [2, 2]
    assert "device=" in repr(tensor)
    assert backend in tg.backends.available()


def test_names_and_namespaces_are_checked() -> None:
    with pytest.raises(ArgumentError, match="identifier"):
        tg.backends.register("cpu", np)
    with pytest.raises(ArgumentError, match="array API"):
        tg.backends.register("none", types.SimpleNamespace())
    with pytest.raises(DeviceError, match="no device is called"):
        tg.device("nowhere")


def test_found_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def announce() -> None:
        tg.backends.register("announced", np)

    class Entry:
        def load(self) -> Callable[[], None]:
            return announce

    def entries(group: str, name: str) -> list[Entry]:
        assert group == "tracegrad.backends"
        return [Entry()] if name == "announced" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entries)
    try:
        assert tg.ones(2, device="announced").tolist() == [1, 1]
    finally:
        devices._BACKENDS.pop("announced", None)


def test_a_library_that_computes_wrong_forms_is_not_believed() -> None:
    namespace = types.SimpleNamespace(**vars(np))
    namespace.sin = lambda x: np.sin(x).astype(np.float32)
    tg.backends.register("narrow", namespace)
    try:
        x = tg.tensor([0.5], dtype=tg.float64, device="narrow")
        assert_close(x.sin().cpu(), tg.tensor([0.5], dtype=tg.float64).sin())
    finally:
        devices._BACKENDS.pop("narrow")


def test_kernels_cannot_write_into_foreign_arrays() -> None:
    namespace = foreign.ForeignNamespace("plain", np)
    array = namespace.asarray([1.0, 2.0])
    with pytest.raises(TypeError):
        array[...] = 1
    with pytest.raises(foreign.MissingError):
        _ = namespace.put_along_axis


META_ERRORS: list[tuple[Callable[[Any], Any], type[Exception]]] = [
    (lambda m: m.numpy(), TypeError),
    (lambda m: m.tolist(), NotImplementedError),
    (lambda m: m.sum().item(), RuntimeError),
    (lambda m: bool(m.sum()), RuntimeError),
    (lambda m: m.cpu(), NotImplementedError),
    (lambda m: tg.zeros(2, 3).copy_(m), NotImplementedError),
    (lambda m: m.nonzero(), NotImplementedError),
]


@pytest.mark.parametrize(("use", "kind"), META_ERRORS)
def test_meta_has_no_data(use: Callable[[Any], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind, match="meta"):
        use(tg.empty(2, 3, device="meta"))


def test_a_module_on_meta() -> None:
    model = tg.nn.Linear(3, 2, device="meta")
    assert model(tg.empty(5, 3, device="meta")).shape == (5, 2)
    assert tg.nn.Linear(3, 2).to("meta").weight.is_meta
    with pytest.raises(NoDataError, match="to_empty"):
        model.to("cpu")
    assert model.to_empty(device="cpu") is model
    assert not model.weight.is_meta
    assert model.weight.requires_grad
    model.reset_parameters()
    assert tg.nn.functional.dropout(tg.empty(3, device="meta")).is_meta
    assert model(tg.ones(1, 3)).shape == (1, 2)
