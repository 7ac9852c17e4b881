"""autocast, and what custom derivatives need of it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, final

from tracegrad.amp.casting import Casting
from tracegrad.device import backend_of
from tracegrad.dispatch.state import install_autocast, thread
from tracegrad.dispatch.tensor import Tensor
from tracegrad.dtypes import DType, bfloat16, float16
from tracegrad.errors import DeviceError
from tracegrad.location import warn

# Kinds of devices that PyTorch knows, in which nothing computes here.
_ABSENT = ("mps", "xpu", "xla", "hpu", "ipu", "mtia", "maia", "privateuseone")
_LOWER = (bfloat16, float16)


@final
class _ThreadSettings(threading.local):
    """What autocast is set to in a thread.

    Attributes
    ----------
    dtypes : dict of str to DType
        The lower precision by kind of device, where none is given.
    depth : int
        How many blocks are entered.
    cache : dict
        Of weights that were cast, until the outermost block ends.
    is_caching : bool
    """

    def __init__(self) -> None:
        self.dtypes = {"cpu": bfloat16, "cuda": float16}
        self.depth = 0
        self.cache: dict[Any, Any] = {}
        self.is_caching = True


_settings = _ThreadSettings()


def _enabled_dtypes() -> dict[str, DType]:
    current = thread.autocast
    return dict(current.dtypes) if isinstance(current, Casting) else {}


def _install(dtypes: dict[str, DType]) -> Any:
    cache = _settings.cache if _settings.is_caching else None
    return install_autocast(Casting(dtypes, cache) if dtypes else None)


@final
class autocast:  # noqa: N801 - PyTorch's name
    """Choose the precision of each operator, as a context manager or a decorator.

    Parameters
    ----------
    device_type : str
        On which kind of device: ``"cpu"`` or ``"cuda"``.
    dtype : DType, optional
        The lower precision: bfloat16 (which needs ml_dtypes) or float16. Without it,
        bfloat16 on the CPU and float16 on CUDA.
    enabled : bool
        False turns it off within a block.
    cache_enabled : bool, optional
        Whether weights that were cast are kept until the outermost block ends.

    Raises
    ------
    DeviceError
        If the kind of device is not known.

    Notes
    -----
    Products of matrices and convolutions compute in the lower precision, losses in
    float32, all else in the dtypes of its operands: the lists are PyTorch's. Inside of
    ``backward()`` it is off: cotangents have the dtypes that forward chose.

    Examples
    --------
    >>> import tracegrad as tg
    >>> with autocast("cpu", dtype=tg.float16):
    ...     y = tg.ones(2, 2) @ tg.ones(2, 2)
    >>> y.dtype
    tracegrad.float16
    """

    def __init__(
        self,
        device_type: str,
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _checked_device_type(device_type)
        self.fast_dtype = dtype or get_autocast_dtype(device_type)
        self._enabled = bool(enabled) and self._is_possible()
        self._cache_enabled = cache_enabled
        self._befores: list[tuple[Any, bool, DType | None]] = []

    def _is_possible(self) -> bool:
        """Return whether it can be on; warn if not."""
        if not is_autocast_available(self.device):
            warn(f"autocast for {self.device!r}, which can't be used here, is off")
            return False
        if self.fast_dtype not in _LOWER:
            warn(
                f"autocast for {self.device!r} is off: its dtype can be bfloat16 or "
                f"float16, not {self.fast_dtype.name}"
            )
            return False
        return True

    def __enter__(self) -> autocast:
        caching = _settings.is_caching
        if self._cache_enabled is not None:
            _settings.is_caching = self._cache_enabled
        dtypes = _enabled_dtypes()
        dtypes.pop(self.device, None)
        if self._enabled:
            dtypes[self.device] = self.fast_dtype
        lower = _settings.dtypes.get(self.device)
        _settings.dtypes[self.device] = self.fast_dtype
        self._befores.append((_install(dtypes), caching, lower))
        _settings.depth += 1
        return self

    def __exit__(self, *exception: object) -> None:
        before, _settings.is_caching, lower = self._befores.pop()
        if lower is not None:
            _settings.dtypes[self.device] = lower
        install_autocast(before)
        _settings.depth -= 1
        if _settings.depth == 0:
            clear_autocast_cache()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return `func` run in such a block."""

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return wrapped


def _checked_device_type(device_type: Any) -> str:
    if isinstance(device_type, str) and device_type in ("cpu", "cuda", *_ABSENT):
        return device_type
    raise DeviceError(
        "autocast: device_type should be the kind of a device, such as 'cpu' or "
        f"'cuda', not {device_type!r}"
    )


# -- what it is set to -----------------------------------------------------------------


def is_autocast_available(device_type: str) -> bool:
    """Return whether autocast can be used on a kind of device."""
    if _checked_device_type(device_type) == "cpu":
        return True
    try:
        backend_of(device_type)
    except DeviceError:
        return False
    return True


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return whether autocast is on, on a kind of device or on CUDA."""
    return (device_type or "cuda") in _enabled_dtypes()


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Turn autocast on or off, on a kind of device."""
    dtypes = _enabled_dtypes()
    dtypes.pop(_checked_device_type(device_type), None)
    if enabled:
        dtypes[device_type] = get_autocast_dtype(device_type)
    _install(dtypes)


def get_autocast_dtype(device_type: str) -> DType:
    """Return the lower precision on a kind of device."""
    device_type = _checked_device_type(device_type)
    return _settings.dtypes.get(device_type, float16)


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set the lower precision where none is given."""
    _settings.dtypes[_checked_device_type(device_type)] = dtype


def is_autocast_cache_enabled() -> bool:
    """Return whether weights that were cast are kept."""
    return _settings.is_caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether weights that were cast are kept."""
    _settings.is_caching = enabled


def clear_autocast_cache() -> None:
    """Forget weights that were cast."""
    _settings.cache.clear()


# -- custom derivatives ----------------------------------------------------------------


def _cast_tree(value: Any, device_type: str, dtype: DType) -> Any:
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.dtype.name != "float64"
        if eligible and value.device.type == device_type:
            return value.to(dtype)  # type: ignore[attr-defined]
        return value
    if isinstance(value, dict):
        return {k: _cast_tree(part, device_type, dtype) for k, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cast_tree(part, device_type, dtype) for part in value)
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: DType | None = None,
) -> Callable[..., Any]:
    """Decorate the forward of an ``autograd.Function`` for autocast.

    Parameters
    ----------
    fwd : callable, optional
    device_type : str
    cast_inputs : DType, optional
        Cast floating inputs to it and turn autocast off inside; without it, forward
        runs in the state around it.
    """
    if fwd is None:
        return functools.partial(
            custom_fwd, device_type=device_type, cast_inputs=cast_inputs
        )
    function = fwd

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        context = args[0]
        context._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        if cast_inputs is None or not enabled:
            context._fwd_used_autocast = enabled and cast_inputs is None
            return function(*args, **kwargs)
        context._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return function(
                *_cast_tree(args, device_type, cast_inputs),
                **_cast_tree(kwargs, device_type, cast_inputs),
            )

    return decorated


def custom_bwd(
    bwd: Callable[..., Any] | None = None, *, device_type: str
) -> Callable[..., Any]:
    """Decorate the backward: it runs with autocast as forward did.

    Parameters
    ----------
    bwd : callable, optional
    device_type : str
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    function = bwd

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        context = args[0]
        used = context._fwd_used_autocast
        with autocast(device_type, enabled=used, dtype=context._dtype):
            return function(*args, **kwargs)

    return decorated
