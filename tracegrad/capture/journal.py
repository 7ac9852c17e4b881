"""What a recording changed, so that recording from example inputs can be undone."""

from __future__ import annotations

from typing import Any, final

from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor, version_of


@final
class Journal:
    """Remembers tensors, gradients and generators before their first change."""

    def __init__(self) -> None:
        self._arrays: dict[int, tuple[Any, Any]] = {}
        self._tensors: dict[int, tuple[Tensor, Any, Any, int]] = {}
        self._grads: dict[int, tuple[Tensor, Any]] = {}
        self._engines: dict[int, tuple[Generator, Any]] = {}
        self._states: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}

    def writing(self, tensor: Tensor) -> None:
        """Note that memory and tape position of `tensor` are about to change."""
        for changed in (tensor, tensor if tensor._view is None else tensor._view.base):
            version = version_of(changed)
            count = 0 if version is INFERENCE else version[0]
            self._tensors.setdefault(
                id(changed), (changed, changed._node, version, count)
            )
        array = tensor._array
        self._arrays.setdefault(id(array), (array, array.copy(order="K")))

    def binding_grad(self, tensor: Tensor) -> None:
        """Note that ``tensor.grad`` is about to change."""
        self._grads.setdefault(id(tensor), (tensor, tensor._grad))

    def drawing(self, generator: Generator) -> None:
        """Note that a generator is about to advance."""
        self._engines.setdefault(id(generator), (generator, generator.engine.clone()))

    def preparing(self, state: dict[Any, Any]) -> None:
        """Note that an object's state is about to be made."""
        self._states.setdefault(id(state), (state, dict(state)))

    def undo(self) -> None:
        """Put everything back."""
        for array, before in reversed(self._arrays.values()):
            array[...] = before
        for tensor, node, version, count in self._tensors.values():
            tensor._node = node
            if version is not INFERENCE:
                version[0] = count
        for tensor, grad in self._grads.values():
            tensor._grad = grad
        for state, entries in self._states.values():
            state.clear()
            state.update(entries)
        for generator, engine in self._engines.values():
            generator.engine = engine
