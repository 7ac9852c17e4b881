"""Views, joining, splitting and movement against PyTorch, on hard inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.support.against_torch import check  # noqa: E402 - needs torch

MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4)
TURNED = np.arange(24.0).reshape(4, 3, 2).T
VECTOR = np.array([3.0, 1.0, 2.0])
NUMBER = np.array(5.0)
EMPTY = np.zeros((2, 0, 3))
ONE = np.array([[7.0]])

INPUTS = {
    "matrix": MATRIX,
    "cube": CUBE,
    "turned": TURNED,
    "vector": VECTOR,
    "number": NUMBER,
    "empty": EMPTY,
    "one": ONE,
    "half": MATRIX.astype("float16"),
    "ints": MATRIX.astype("int64"),
}

UNARY: dict[str, Any] = {
    "view": lambda lib, x: x.view(-1),
    "view_wrong": lambda lib, x: x.view(7),
    "view_two_unknown": lambda lib, x: x.view(-1, -1),
    "view_ambiguous": lambda lib, x: x.view(0, -1),
    "reshape": lambda lib, x: x.reshape(2, -1),
    "reshape_list": lambda lib, x: lib.reshape(x, [-1]),
    "flatten": lambda lib, x: x.flatten(),
    "flatten_1": lambda lib, x: x.flatten(1),
    "flatten_back": lambda lib, x: x.flatten(1, 0),
    "unflatten": lambda lib, x: x.unflatten(-1, (2, -1)),
    "ravel": lambda lib, x: x.ravel(),
    "transpose": lambda lib, x: x.transpose(0, -1),
    "transpose_out": lambda lib, x: x.transpose(0, 3),
    "t": lambda lib, x: x.t(),
    "T": lambda lib, x: x.mT,
    "permute": lambda lib, x: x.permute(2, 0, 1),
    "permute_twice": lambda lib, x: x.permute(0, 0),
    "movedim": lambda lib, x: x.movedim(0, -1),
    "movedim_many": lambda lib, x: lib.movedim(x, (0, 1), (1, 0)),
    "swapaxes": lambda lib, x: x.swapaxes(0, 1),
    "squeeze": lambda lib, x: x.squeeze(),
    "squeeze_0": lambda lib, x: x.squeeze(0),
    "squeeze_out": lambda lib, x: x.squeeze(4),
    "squeeze_many": lambda lib, x: x.squeeze((0, 1)),
    "unsqueeze": lambda lib, x: x.unsqueeze(-1),
    "unsqueeze_0": lambda lib, x: x.unsqueeze(0),
    "unsqueeze_out": lambda lib, x: x.unsqueeze(5),
    "expand": lambda lib, x: x.unsqueeze(0).expand(2, *x.shape),
    "expand_keep": lambda lib, x: x.expand(3, -1),
    "expand_wrong": lambda lib, x: x.expand(2),
    "repeat": lambda lib, x: x.repeat(2, 1, 3),
    "repeat_0": lambda lib, x: x.repeat(0, 1, 3),
    "repeat_few": lambda lib, x: x.repeat(2),
    "repeat_negative": lambda lib, x: x.repeat(1, 1, -1),
    "tile": lambda lib, x: lib.tile(x, (2,)),
    "narrow": lambda lib, x: x.narrow(0, 1, 2),
    "narrow_negative": lambda lib, x: x.narrow(-1, -2, 1),
    "narrow_long": lambda lib, x: x.narrow(0, 1, 9),
    "select": lambda lib, x: x.select(0, -1),
    "select_out": lambda lib, x: x.select(0, 3),
    "diagonal": lambda lib, x: x.diagonal(),
    "diagonal_1": lambda lib, x: x.diagonal(1, -1, 0),
    "diagonal_far": lambda lib, x: x.diagonal(9),
    "diagonal_same": lambda lib, x: x.diagonal(0, 1, 1),
    "diag": lambda lib, x: x.diag(),
    "diag_1": lambda lib, x: lib.diag(x, -1),
    "diag_embed": lambda lib, x: lib.diag_embed(x, 1),
    "diag_embed_dims": lambda lib, x: lib.diag_embed(x, -1, 0, 1),
    "unfold": lambda lib, x: x.unfold(-1, 2, 1),
    "unfold_gap": lambda lib, x: x.unfold(0, 1, 2),
    "unfold_large": lambda lib, x: x.unfold(0, 9, 1),
    "unfold_step_0": lambda lib, x: x.unfold(0, 1, 0),
    "flip": lambda lib, x: x.flip(0),
    "flip_many": lambda lib, x: lib.flip(x, (0, -1)),
    "flip_twice": lambda lib, x: lib.flip(x, (0, 0)),
    "fliplr": lambda lib, x: lib.fliplr(x),
    "flipud": lambda lib, x: lib.flipud(x),
    "roll": lambda lib, x: x.roll(1),
    "roll_dims": lambda lib, x: lib.roll(x, (1, -2), (0, 1)),
    "roll_wrong": lambda lib, x: lib.roll(x, (1, 2), 0),
    "rot90": lambda lib, x: lib.rot90(x),
    "rot90_2": lambda lib, x: lib.rot90(x, 2, (0, 1)),
    "rot90_3": lambda lib, x: lib.rot90(x, -1, (1, 0)),
    "tril": lambda lib, x: x.tril(),
    "triu": lambda lib, x: x.triu(1),
    "trace": lambda lib, x: x.trace(),
    "contiguous": lambda lib, x: x.contiguous(),
    "clone": lambda lib, x: x.clone(),
    "atleast_1d": lambda lib, x: lib.atleast_1d(x),
    "atleast_2d": lambda lib, x: lib.atleast_2d(x),
    "atleast_3d": lambda lib, x: lib.atleast_3d(x, x),
    "split": lambda lib, x: x.split(2),
    "split_sizes": lambda lib, x: lib.split(x, [1, 2], -1),
    "split_wrong": lambda lib, x: lib.split(x, [1, 1, 9]),
    "chunk": lambda lib, x: x.chunk(2, -1),
    "chunk_0": lambda lib, x: x.chunk(0),
    "tensor_split": lambda lib, x: lib.tensor_split(x, 3),
    "tensor_split_at": lambda lib, x: lib.tensor_split(x, (1, -1), -1),
    "hsplit": lambda lib, x: lib.hsplit(x, 2),
    "vsplit": lambda lib, x: lib.vsplit(x, [1]),
    "unbind": lambda lib, x: x.unbind(-1),
    "cat_self": lambda lib, x: lib.cat([x, x * 2], -1),
    "cat_out": lambda lib, x: lib.cat([x, x], 5),
    "stack": lambda lib, x: lib.stack([x, x * 3], -1),
    "hstack": lambda lib, x: lib.hstack((x, x)),
    "vstack": lambda lib, x: lib.vstack((x, x)),
    "dstack": lambda lib, x: lib.dstack((x, x)),
    "column_stack": lambda lib, x: lib.column_stack((x, x)),
    "meshgrid": lambda lib, x: lib.meshgrid(x, x, indexing="ij"),
    "meshgrid_xy": lambda lib, x: lib.meshgrid(x, x, indexing="xy"),
    "repeat_interleave": lambda lib, x: lib.repeat_interleave(x, 2, -1),
    "repeat_interleave_flat": lambda lib, x: x.repeat_interleave(3),
    "as_strided": lambda lib, x: x.as_strided((2, 2), (1, 1)),
    "as_strided_out": lambda lib, x: x.as_strided((9, 9), (9, 1)),
    "chain": lambda lib, x: x.transpose(0, 1).reshape(-1).unsqueeze(0),
    "cartesian_prod": lambda lib, x: lib.cartesian_prod(x, x[:2]),
    "axis_sum": lambda lib, x: lib.sum(x, axis=0, keepdims=True),
    "axis_cat": lambda lib, x: lib.cat([x, x], axis=-1),
    "axis_max": lambda lib, x: x.max(axis=-1, keepdims=True),
    "axis_twice": lambda lib, x: lib.sum(x, 0, axis=0),
    "broadcast_to": lambda lib, x: lib.broadcast_to(x, (2, *x.shape)),
    "zeros_like": lambda lib, x: lib.zeros_like(x),
    "ones_like": lambda lib, x: lib.ones_like(x, dtype=lib.int32),
    "full_like": lambda lib, x: lib.full_like(x, 2),
    "new_zeros": lambda lib, x: x.new_zeros(2, 3),
    "new_full": lambda lib, x: x.new_full((2,), 3),
    "new_tensor": lambda lib, x: x.new_tensor([1, 2]),
    "view_dtype": lambda lib, x: x.detach().view(lib.int32),
    "storage_offset": lambda lib, x: x[-1:].storage_offset(),
}


@pytest.mark.parametrize("data", INPUTS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, data: str) -> None:
    check(UNARY[name], INPUTS[data])


PAD = [
    ((1, 2), "constant", 0.5),
    ((1, -1), "constant", 0.0),
    ((-1, 0, 2, 1), "constant", 1.0),
    ((1, 2), "reflect", None),
    ((3, 0), "replicate", None),
    ((2, 1), "circular", None),
    ((9, 0), "reflect", None),
    ((1, 1, 1, 0), "replicate", None),
    ((1, 1, 1), "constant", None),
]


@pytest.mark.parametrize(("widths", "mode", "value"), PAD)
def test_pad(widths: tuple[int, ...], mode: str, value: float | None) -> None:
    from tracegrad.ops.padding import pad  # noqa: PLC0415 - not public

    def body(lib: Any, x: Any) -> Any:
        function = torch.nn.functional.pad if lib is torch else pad
        return function(x, widths, mode, value)

    check(body, CUBE)


BINARY: dict[str, tuple[Any, Any, Any]] = {
    "cat_promotes": (lambda lib, x, y: lib.cat([x, y]), MATRIX, MATRIX.astype("int32")),
    "cat_half": (
        lambda lib, x, y: lib.cat([x, y]),
        VECTOR.astype("f4"),
        VECTOR.astype("f2"),
    ),
    "cat_empty_vector": (lambda lib, x, y: lib.cat([x, y], 1), MATRIX, np.zeros(0)),
    "cat_empty_matrix": (lambda lib, x, y: lib.cat([x, y]), MATRIX, np.zeros((0, 2))),
    "cat_ranks": (lambda lib, x, y: lib.cat([x, y]), MATRIX, VECTOR),
    "cat_turned": (lambda lib, x, y: lib.cat([x, y], 1), TURNED, TURNED),
    "stack_shapes": (lambda lib, x, y: lib.stack([x, y]), MATRIX, VECTOR),
    "stack_promotes": (
        lambda lib, x, y: lib.stack([x, y]),
        VECTOR,
        VECTOR.astype("i4"),
    ),
    "broadcast": (lambda lib, x, y: lib.broadcast_tensors(x, y), MATRIX, MATRIX[:, :1]),
    "broadcast_no": (lambda lib, x, y: lib.broadcast_tensors(x, y), MATRIX, VECTOR),
    "view_as": (lambda lib, x, y: x.view_as(y), MATRIX, CUBE[0]),
    "expand_as": (lambda lib, x, y: x.expand_as(y), MATRIX[:1], MATRIX),
    "reshape_as": (lambda lib, x, y: x.reshape_as(y), MATRIX.T, MATRIX),
    "repeat_each": (
        lambda lib, x, y: lib.repeat_interleave(x, y, 0),
        MATRIX,
        np.array([1, 0, 2]),
    ),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    check(*BINARY[name])


CREATION: dict[str, Any] = {
    "arange": lambda lib: lib.arange(5),
    "arange_float": lambda lib: lib.arange(0, 1, 0.1),
    "arange_down": lambda lib: lib.arange(5, 0, -2),
    "arange_none": lambda lib: lib.arange(0),
    "arange_wrong": lambda lib: lib.arange(0, 5, -1),
    "arange_0": lambda lib: lib.arange(0, 5, 0),
    "arange_f32": lambda lib: lib.arange(1, 2, 0.3, dtype=lib.float32),
    "linspace": lambda lib: lib.linspace(-1, 1, 7),
    "linspace_1": lambda lib: lib.linspace(3, 5, 1),
    "linspace_0": lambda lib: lib.linspace(3, 5, 0),
    "linspace_int": lambda lib: lib.linspace(0, 9, 4, dtype=lib.int64),
    "logspace": lambda lib: lib.logspace(0, 3, 4),
    "eye": lambda lib: lib.eye(3, 2),
    "eye_negative": lambda lib: lib.eye(-1),
    "full": lambda lib: lib.full((2, 2), 3),
    "full_bool": lambda lib: lib.full((2,), True),
    "full_float": lambda lib: lib.full((), 2.5),
    "zeros": lambda lib: lib.zeros(2, 0, 3),
    "zeros_list": lambda lib: lib.zeros([2, 3], dtype=lib.int16),
    "zeros_size": lambda lib: lib.zeros(size=(2,)),
    "zeros_negative": lambda lib: lib.zeros(-1),
    "ones": lambda lib: lib.ones(2, requires_grad=True),
    "tensor": lambda lib: lib.tensor([[1, 2.5], [3, 4]]),
    "tensor_bool": lambda lib: lib.tensor([True, False]),
    "tensor_mixed": lambda lib: lib.tensor([True, 2]),
    "tensor_complex": lambda lib: lib.tensor([1j, 2]),
    "tensor_empty": lambda lib: lib.tensor([]),
    "tensor_ragged": lambda lib: lib.tensor([[1], [2, 3]]),
    "tensor_text": lambda lib: lib.tensor("a"),
    "tensor_large": lambda lib: lib.tensor(2**63),
    "tensor_wraps": lambda lib: lib.tensor(-1, dtype=lib.uint8),
    "tensor_over": lambda lib: lib.tensor(300, dtype=lib.uint8),
    "tensor_cut": lambda lib: lib.tensor([2.7, -2.7], dtype=lib.int64),
    "tensor_scalars": lambda lib: lib.tensor([np.float64(1.0), np.float64(2.0)]),
    "tensor_of_tensors": lambda lib: lib.tensor([lib.tensor(1), lib.tensor(2)]),
    "tensor_numpy": lambda lib: lib.tensor(np.arange(4.0).reshape(2, 2).T),
    "constructor": lambda lib: lib.Tensor([1, 2]),
    "constructor_size": lambda lib: lib.Tensor(2, 3) * 0,
    "scalar_tensor": lambda lib: lib.scalar_tensor(3),
    "tril_indices": lambda lib: lib.tril_indices(3, 4, 1),
    "triu_indices": lambda lib: lib.triu_indices(3, 2, -1),
    "cat_nothing": lambda lib: lib.cat([]),
    "stack_nothing": lambda lib: lib.stack([]),
    "broadcast_shapes": lambda lib: tuple(lib.broadcast_shapes((2, 1), (3,))),
    "int_inference": lambda lib: lib.tensor(3).dtype is lib.int64,
}


@pytest.mark.parametrize("name", CREATION)
def test_creation(name: str) -> None:
    check(CREATION[name])


IMAGE = np.arange(120.0).reshape(2, 3, 4, 5)
FORMATS: dict[str, Any] = {
    "clone_preserve": lambda lib, x: x.clone(memory_format=lib.preserve_format),
    "clone_rows": lambda lib, x: x.clone(memory_format=lib.contiguous_format),
    "clone_channels": lambda lib, x: x.clone(memory_format=lib.channels_last),
    "contiguous": lambda lib, x: x.contiguous(memory_format=lib.channels_last),
    "channels_3d": lambda lib, x: x.contiguous(memory_format=lib.channels_last_3d),
    "whole_write": lambda lib, x: _whole_write(x),
}


def _whole_write(x: Any) -> Any:
    written = x * 2
    written[...] = x.sum()
    return written


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("turned", [False, True])
def test_memory_format(name: str, turned: bool) -> None:
    check(FORMATS[name], IMAGE.transpose(0, 2, 3, 1) if turned else IMAGE)
