"""`weight_norm` and `spectral_norm` of old: a hook sets the weight before each call."""

from __future__ import annotations

from typing import Any, TypeVar

from tracegrad import no_grad
from tracegrad.dispatch.tensor import Parameter
from tracegrad.errors import ArgumentError
from tracegrad.nn.functional import normalize
from tracegrad.nn.modules.module import Module
from tracegrad.nn.utils.parametrizations import default_dim, norm_except_dim
from tracegrad.ops.contraction import dot, mv
from tracegrad.ops.creation import empty

AnyModule = TypeVar("AnyModule", bound=Module)


class WeightNorm:
    """The hook of `weight_norm`."""

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Any) -> Any:
        """Return the weight of its lengths and directions."""
        g = getattr(module, f"{self.name}_g")
        v = getattr(module, f"{self.name}_v")
        return v * (g / norm_except_dim(v, 2, self.dim))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Set the weight."""
        setattr(module, self.name, self.compute_weight(module))


def _taken_out(module: Any, name: str) -> Any:
    weight = module._parameters.get(name)
    if weight is None:
        raise ArgumentError(f"{type(module).__name__} has no parameter {name!r}")
    del module._parameters[name]
    return weight


def _handles(module: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = module.__dict__.setdefault("_norm_hooks", {})
    return found


def _add(module: Any, kind: type, hook: Any) -> None:
    handle = module.register_forward_pre_hook(hook)
    _handles(module)[(kind, hook.name)] = (handle, hook)


def _removed(module: Any, kind: type, name: str) -> Any:
    if (kind, name) not in _handles(module):
        raise ArgumentError(
            f"{kind.__name__} of {name!r} not found in {type(module).__name__}"
        )
    handle, hook = _handles(module).pop((kind, name))
    handle.remove()
    return hook


def weight_norm(
    module: AnyModule, name: str = "weight", dim: int | None = 0
) -> AnyModule:
    """Make a weight of lengths ``name_g`` and directions ``name_v``; return the module.

    Parameters
    ----------
    module : Module
    name : str
    dim : int or None
        Along which there is one length each; None for one in all.

    Notes
    -----
    Source: Salimans, Kingma, "Weight Normalization" (2016).
    """
    hook = WeightNorm(name, -1 if dim is None else dim)
    weight = _taken_out(module, name)
    with no_grad():
        lengths: Any = norm_except_dim(weight, 2, hook.dim)
    module.register_parameter(f"{name}_g", Parameter(lengths.detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    _add(module, WeightNorm, hook)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Make the weight an ordinary parameter again, and return the module."""
    hook = _removed(module, WeightNorm, name)
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[f"{name}_g"]
    del module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight.detach()))
    return module


class SpectralNorm:
    """The hook of `spectral_norm`."""

    def __init__(self, name: str, count: int, dim: int, eps: float) -> None:
        self.name = name
        self.n_power_iterations = count
        self.dim = dim
        self.eps = eps

    def matrix(self, weight: Any) -> Any:
        """Return the weight as a matrix with one row for each output."""
        if self.dim != 0:
            rest = [d for d in range(weight.ndim) if d != self.dim]
            weight = weight.permute(self.dim, *rest)
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Any, power: bool) -> Any:
        """Return the weight over its largest singular value."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = (getattr(module, f"{self.name}_{side}") for side in "uv")
        matrix = self.matrix(weight)
        if power:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(mv(matrix, v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / dot(u, mv(matrix, v))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Set the weight."""
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: AnyModule,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> AnyModule:
    """Divide a weight by its largest singular value at each call; return the module.

    Parameters
    ----------
    module : Module
    name : str
    n_power_iterations : int
        Steps of the power method at each call in training.
    eps : float
    dim : int, optional
        Which dimension counts the outputs.

    Notes
    -----
    Source: Miyato et al., "Spectral Normalization for Generative Adversarial Networks"
    (2018).
    """
    if n_power_iterations <= 0:
        raise ArgumentError(
            f"n_power_iterations must be positive, not {n_power_iterations}"
        )
    side = default_dim(module) if dim is None else dim
    hook = SpectralNorm(name, n_power_iterations, side, eps)
    weight = _taken_out(module, name)
    matrix = hook.matrix(weight.detach())
    made = {"dtype": weight.dtype, "device": weight.device}
    vectors = []
    for size in matrix.shape:
        drawn: Any = empty(size, **made)
        vectors.append(normalize(drawn.normal_(0, 1), dim=0, eps=eps))
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", vectors[0])
    module.register_buffer(f"{name}_v", vectors[1])
    _add(module, SpectralNorm, hook)
    return module


def remove_spectral_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Make the weight an ordinary parameter again, and return the module."""
    hook = _removed(module, SpectralNorm, name)
    with no_grad():
        weight = hook.compute_weight(module, False)
    delattr(module, name)
    for side in "uv":
        delattr(module, f"{name}_{side}")
    delattr(module, f"{name}_orig")
    module.register_parameter(name, Parameter(weight.detach()))
    return module
