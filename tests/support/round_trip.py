"""What every graph that a test makes has to satisfy."""

import tracegrad.ir as ir


def check_round_trip(graph: ir.Graph) -> None:
    """Assert that `graph` obeys the IR's rules and that its text gives it back."""
    ir.verify(graph)
    text = str(graph)
    back = ir.parse(text)
    assert str(back) == text
    assert back == graph
    assert hash(back) == hash(graph)
