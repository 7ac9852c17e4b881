"""A backend of one's own: an array library that counts what it computes.

Any library that follows the Python array API standard will do. This one is NumPy with
a counter in front of each function, so that one sees what reaches it.
"""

import types
from collections import Counter
from typing import Any

import numpy as np

import tracegrad as tg

calls: Counter[str] = Counter()


def counted(name: str, function: Any) -> Any:
    """Return `function`, counting its calls."""

    def call(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return function(*args, **kwargs)

    return call


library = types.SimpleNamespace(**vars(np))
for name in ("add", "multiply", "tanh", "exp", "sum", "matmul"):
    setattr(library, name, counted(name, getattr(np, name)))

tg.backends.register("counting", namespace=library)

x = tg.randn(64, 3, device="cpu").to("counting")
w = tg.ones(3, 2, device="counting", requires_grad=True)
loss = tg.tanh(x @ w).square().sum()
loss.backward()

print(f"loss {loss.item():.3f} on {loss.device}; gradient on {w.grad.device}")
print("the library computed", dict(sorted(calls.items())))
assert w.grad.device.type == "counting"
