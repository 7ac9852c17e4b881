"""Operators on the pretended device: eager, traced, and beside the CPU's answers."""

from typing import Any

import numpy as np

import tracegrad as tg
from tests.cuda.emitted import cuda_text
from tests.ops.captured import total
from tests.ops.checks import value_dtype
from tests.ops.samples import Sample, leaves, parsed, results, samples
from tests.support.cuda_on_cpu.nvcc import compile_check
from tests.tolerances import CUDA_ON_CPU
from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.operator import OpDef
from tracegrad.dtypes import DType

Program = tuple[Any, list[Any]]


def moved(array: Any, device: str) -> Any:
    """A tensor on a device with the numbers of a NumPy array."""
    return tg.tensor(np.array(array), device=device)


def program_of(operator: OpDef, sample: Sample, device: str) -> Program:
    """A function of tensors that applies the operator, and tensors for it."""
    placed = sample.mapped(lambda array: moved(array, device))
    operands, attributes = parsed(operator, list(placed.operands), placed.attributes)
    if "device" in attributes:
        attributes["device"] = tg.tensor(0.0, device=device).device
    counts = [len(o) if isinstance(o, tuple) else 1 for o in operands]

    def program(*given: Any) -> Any:
        rest = iter(given)
        chosen = [
            tuple(next(rest) for _ in range(count))
            if isinstance(o, tuple)
            else next(rest)
            for o, count in zip(operands, counts, strict=True)
            if isinstance(o, tuple | tg.Tensor)
        ]
        places = iter(chosen)
        mixed = [
            next(places) if isinstance(o, tuple | tg.Tensor) else o for o in operands
        ]
        return bind(operator, mixed, attributes)

    flat = [
        t
        for o in operands
        for t in (o if isinstance(o, tuple) else (o,))
        if isinstance(t, tg.Tensor)
    ]
    return program, flat


def numbers(value: Any) -> list[Any]:
    """The results as NumPy arrays."""
    return [t.detach().cpu().numpy() for t in results(value)]


def same(found: Any, wanted: Any) -> None:
    """Assert that results have the dtypes, shapes and numbers of others."""
    for have, want in zip(numbers(found), numbers(wanted), strict=True):
        assert have.dtype == want.dtype
        assert have.shape == want.shape
        if want.dtype.kind in "biu":
            np.testing.assert_array_equal(have, want)
            continue
        rtol, atol = CUDA_ON_CPU[want.dtype.name]
        np.testing.assert_allclose(
            have.astype(np.complex128), want.astype(np.complex128), rtol, atol
        )


def own_samples(operator: OpDef) -> list[Sample]:
    """The samples of an operator in the dtype that its value test takes."""
    dtype: DType = value_dtype(operator)
    return samples(operator, dtype)


def check_eager(operator: OpDef) -> None:
    """The eager operator answers on the device as on the CPU, and stays there."""
    for sample in own_samples(operator):
        on_host, given = program_of(operator, sample, "cpu")
        on_device, there = program_of(operator, sample, "cuda")
        found = on_device(*there)
        assert {t.device.type for t in results(found)} <= {"cuda"}
        if not operator.facts.get("undefined"):
            same(found, on_host(*given))


def check_traced(operator: OpDef) -> None:
    """The captured operator runs as a program, and answers as the eager one."""
    for sample in own_samples(operator):
        program, given = program_of(operator, sample, "cuda")
        wanted = program(*given)
        captured = tg.trace(program, strict=True)
        captured(*given)
        found = captured(*given)
        assert len(captured.graphs) == 1
        source = captured.specializations[0].compiled.source
        assert source.language == "cuda"
        same(found, wanted)
        if source.kernels:
            # Says nothing where no compiler of NVIDIA's is here.
            compile_check(cuda_text(source))


def check_traced_gradient(operator: OpDef) -> None:
    """The gradient of a captured call is that of the CPU's eager one."""
    for sample in own_samples(operator):
        on_host, given = program_of(operator, sample, "cpu")
        on_device, there = program_of(operator, sample, "cuda")
        tracked = _tracked(given)
        if not _has_floats(on_host(*tracked)) or not leaves(tracked):
            continue
        if not total(on_host(*tracked)).requires_grad:
            continue
        wanted = _gradients(on_host, tracked)
        captured = tg.trace(on_device, strict=True)
        captured(*_tracked(there))
        found = _gradients(captured, _tracked(there))
        for have, want in zip(found, wanted, strict=True):
            assert (have is None) == (want is None)
            if have is not None:
                same(have, want)


def _has_floats(value: Any) -> bool:
    return any(t.dtype.kind in ("float", "complex") for t in results(value))


def _tracked(given: list[Any]) -> list[Any]:
    return [
        t.detach().requires_grad_() if t.dtype.kind in ("float", "complex") else t
        for t in given
    ]


def _gradients(function: Any, tensors: list[Any]) -> list[Any]:
    wanted = leaves(tensors)
    loss = total(function(*tensors))
    return list(tg.autograd.grad(loss, wanted, allow_unused=True))
