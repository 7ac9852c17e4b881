"""What a functional transform knows of tensors, beside the tensors themselves.

Tensors stay as they are under a transform; what belongs to one level of nesting (a
tangent, a place on that level's tape) is kept here. So nested levels cannot be
confused: each looks in its own table.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tracegrad.dispatch.inplace import freeze_path
from tracegrad.dispatch.state import install_transforms, thread
from tracegrad.dispatch.tensor import ORIGINS, Tensor
from tracegrad.errors import InplaceError


class LevelTransform(ABC):
    """A transform that keeps a value for each tensor it concerns.

    A view's value follows from its base's: after a write into the base the view
    operators are applied again. What is written into a view becomes part of the
    base's value by ``view_write``.
    """

    functional = True

    def __init__(self) -> None:
        self._cells: dict[int, tuple[weakref.ref[Any], Any, Any]] = {}

    def value_of(self, tensor: Tensor) -> Any:
        """Return what this level keeps for `tensor`, or None."""
        cell = self._cells.get(id(tensor))
        view = tensor._view
        if view is None:
            return None if cell is None else cell[1]
        of_base = self.value_of(view.base)
        if cell is not None and cell[2] is of_base:
            return cell[1]
        if of_base is None:
            return None
        if view.origin == "no_grad":
            return None
        if cell is not None and view.origin:
            raise InplaceError(
                f"a view {ORIGINS[view.origin]} can't be used after its base was "
                "written in place under a functional transform"
            )
        again = view.base
        with self.active():
            for operator, attributes, index in view.path:
                found = operator.apply((again,), attributes)
                again = found[index] if isinstance(found, tuple) else found
        value = self.value_of(again)
        self.keep(tensor, value)
        return value

    def keep(self, tensor: Tensor, value: Any) -> None:
        """Let this level have `value` for `tensor`."""
        key = id(tensor)
        # Weakly both ways: the level must not keep itself, nor a tensor, in memory.
        level = weakref.ref(self)

        def forget(_: Any) -> None:
            alive = level()
            if alive is not None:
                alive._cells.pop(key, None)

        view = tensor._view
        stamp = None if view is None else self.value_of(view.base)
        self._cells[key] = (weakref.ref(tensor, forget), value, stamp)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Run a block with this level innermost."""
        before = install_transforms((*thread.transforms, self))  # type: ignore[arg-type]
        try:
            yield
        finally:
            install_transforms(before)

    @abstractmethod
    def written(self, base: Tensor, value: Tensor, path: tuple[Any, ...]) -> Any:
        """Return the base's value after `value` was written through a view path."""

    def note_write(self, target: Tensor, value: Tensor) -> None:
        """Bring the values up to date for a write of `value` into `target`."""
        view = target._view
        if view is None:
            self.keep(target, self.written(target, value, ()))
            return
        if self.value_of(view.base) is None and self.value_of(value) is None:
            return
        if view.origin:
            raise InplaceError(
                f"a view {ORIGINS[view.origin]} can't be written in place under a "
                "functional transform"
            )
        self.keep(view.base, self.written(view.base, value, freeze_path(view.path)))
