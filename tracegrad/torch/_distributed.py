"""``torch.distributed`` for a group of one process; more are refused.

With one process every collective operation is the identity, which is what these do.
"""

from __future__ import annotations

import enum
from typing import Any, final

import tracegrad as tg
from tracegrad.errors import NotSupportedError, StateError


class ReduceOp(enum.Enum):
    """How tensors of several processes are joined; with one, all agree."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


@final
class _Group:
    """The group of this process alone."""

    WORLD = None


group = _Group
_groups: list[str] = []


@final
class Work:
    """A collective operation, which is done."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True at once."""
        return True

    def is_completed(self) -> bool:
        """Return True."""
        return True


def is_available() -> bool:
    """Return True: a group of one process can be made."""
    return True


def is_initialized() -> bool:
    """Return whether `init_process_group` was called."""
    return bool(_groups)


def is_nccl_available() -> bool:
    """Return False."""
    return False


def is_mpi_available() -> bool:
    """Return False."""
    return False


def is_gloo_available() -> bool:
    """Return False."""
    return False


def is_torchelastic_launched() -> bool:
    """Return False."""
    return False


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    **options: Any,
) -> None:
    """Make the group of this process alone.

    Raises
    ------
    NotSupportedError
        If more than one process is asked for.
    StateError
        If there is a group already.
    """
    if world_size > 1 or rank > 0:
        raise NotSupportedError(
            "init_process_group(): tracegrad runs in one process, and "
            f"world_size={world_size}, rank={rank} asks for more"
        )
    if _groups:
        raise StateError("init_process_group() was called before; destroy that first")
    _groups.append(backend or "single")


def destroy_process_group(group: Any = None) -> None:
    """Forget the group."""
    _needed("destroy_process_group")
    _groups.clear()


def _needed(who: str) -> None:
    if not _groups:
        raise StateError(f"{who}() comes after init_process_group()")


def get_backend(group: Any = None) -> str:
    """Return the name that `init_process_group` was given."""
    _needed("get_backend")
    return _groups[0]


def get_rank(group: Any = None) -> int:
    """Return 0."""
    _needed("get_rank")
    return 0


def get_world_size(group: Any = None) -> int:
    """Return 1."""
    _needed("get_world_size")
    return 1


def new_group(ranks: Any = None, **options: Any) -> type[_Group]:
    """Return the group of this process."""
    _needed("new_group")
    return _Group


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Any:
    """Return at once: nobody else is waited for."""
    _needed("barrier")
    return Work() if async_op else None


def all_reduce(
    tensor: tg.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Leave the tensor as it is: it is the only one."""
    _needed("all_reduce")
    return Work() if async_op else None


def reduce(
    tensor: tg.Tensor,
    dst: int = 0,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Leave the tensor as it is: it is the only one."""
    _needed("reduce")
    return Work() if async_op else None


def broadcast(
    tensor: tg.Tensor, src: int = 0, group: Any = None, async_op: bool = False
) -> Any:
    """Leave the tensor as it is: it comes from here."""
    _needed("broadcast")
    return Work() if async_op else None


def all_gather(
    tensor_list: list[tg.Tensor],
    tensor: tg.Tensor,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Copy the tensor to the one place of the list."""
    _needed("all_gather")
    tensor_list[0].copy_(tensor)
    return Work() if async_op else None


def gather(
    tensor: tg.Tensor,
    gather_list: list[tg.Tensor] | None = None,
    dst: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Copy the tensor to the one place of the list."""
    _needed("gather")
    if gather_list:
        gather_list[0].copy_(tensor)
    return Work() if async_op else None


def scatter(
    tensor: tg.Tensor,
    scatter_list: list[tg.Tensor] | None = None,
    src: int = 0,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Copy the one tensor of the list."""
    _needed("scatter")
    if scatter_list:
        tensor.copy_(scatter_list[0])
    return Work() if async_op else None


def reduce_scatter(
    output: tg.Tensor,
    input_list: list[tg.Tensor],
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Copy the one tensor of the list."""
    _needed("reduce_scatter")
    output.copy_(input_list[0])
    return Work() if async_op else None
