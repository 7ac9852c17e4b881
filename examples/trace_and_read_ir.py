"""Capture a training step, read its graph and its source, and change its inputs.

Run it with ``python examples/trace_and_read_ir.py``; it needs no files and no GPU.
"""

import numpy as np

import tracegrad as tg

# -- 1. A training step -----------------------------------------------------------
# Nothing in it knows that it will be captured: forward, backward and the update are
# ordinary eager code.


def step(x, y, weight, rate):
    """Make one step of linear regression and return the loss."""
    loss = ((x @ weight - y) ** 2).mean()
    loss.backward()
    with tg.no_grad():
        weight -= rate * weight.grad
    weight.grad = None
    return loss.detach()


rng = np.random.default_rng(0)
x = tg.tensor(rng.standard_normal((32, 3)), dtype=tg.float32)
truth = tg.tensor([[2.0], [-1.0], [0.5]])
y = x @ truth

# -- 2. Capture it ----------------------------------------------------------------
# The first call is an ordinary call that is written down. Later calls run the program
# made of it, as long as everything that the function read is as it was.

traced = tg.trace(step)
weight = tg.zeros(3, 1, requires_grad=True)
losses = [traced(x, y, weight, 0.1).item() for _ in range(20)]
print(f"loss: {losses[0]:.4f} at first, {losses[-1]:.4f} after 20 steps")

# The same steps, eagerly: the captured function is there as `.eager`.
again = tg.zeros(3, 1, requires_grad=True)
eager_losses = [traced.eager(x, y, again, 0.1).item() for _ in range(20)]
assert np.allclose(losses, eager_losses, rtol=1e-5, atol=1e-7)

# -- 3. Read the graph ------------------------------------------------------------
# Each line is one operator, with the line of this file that it came from. The whole
# step is there: `weight` is written at the end, and its gradient is cleared.

print()
print(traced.graph)

# The text is the graph: it parses back to an equal one, and the interpreter runs it.
parsed = tg.ir.parse(str(traced.graph))
assert parsed == traced.graph
(loss,) = tg.ir.interpret(parsed, x, y, weight)
print(f"the interpreter's loss: {loss.item():.6f}")

# -- 4. Read the source -----------------------------------------------------------
# What runs is a Python module that needs NumPy only. Debuggers step through it.

print()
print(traced.source)

# -- 5. Change a number -----------------------------------------------------------
# The learning rate was a constant of the program. When it changes, one more program is
# made in which it is an input; further changes are served by that one.

for rate in (0.05, 0.02, 0.01):
    traced(x, y, weight, rate)
print(traced.explain())
assert len(traced.specializations) == 2

# -- 6. Change a shape ------------------------------------------------------------
# Another shape is another program, and explain() says so.

traced(x[:16], y[:16], weight, 0.01)
print()
print(traced.explain())
