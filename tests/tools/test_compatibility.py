"""The page of compatibility says what the registry says, or why a name is absent."""

import tracegrad as tg
from tools.compatibility import (
    compatibility_page,
    entry_of,
    look_up,
    surface_names,
)
from tracegrad.dispatch.operator import OPERATORS


def line_of(page, name):
    (line,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_each_name_stands_on_the_page_once():
    page = compatibility_page()
    for name in surface_names():
        assert page.count(f"`{name}`") == 1, name


def test_an_operators_line_is_what_the_registry_says():
    page = compatibility_page()
    name, eager, gradient, meta, numpy, _, cuda = line_of(page, "torch.exp")
    assert (name, eager) == ("`torch.exp`", "operator")
    assert (gradient, meta, numpy, cuda) == ("yes", "yes", "fused", "fused")
    assert line_of(page, "torch.sparse_coo_tensor")[1].startswith("sparse tensors")


def test_what_has_no_derivative_is_seen(monkeypatch):
    monkeypatch.setattr(OPERATORS["exp"], "vjp_rules", {})
    assert entry_of("torch.exp", tg.exp).gradient == ""


def test_an_absent_name_is_seen():
    assert look_up("torch.no_such_name") is look_up("Tensor.no_such_name")
    assert look_up("torch.exp") is tg.exp
    assert look_up("torch.nn.functional.relu") is tg.nn.functional.relu
