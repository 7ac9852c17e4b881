"""The page that says of each name of PyTorch's surface what tracegrad has of it.

The names are those that public programs use, commonest first (`surface_names.txt`).
What stands beside a name is read from the registry.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, final

import tracegrad as tg
from tracegrad.cli.describe import fusion_role, gradient_of
from tracegrad.dispatch.operator import FUNCTIONS, OPERATORS, OpDef

NAMES_FILE = Path(__file__).with_name("surface_names.txt")
_MISSING = object()

_HEAD = """\
# Compatibility

Written by `tools/generate.py` from the registry, not by hand: the {count} names of
PyTorch that public programs use, the commonest first. {have} of them are there; under
`import tracegrad.torch as torch`, or `python -m tracegrad.torch script.py`, they have
PyTorch's module paths.

- *eager*: `operator`, one definition in the registry; `function`, it chooses among
  operators; `class`, `module`, `method`, `attribute`, `value`.
- *gradient*: `yes` where the operator states a derivative, `zero` where that is 0, `of
  its parts` where it is computed by operators that have theirs.
- *meta*: whether it works on shapes without data. What is computed by operators does
  where they do.
- *numpy*, *c*, *cuda*: what it is in an emitted program of the target: part of a fused
  kernel (`fused`), a `call` of the array library, a `view`, or `parts`. The C target is
  not built yet; `text` marks an operator whose text it would take.

A dash: there is nothing to say; it is Python around operators.
"""
_LEFT_OUT = """\
## Left out

These are not there, on purpose.

| name | why |
| --- | --- |"""
_NOT_YET = """\
## Not there yet

"""
_COLUMNS = ("name", "eager", "gradient", "meta", "numpy", "c", "cuda")

# Beside those that the facade itself gives reasons for.
_REASONS = {
    "Tensor.index": "counted by mistake: a method of lists",
    "Tensor.values": "of sparse tensors, which are left out; dicts have one too",
    "torch._amp_foreach_non_finite_check_and_unscale_": "private to its GradScaler",
    "torch.fx.proxy.GraphAppendingTracer": "private to PyTorch's tracer",
    "torch.nn.modules.linear.NonDynamicallyQuantizableLinear": "about quantisation",
    "torch.ops.profiler._record_function_enter": "private to PyTorch's profiler",
    "torch.ops.profiler._record_function_exit": "private to PyTorch's profiler",
}


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the table; empty cells are dashes."""

    name: str
    eager: str
    gradient: str = ""
    meta: str = ""
    numpy: str = ""
    c: str = ""
    cuda: str = ""


def surface_names() -> list[str]:
    """Return the names, the commonest first."""
    return NAMES_FILE.read_text(encoding="utf-8").split()


def compatibility_page() -> str:
    """Return the page."""
    # Both define operators that stand in graphs only.
    import_module("tracegrad.ir")
    import_module("tracegrad.nn")
    found = {name: look_up(name) for name in surface_names()}
    have = {name: value for name, value in found.items() if value is not _MISSING}
    reasons = {name: _reason(name) for name in found if name not in have}
    lines = [_HEAD.format(count=len(found), have=len(have)), *_table(have)]
    left_out = {name: why for name, why in reasons.items() if why}
    if left_out:
        lines += ["", _LEFT_OUT]
        lines += [f"| `{name}` | {why} |" for name, why in left_out.items()]
    rest = [name for name, why in reasons.items() if not why]
    if rest:
        lines += ["", _NOT_YET + ", ".join(f"`{name}`" for name in rest)]
    return "\n".join(lines) + "\n"


def look_up(name: str) -> Any:
    """Return what tracegrad has under one of PyTorch's names, or `_MISSING`."""
    owner, *parts = name.split(".")
    starts = {"Tensor": tg.Tensor, "Module": tg.nn.Module}
    found: Any = starts.get(owner) or import_module("tracegrad.torch")
    for part in parts:
        if inspect.isclass(found):
            found = _of_class(found, part)
        else:
            found = getattr(found, part, _MISSING)
        if found is _MISSING:
            return _MISSING
    return found


def _of_class(cls: type, name: str) -> Any:
    return inspect.getattr_static(cls, name, _MISSING)


def _table(have: dict[str, Any]) -> Iterator[str]:
    yield _line(_COLUMNS)
    yield _line(("---",) * len(_COLUMNS))
    for name, value in have.items():
        entry = entry_of(name, value)
        cells = [getattr(entry, column) or "-" for column in _COLUMNS]
        yield _line((f"`{entry.name}`", *cells[1:]))


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def entry_of(name: str, value: Any) -> Entry:
    """Return the line for a name and what it stands for."""
    operator = _operator_of(name, value)
    if operator is not None:
        return _of_operator(name, operator)
    if _is_function_of_operators(name, value):
        return Entry(name, "function", "of its parts", "yes", *("parts",) * 3)
    if inspect.ismodule(value):
        return Entry(name, "module")
    if inspect.isclass(value):
        layer = issubclass(value, tg.nn.Module)
        targets = ("parts",) * 3 if layer else ("",) * 3
        gradient, meta = ("of its parts", "yes") if layer else ("", "")
        return Entry(name, "class", gradient, meta, *targets)
    if isinstance(value, property):
        return Entry(name, "attribute")
    owner = name.partition(".")[0]
    kind = "method" if owner in ("Tensor", "Module") else "function"
    return Entry(name, kind if callable(value) or owner != "torch" else "value")


def _operator_of(name: str, value: Any) -> OpDef | None:
    last = name.rpartition(".")[2]
    operator = OPERATORS.get(last.removesuffix("_")) or OPERATORS.get(last)
    if operator is None:
        return None
    if name.startswith("Tensor."):
        fast = operator.facts.get("fast")
        ours = (operator.call, fast, getattr(tg.Tensor, last, None))
        return operator if value in ours else None
    return operator if value is operator.call else None


def _is_function_of_operators(name: str, value: Any) -> bool:
    last = name.rpartition(".")[2]
    if name.startswith("Tensor."):
        return last.removesuffix("_") in FUNCTIONS and callable(value)
    entered = FUNCTIONS.get(last)
    computes = name.startswith("torch.nn.functional.") and callable(value)
    return computes or (entered is not None and entered.function is value)


def _of_operator(name: str, operator: OpDef) -> Entry:
    gradient = gradient_of(operator).replace("its body", "its parts")
    meta = "yes" if operator.states_abstract or operator.body is not None else "no"
    role = fusion_role(operator)
    emitted = {
        "element by element": ("fused", "text", "fused"),
        "reduction": ("fused", "text", "fused"),
        "change of index": ("view", "text", "view"),
        "its parts": ("parts", "parts", "parts"),
    }
    return Entry(
        name, "operator", gradient, meta, *emitted.get(role, ("call", "", "call"))
    )


def _reason(name: str) -> str:
    table = import_module("tracegrad.torch._table")
    if name in _REASONS:
        return _REASONS[name]
    absent: dict[str, str] = table.ABSENT
    for known, why in absent.items():
        if name == known or name.startswith(f"{known}."):
            return why
    module = name.split(".")[1] if name.startswith("torch.") else ""
    refused: dict[str, str] = table.REFUSED
    if name == "Tensor.to_sparse":
        return refused["sparse"]
    return refused.get(module, "")
