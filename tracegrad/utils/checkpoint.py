"""checkpoint: forward keeps nothing for backward, which computes it again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, final

import tracegrad as tg
from tracegrad.dispatch.state import install_autocast, thread
from tracegrad.dispatch.tensor import Tensor, version_of
from tracegrad.errors import ArgumentError, CheckpointError
from tracegrad.func.trees import Build, flatten
from tracegrad.location import warn

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


def noop_context_fn() -> Contexts:
    """Return two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function without keeping what its backward needs.

    Parameters
    ----------
    function : callable
        Backward calls it again, with the same arguments.
    *args, **kwargs
        Its arguments; beside them ``preserve_rng_state=True``, whether it draws the
        same random numbers again.
    use_reentrant : bool, optional
        If True, which PyTorch takes without it, results require grad only if a tensor
        among the arguments does.
    context_fn : callable, optional
        Returns the contexts that the function runs in, first and again.
    determinism_check : str
        Accepted: shapes and dtypes are compared always.
    debug, early_stop : bool
        Accepted, without effect.

    Returns
    -------
    object
        What the function returned.

    Raises
    ------
    ArgumentError
        If arguments do not go together.
    CheckpointError
        In backward, if the function gives other tensors the second time.

    Notes
    -----
    Both forms compute the same and work with ``autograd.grad``; inside of a captured
    function, and under functional transforms, it only calls the function.

    Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016).

    Examples
    --------
    >>> import tracegrad as tg
    >>> x = tg.ones(3, requires_grad=True)
    >>> checkpoint(lambda x: (x * x).sum(), x, use_reentrant=False).backward()
    >>> x.grad.tolist()
    [2.0, 2.0, 2.0]
    """
    del early_stop
    if determinism_check not in ("default", "none"):
        raise ArgumentError(
            "checkpoint: determinism_check is 'default' or 'none', "
            f"not {determinism_check!r}"
        )
    if use_reentrant is None:
        warn("checkpoint: pass use_reentrant; without it, it is True")
        use_reentrant = True
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if use_reentrant and kwargs:
        raise ArgumentError(
            "checkpoint: with use_reentrant=True there are no keyword arguments: "
            + ", ".join(kwargs)
        )
    if use_reentrant and (context_fn is not noop_context_fn or debug):
        raise ArgumentError(
            "checkpoint: context_fn and debug go with use_reentrant=False only"
        )
    contexts = context_fn()
    if thread.recorder is not None or thread.transforms or not thread.grad_enabled:
        with contexts[0]:
            return function(*args, **kwargs)
    if use_reentrant and not any(_requires_grad(arg) for arg in args):
        return _without_gradient(function, args)
    return _Call(function, args, kwargs, contexts, preserve).run()


def _requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _without_gradient(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    if any(isinstance(arg, Tensor) for arg in args):
        warn(
            "checkpoint: none of the arguments requires grad, so the results do not "
            "either; pass use_reentrant=False if parameters should get gradients"
        )
    with tg.no_grad():
        return function(*args)


@final
class _Call:
    """One call of a function, and what it takes to repeat it."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        contexts: Contexts,
        preserve_rng_state: bool,
    ) -> None:
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._contexts = contexts
        self._autocast = thread.autocast
        self._random_state = tg.get_rng_state() if preserve_rng_state else None
        self._versions: list[tuple[Tensor, int]] = []

    def run(self) -> Any:
        start = tg.autograd.recompute.begin()
        with self._contexts[0]:
            result = self._function(*self._args, **self._kwargs)
        leaves, build = flatten(result)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        given, _ = flatten((self._args, self._kwargs))
        self._versions = [
            (value, version_of(value)[0])
            for value in given
            if isinstance(value, Tensor) and not value.is_inference()
        ]
        collapsed = tg.autograd.recompute.collapse(tensors, start, self._again)
        return _rebuilt(leaves, collapsed, build)

    def _again(self) -> Sequence[Any]:
        self._check_arguments()
        now = tg.get_rng_state()
        if self._random_state is not None:
            tg.set_rng_state(self._random_state)
        autocast = install_autocast(self._autocast)
        try:
            with self._contexts[1]:
                result = self._function(*self._args, **self._kwargs)
        finally:
            install_autocast(autocast)
            if self._random_state is not None:
                tg.set_rng_state(now)
        return [leaf for leaf in flatten(result)[0] if isinstance(leaf, Tensor)]

    def _check_arguments(self) -> None:
        for tensor, count in self._versions:
            if version_of(tensor)[0] != count:
                raise CheckpointError(
                    "checkpoint: an argument (shape "
                    f"{list(tensor.shape)}) was written in place since forward, which "
                    "can't be computed again"
                )


def _rebuilt(leaves: list[Any], tensors: Sequence[Tensor], build: Build) -> Any:
    new = iter(tensors)
    return build([next(new) if isinstance(x, Tensor) else x for x in leaves])


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Call functions one after the other, checkpointed in segments but for the last.

    Parameters
    ----------
    functions : Sequential or sequence of callable
    segments : int
    input : Tensor
    use_reentrant : bool, optional
        As for `checkpoint`.
    **kwargs
        ``preserve_rng_state``.

    Raises
    ------
    ArgumentError
        If there are other keyword arguments.
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ArgumentError(f"checkpoint_sequential: unknown {', '.join(kwargs)}")
    parts = list(functions)
    size = len(parts) // segments
    end = size * (segments - 1)
    for start in range(0, end, size):
        input = checkpoint(
            _in_line(parts[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _in_line(parts[end:])(input)


def _in_line(functions: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
