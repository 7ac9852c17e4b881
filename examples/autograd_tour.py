"""A tour of autograd: gradients, gradients of gradients, views, and your own rules.

Run it with ``python examples/autograd_tour.py``; it needs NumPy only. Those who know
PyTorch will find nothing new but the name.
"""

import tracegrad as tg

# -- 1. A gradient ----------------------------------------------------------------
# A tensor that requires grad is a leaf. What is computed from it goes on the tape,
# and backward() walks the tape from the result to the leaves.

x = tg.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x**2).sum()
y.backward()
print("gradient of sum(x**2):", x.grad.tolist())
assert x.grad.tolist() == [2.0, 4.0, 6.0]

# Gradients add up in x.grad until you clear it.
(3 * x).sum().backward()
assert x.grad.tolist() == [5.0, 7.0, 9.0]
x.grad = None

# -- 2. Without touching .grad ----------------------------------------------------
# autograd.grad returns gradients instead. create_graph=True puts the gradient itself
# on the tape, so that it can be differentiated again.

(first,) = tg.autograd.grad((x**3).sum(), x, create_graph=True)
(second,) = tg.autograd.grad(first.sum(), x)
print("second derivative of x**3:", second.tolist())
assert second.tolist() == [6.0, 12.0, 18.0]

# -- 3. Without a tape ------------------------------------------------------------

with tg.no_grad():
    assert not (x * 2).requires_grad
assert not x.detach().requires_grad

# -- 4. Views and writing in place ------------------------------------------------
# A view shares memory with its base. Writing into the view writes into the base, in
# its values and on its tape.

base = tg.zeros(4, requires_grad=True) * 1
base[1:3].add_(x[:2])
base.sum().backward()
print("what flowed through the view:", x.grad.tolist())
assert base.tolist() == [0.0, 1.0, 2.0, 0.0]
assert x.grad.tolist() == [1.0, 1.0, 0.0]

# What backward still needs must not be written over. The version counters notice.
z = tg.ones(2, requires_grad=True)
result = tg.exp(z)
result.mul_(2)  # exp's derivative is its own result, which is now another number
try:
    result.sum().backward()
except tg.errors.GradientError as error:
    print("refused:", str(error).split(";", maxsplit=1)[0])
else:
    raise AssertionError("a stale value was used")

# -- 5. Your own rule -------------------------------------------------------------
# A Function states forward and backward. This one has a gradient that is not its
# derivative: it lets the gradient of rounding pass as if nothing had been rounded.


class StraightThrough(tg.autograd.Function):
    """Round; pass the gradient on."""

    @staticmethod
    def forward(ctx, value):
        """Return the rounded value."""
        return tg.round(value)

    @staticmethod
    def backward(ctx, gradient):
        """Return the gradient by `value`."""
        return gradient


w = tg.tensor([0.3, 1.7], requires_grad=True)
StraightThrough.apply(w).sum().backward()
assert w.grad.tolist() == [1.0, 1.0]

# -- 6. Is it right? --------------------------------------------------------------
# gradcheck compares the derivative with differences of values, in double precision.

point = tg.tensor([0.5, -1.2], dtype=tg.float64, requires_grad=True)
assert tg.autograd.gradcheck(lambda p: tg.sin(p) * tg.exp(p), (point,))
print("gradcheck agrees")
