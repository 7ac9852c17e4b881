"""What a captured call leaves on the tape: one entry for the whole program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from tracegrad.compiler import DerivedProgram
from tracegrad.dispatch.entry import Edge, Node, SavedTensor, next_sequence
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of, wrap
from tracegrad.errors import GradientError
from tracegrad.ir.interpreter import interpret
from tracegrad.spec import TensorSpec


@final
class ReleasedEntry(Node):
    """The entry of a result whose backward ran inside the captured function."""

    __slots__ = ("__weakref__", "edges", "hooks", "result_specs", "sequence")

    def __init__(self) -> None:
        self.edges: tuple[Any, ...] = ()
        self.hooks = None
        self.result_specs = None
        self.sequence = next_sequence()

    def name(self) -> str:
        """Return the name that users see."""
        return "CapturedBackward"

    def release(self) -> None:
        """Do nothing: nothing is held."""

    def pull(self, ct: Any, create_graph: bool, needed: Any) -> Any:
        """Refuse: as in eager mode, what had been saved is freed."""
        raise GradientError(
            "backward went through this result inside the captured function already "
            "and what it had saved is freed"
        )


@final
class CapturedEntry(Node):
    """The entry of a program: its backward is a program too, derived from its graph.

    Attributes
    ----------
    program : DerivedProgram
    edges : tuple
        Where the gradients of the wanted inputs go.
    saved : list or None
        The residuals: arrays, with the version they had.
    """

    __slots__ = (
        "__weakref__",
        "_leaves",
        "edges",
        "hooks",
        "program",
        "result_specs",
        "saved",
        "sequence",
    )

    def __init__(
        self,
        program: DerivedProgram,
        leaves: Sequence[Any],
        written: frozenset[int],
        outputs: Mapping[int, SavedTensor],
        computed: Sequence[Any],
    ) -> None:
        self.program = program
        self.hooks = None
        self.edges: tuple[Edge | None, ...] = tuple(
            edge_of(leaves[i]) for i in program.wanted_positions
        )
        self.result_specs = program.result_specs
        self.sequence = next_sequence()
        self.saved: list[SavedTensor] | None = []
        for kind, index in program.residual_sources:
            if kind == "input":
                self.saved.append(_saved(leaves[index], index in written))
            elif kind == "output":
                self.saved.append(outputs[index])
            else:
                self.saved.append(SavedTensor(computed[index], None, [0]))
        # For a derivative of the derivative: the inputs, as they were.
        self._leaves: list[Any] | None = [
            _kept(leaf, index in written) if index in program.kept_inputs else None
            for index, leaf in enumerate(leaves)
        ]

    def name(self) -> str:
        """Return the name that users see."""
        return "CapturedBackward"

    def release(self) -> None:
        """Let go of what was saved; where nothing was, backward can run again."""
        if self.saved:
            self.saved = None
            self._leaves = None

    def pull(self, ct: Any, create_graph: bool, needed: Any) -> Any:
        """Return the gradients of the inputs, with where they go.

        Raises
        ------
        GradientError
            If what was saved is freed, or was written since.
        """
        if self.saved is None or self._leaves is None:
            raise GradientError(
                f"{self.name()}: backward went through here already and what it had "
                "saved is freed; pass retain_graph=True to the first backward"
            )
        parts = ct if ct.__class__ is list else [ct]
        given = {k for k, part in enumerate(parts) if part is not None}
        cts = self._cotangents(parts)
        found = self._differentiable(cts) if create_graph else self._computed(cts)
        return [
            (edge, grad)
            for edge, grad, leading in zip(
                self.edges, found, self.program.leading, strict=True
            )
            # What no cotangent leads to has no gradient, which is not one of zeros.
            if edge is not None and not given.isdisjoint(leading)
        ]

    def _cotangents(self, parts: Sequence[Any]) -> list[Tensor]:
        values = self.program.derived.cotangents
        return [
            _zeros(value.spec) if part is None else part
            for part, value in zip(parts, values, strict=True)
        ]

    def _computed(self, cts: list[Tensor]) -> list[Tensor]:
        assert self.saved is not None
        arrays = [_checked(self, kept).array for kept in self.saved]
        arrays += [ct._array for ct in cts]
        try:
            results, _ = self.program.backward().executable(arrays)
        except Exception:
            return self._interpreted(arrays)
        return [wrap(array) for array in results]

    def _interpreted(self, arrays: list[Any]) -> list[Tensor]:
        """Run the backward graph through the eager kernels: there is no program."""
        given = list(map(wrap, arrays))
        return list(interpret(self.program.derived.backward, *given))

    def _differentiable(self, cts: list[Tensor]) -> list[Tensor]:
        """Run forward and backward through the dispatcher, onto the tape."""
        assert self._leaves is not None
        inputs = [_restored(self, leaf) for leaf in self._leaves]
        return list(interpret(self.program.joint, *inputs, *cts))


def _saved(leaf: Tensor, written: bool) -> SavedTensor:
    if written:
        # The call itself is about to write it.
        return SavedTensor(leaf._array.copy(order="K"), edge_of(leaf), [0])
    return SavedTensor(leaf._array, edge_of(leaf), version_of(leaf))


def _kept(leaf: Any, written: bool) -> Any:
    if isinstance(leaf, Tensor):
        return _saved(leaf, written)
    if isinstance(leaf, Generator):
        copied = Generator()
        copied.engine = leaf.engine.clone()
        return copied
    return leaf


def _checked(entry: CapturedEntry, kept: SavedTensor) -> SavedTensor:
    if kept.version[0] != kept.count:
        raise GradientError(
            f"{entry.name()}: a tensor that backward needs (shape "
            f"{list(kept.array.shape)}) was written in place since; it is at version "
            f"{kept.version[0]}, was saved at version {kept.count}"
        )
    return kept


def _restored(entry: CapturedEntry, kept: Any) -> Any:
    if not isinstance(kept, SavedTensor):
        return kept
    tensor = wrap(_checked(entry, kept).array)
    tensor._node = kept.edge
    tensor._counter = kept.version
    return tensor


def _zeros(spec: Any) -> Tensor:
    assert isinstance(spec, TensorSpec)
    return Tensor.zeros_of_spec(spec)  # type: ignore[attr-defined, no-any-return]
