"""What is drawn does not move with its parameters, unless it says so."""

import tracegrad as tg


def test_normal_draws_have_no_gradient() -> None:
    mean = tg.zeros(3, requires_grad=True)
    assert not tg.normal(mean, 1.0).requires_grad
    assert not tg.normal(0.0, tg.ones(3, requires_grad=True)).requires_grad
