"""The stand-in for CuPy: right results, and refusal of whatever CuPy refuses."""

import copy
import importlib.util
import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cuda.kernels import COLUMN_SUM, FUSED, ROW_LOGSUMEXP
from tests.support.cuda_on_cpu import list_cupy_names
from tests.support.cuda_on_cpu.errors import LaunchError
from tests.support.cuda_on_cpu.fake_cupy import Installed, install
from tests.support.cuda_on_cpu.fake_state import CUPY_NAMES

HOST = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def cp(fake_cupy: Installed) -> Any:
    return fake_cupy.module


# ---- what it computes ----


def test_import_gives_it_during_the_test_only(fake_cupy: Installed) -> None:
    assert importlib.import_module("cupy") is fake_cupy.module
    assert importlib.util.find_spec("cupy") is not None
    with install() as inner:
        assert sys.modules["cupy"] is inner.module
    assert sys.modules["cupy"] is fake_cupy.module


def test_raw_kernels_run(cp: Any, fake_cupy: Installed) -> None:
    x, out = cp.asarray(HOST), cp.empty(3, cp.float32)
    kernel = cp.RawKernel(ROW_LOGSUMEXP, "row_logsumexp", options=("-std=c++17",))
    for seed in range(3):
        fake_cupy.schedule(seed)
        kernel((3,), (32,), (x, out, 4))
        np.testing.assert_allclose(out.get(), np.log(np.exp(HOST).sum(1)), rtol=1e-6)
    sums = cp.zeros(4, cp.float32)
    module = cp.RawModule(code=COLUMN_SUM, options=("-DUNUSED=1",))
    args = (x, sums, np.int32(3), np.int32(4))
    module.get_function("column_sum")((1,), (32, 2), args, shared_mem=256)
    np.testing.assert_array_equal(sums.get(), HOST.sum(0))
    assert fake_cupy.counters.launches == 4


def test_numpy_functions_and_operators(cp: Any) -> None:
    x = cp.asarray(HOST)
    cases = [
        (cp.exp(x) - 1.0, np.exp(HOST) - 1),
        (2 / (x + 1), 2 / (HOST + 1)),
        (x @ x.T, HOST @ HOST.T),
        (x[1:, ::2] ** 2, HOST[1:, ::2] ** 2),
        (cp.where(x > 3, x, -x), np.where(HOST > 3, HOST, -HOST)),
        (cp.concatenate([x, x]), np.concatenate([HOST, HOST])),
        (x.mean(axis=0, keepdims=True), HOST.mean(0, keepdims=True)),
        (cp.add.reduce(x, axis=1), HOST.sum(1)),
        (np.tanh(x), np.tanh(HOST)),
        (np.cumsum(x, axis=1), HOST.cumsum(1)),
        (cp.linalg.norm(x, axis=1), np.linalg.norm(HOST, axis=1)),
    ]
    for found, expected in cases:
        assert isinstance(found, cp.ndarray)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.get(), expected, rtol=1e-6)


def test_views_share_memory_and_results_do_not(cp: Any) -> None:
    x = cp.asarray(HOST)
    row, element, reshaped = x[1], x[0, 0], x.reshape(4, 3)
    assert row.base is x
    assert reshaped.base is x
    assert x.base is None
    assert (x + 1).base is None
    row[...] = 7.0
    element += 5.0
    assert reshaped.get().ravel()[[0, 4, 7]].tolist() == [5.0, 7.0, 7.0]
    assert row.data.ptr == x.data.ptr + 16


def test_an_arena_is_seen_through_memory_pointers(cp: Any) -> None:
    arena = cp.cuda.alloc(64)
    first = cp.ndarray((4,), cp.float32, memptr=arena)
    second = cp.ndarray((4,), cp.float32, memptr=arena + 16)
    second[...] = first
    first.fill(1.0)
    assert np.isnan(second.get()).all()
    assert second.data.ptr == arena.ptr + 16


def test_attributes_cannot_be_set_unseen(cp: Any) -> None:
    with pytest.raises(AttributeError):
        cp.asarray(HOST).shape = (4, 3)


def test_out_and_in_place_keep_the_array(cp: Any) -> None:
    x, out = cp.asarray(HOST), cp.empty((3, 4), cp.float32)
    assert cp.multiply(x, 2, out=out) is out
    before = out.data.ptr
    out -= x
    assert out.data.ptr == before
    np.testing.assert_array_equal(out.get(), HOST)


def test_reductions_stay_on_the_device(cp: Any, fake_cupy: Installed) -> None:
    x = cp.asarray(HOST)
    fake_cupy.counters.reset()
    for result in (x.sum(), cp.max(x), x[0, 0], cp.allclose(x, x), x.dot(x.T)[0, 0]):
        assert isinstance(result, cp.ndarray)
        assert result.shape == ()
    assert fake_cupy.counters.device_to_host == 0


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.get(),
        lambda x: float(x.sum()),
        lambda x: int(x.sum()),
        lambda x: bool(x.sum()),
        lambda x: x[0, 0].item(),
        lambda x: x.tolist(),
        repr,
        lambda x: sys.modules["cupy"].asnumpy(x),
    ],
)
def test_copies_to_the_host_are_counted(
    cp: Any, fake_cupy: Installed, read: Callable[[Any], Any]
) -> None:
    x = cp.asarray(HOST)
    fake_cupy.counters.reset()
    read(x)
    assert fake_cupy.counters.device_to_host == 1


def test_waits_are_counted(cp: Any, fake_cupy: Installed) -> None:
    x = cp.asarray(HOST)
    fake_cupy.counters.reset()
    assert x[x > 3].shape == (8,)
    assert len(cp.nonzero(x)[0]) == 11
    cp.cuda.Device().synchronize()
    cp.cuda.Stream.null.synchronize()
    assert fake_cupy.counters.synchronizations == 4


def test_new_memory_is_nan(cp: Any) -> None:
    assert np.isnan(cp.empty((2, 3), cp.float32).get()).all()
    assert np.isnan(cp.empty_like(cp.asarray(HOST)).get()).all()


def test_streams_events_devices_and_pools(cp: Any) -> None:
    with cp.cuda.Stream(non_blocking=True) as stream:
        assert cp.cuda.get_current_stream() is stream
        start, end = stream.record(), cp.cuda.Event()
        end.record()
        stream.wait_event(end)
    assert cp.cuda.get_current_stream() is cp.cuda.Stream.null
    assert cp.cuda.get_elapsed_time(start, end) >= 0.0
    with cp.cuda.Device(0) as device:
        assert device.id == cp.asarray(HOST).device.id == 0
    assert cp.cuda.runtime.getDeviceCount() == 1
    cp.get_default_memory_pool().free_all_blocks()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError):
        cp.cuda.Device(1)


def test_copies_and_pickles(cp: Any) -> None:
    x = cp.asarray(HOST)
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        x_pointer, pointer = x.data.ptr, other.data.ptr
        assert x_pointer != pointer
        np.testing.assert_array_equal(other.get(), HOST)


def test_cupyx(cp: Any) -> None:
    cupyx = importlib.import_module("cupyx")
    x = cp.zeros(3, cp.float32)
    cupyx.scatter_add(x, cp.asarray([0, 2, 2]), 1.0)
    assert x.tolist() == [1.0, 0.0, 2.0]
    erf = importlib.import_module("cupyx.scipy.special").erf(x)
    np.testing.assert_allclose(erf.get(), [0.842701, 0.0, 0.995322], rtol=1e-5)
    assert erf.dtype == np.float32


# ---- misuse that CuPy refuses ----


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (np.asarray, r"Implicit conversion to a NumPy array is not allowed.*\.get\(\)"),
        (np.array, "Implicit conversion"),
        (lambda x: x + HOST, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: HOST + x, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: np.add(x, HOST), "Unsupported type <class 'numpy.ndarray'>"),
        (lambda x: operator.iadd(x, HOST), "Unsupported type"),
        (lambda x: operator.iadd(HOST.copy(), x), "Unsupported type"),
        (lambda x: operator.setitem(x, ..., HOST), "Unsupported type"),
        (lambda x: HOST.copy().__setitem__(..., x), "Implicit conversion"),
        (lambda x: np.concatenate([x, HOST]), "no implementation found"),
        (lambda x: sys.modules["cupy"].concatenate([x, HOST]), "Unsupported type"),
        (lambda x: x.set([1.0]), "Only numpy.ndarray can be set"),
        (hash, "unhashable"),
        (memoryview, "a bytes-like object is required"),
    ],
)
def test_mixing_with_numpy_is_refused(
    cp: Any, misuse: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        misuse(cp.asarray(HOST))


@pytest.mark.parametrize("dtype", [object, "U3", "M8[s]", np.longdouble])
def test_a_dtype_that_cupy_lacks_is_refused(cp: Any, dtype: Any) -> None:
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cp.empty(3, dtype)


def test_raw_kernel_misuse_is_refused(cp: Any) -> None:
    x, out = cp.asarray(HOST), cp.empty((3, 4), cp.float32)
    fused = cp.RawKernel(FUSED, "fused")
    with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy\.ndarray'>"):
        fused((1,), (32,), (HOST, x, out, 12, 4))
    with pytest.raises(LaunchError, match=r"argument 3: .* 64-bit .* passes a 32"):
        fused((1,), (32,), (x, x, out, np.int32(12), 4))
    with pytest.raises(LaunchError, match="past the end of argument 0"):
        fused((1,), (32,), (x, x, out, 13, 4))
    with pytest.raises(cp.cuda.compiler.CompileException, match="no kernel 'other'"):
        cp.RawKernel(FUSED, "other").compile()
    with pytest.raises(cp.cuda.compiler.CompileException, match="was not declared"):
        cp.RawKernel(FUSED.replace("tanhf", "tanhg"), "fused").compile()


# ---- names ----


@pytest.mark.parametrize(
    "name", ["einsum_path", "vecdot", "errstate", "erf", "no_such"]
)
def test_a_name_that_cupy_lacks_is_refused(cp: Any, name: str) -> None:
    with pytest.raises(
        AttributeError, match=f"module 'cupy' has no attribute '{name}'"
    ):
        getattr(cp, name)


def test_a_name_that_only_the_stand_in_lacks_is_said(cp: Any) -> None:
    with pytest.raises(AttributeError, match=r"stand-in .* has no cupy\.fuse, though"):
        _ = cp.fuse
    for name in ("default_rng", "Generator", "RandomState"):
        with pytest.raises(AttributeError, match=r"stand-in .* has no cupy\.random"):
            getattr(cp.random, name)
    with pytest.raises(AttributeError, match="has no attribute 'newbyteorder'"):
        _ = cp.asarray(HOST).newbyteorder


def test_its_classes_offer_nothing_that_cupy_lacks(cp: Any) -> None:
    classes = {
        "cupy.ndarray": cp.ndarray,
        "cupy.ufunc": cp.ufunc,
        "cupy.RawKernel": cp.RawKernel,
        "cupy.RawModule": cp.RawModule,
        "cupy.cuda.Stream": cp.cuda.Stream,
        "cupy.cuda.Event": cp.cuda.Event,
        "cupy.cuda.Device": cp.cuda.Device,
        "cupy.cuda.MemoryPool": cp.cuda.MemoryPool,
        "cupy.cuda.PinnedMemoryPool": cp.cuda.PinnedMemoryPool,
    }
    for path, kind in classes.items():
        own = {f"{path}.{name}" for name in vars(kind) if not name.startswith("_")}
        assert own <= CUPY_NAMES


def test_the_list_is_that_of_the_real_module_where_it_is_installed() -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed: its names not compared")
    assert set(list_cupy_names.names()) == CUPY_NAMES
