"""Random programs over a few tensors: views, writes, aliases, draws, gradients."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Sequence
from typing import Any

import tracegrad as tg

Shape = tuple[int, ...]

# Expressions by the shape of their operand, with the shape of what they give.
_VIEWS: dict[Shape, list[tuple[str, Shape]]] = {
    (4,): [("{x}[1:3]", (2,)), ("{x}.view(2, 2)", (2, 2)), ("{x}[::2]", (2,)),
           ("{x}[2]", ()), ("{x}.expand(2, 4)[1]", (4,)), ("{x}[:]", (4,)),
           ("{x}.unbind(0)[1]", ()), ("{x}.chunk(2)[1]", (2,))],
    (2, 2): [("{x}.t()", (2, 2)), ("{x}[1]", (2,)), ("{x}[:, 0]", (2,)),
             ("{x}.reshape(4)", (4,)), ("{x}.diagonal()", (2,))],
    (2,): [("{x}[0]", ()), ("{x}.unsqueeze(0)[0]", (2,)), ("{x}.expand(2, 2)", (2, 2))],
    (): [("{x}.expand(2)", (2,)), ("{x}.view(1).expand(4)", (4,))],
}  # fmt: skip
_SAME = [
    "{x} * 2.0", "{x} + 1", "{x}.sin()", "{x}.exp()", "{x}.detach()", "{x}.clone()",
    "{x} * {y}", "{x} - {y}", "tg.where({x} > 0, {x}, {y})", "tg.maximum({x}, {y})",
    "{x} * k", "{x}.sum() + {x}", "tg.rand({shape}) * {x}", "tg.zeros({shape})",
    "tg.nn.functional.dropout({x}, 0.5)", "{x}.data", "{x}.contiguous()", "{x} * 1",
    "{x}.flip(0) if {x}.ndim else {x}", "{x}.to(tg.float32)", "tg.randn({shape})",
]  # fmt: skip
_WRITES = [
    "{x}.add_({y})", "{x}.mul_(2.0)", "{x}.copy_({y})", "{x}.zero_()", "{x}.sin_()",
    "{x}.add_(1)", "{x}.data.mul_(0.5)", "{x}.detach().add_(1)", "{x}.mul_({y})",
    "{x}[...] = {y}", "{x}.fill_(k)", "{x}.uniform_()",
    "{x}.masked_fill_({x} > 1, 0.5)",
]  # fmt: skip
_INPUTS = ("plain", "leaf", "inner", "view", "strided", "inner view")
_ALIASES = ("apart", "apart", "apart", "same", "view", "overlap", "detach")


class Program:
    """One program as Python source."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.shapes: dict[str, Shape] = {"a": (4,), "b": (4,), "c": (2, 2)}
        self._count = 0

    def _pick(self, shape: Shape | None = None) -> str:
        names = [n for n, s in self.shapes.items() if shape in (None, s)]
        return self.rng.choice(names)

    def _new(self, text: str, shape: Shape, indent: str) -> None:
        self._count += 1
        name = f"t{self._count}"
        self.lines.append(f"{indent}{name} = {text}")
        self.shapes[name] = shape

    def _filled(self, text: str, x: str) -> str:
        shape = self.shapes[x]
        return text.format(x=x, y=self._pick(shape), shape=shape)

    def statement(self, indent: str = "    ", depth: int = 0) -> None:
        """Add a statement."""
        kind = self.rng.random()
        x = self._pick()
        if kind < 0.3:
            text, shape = self.rng.choice(_VIEWS[self.shapes[x]])
            self._new(text.format(x=x), shape, indent)
        elif kind < 0.6:
            text = self._filled(self.rng.choice(_SAME), x)
            self._new(text, self.shapes[x], indent)
        elif kind < 0.85 or depth:
            self.lines.append(indent + self._filled(self.rng.choice(_WRITES), x))
        elif kind < 0.9:
            self.lines.append(f"{indent}with tg.no_grad():")
            self.statement(indent + "    ", 1)
        elif kind < 0.95:
            self._branch(indent, x)
        else:
            self.lines.append(f"{indent}s = ({x} * {x}).sum()")
            self.lines.append(f"{indent}if s.requires_grad:")
            self.lines.append(f"{indent}    s.backward(retain_graph=True)")

    def _branch(self, indent: str, x: str) -> None:
        before = dict(self.shapes)
        self.lines.append(f"{indent}if {x}.sum() > 1:")
        self.statement(indent + "    ", 1)
        self.shapes = dict(before)
        self.lines.append(f"{indent}else:")
        self.statement(indent + "    ", 1)
        self.shapes = before

    def source(self) -> str:
        """Return the whole function."""
        for _ in range(self.rng.randint(2, 9)):
            self.statement()
        names = list(self.shapes)
        several = self.rng.sample(names, min(len(names), self.rng.randint(1, 4)))
        results = ", ".join(several)
        if self.rng.random() < 0.2:
            results += f", {self._pick()}.sum().item()"
        body = "\n".join(self.lines)
        return f"def f(a, b, c, k):\n{body}\n    return {results},\n"


def made(seed: int) -> tuple[Callable[..., Any], str]:
    """Return the function of a seed and its source."""
    source = Program(seed).source()
    name = f"random_program_{seed}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"tg": tg}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"], source


def arguments(seed: int) -> Callable[[], Sequence[Sequence[Any]]]:
    """Return what makes the arguments of the calls of a seed's program."""
    rng = random.Random(seed + 1_000_000)
    kinds = [rng.choice(_INPUTS) for _ in range(3)]
    alias = rng.choice(_ALIASES)
    plans = []
    for call in range(4):
        changed = call >= 2 and rng.random() < 0.4
        plans.append(
            (
                [rng.choice(_INPUTS) for _ in range(3)] if changed else kinds,
                rng.choice(_ALIASES) if changed else alias,
                [rng.uniform(-2, 2) for _ in range(12)],
                rng.choice([0.5, 0.5, 2.0]),
                tg.float64 if call == 3 and rng.random() < 0.2 else tg.float32,
            )
        )
    return lambda: [_call(*plan) for plan in plans]


def _call(
    kinds: Sequence[str], alias: str, values: list[float], k: float, dtype: Any
) -> list[Any]:
    a = _tensor(kinds[0], values[:4], dtype)
    b = _tensor(kinds[1], values[4:8], dtype)
    if alias == "same":
        b = a
    elif alias == "view":
        b = a[:]
    elif alias == "detach":
        b = a.detach()
    elif alias == "overlap":
        base = tg.tensor(values[:6], dtype=dtype)
        a, b = base[:4], base[2:]
    return [a, b, _tensor(kinds[2], values[8:], dtype).view(2, 2), k]


def _tensor(kind: str, values: list[float], dtype: Any) -> tg.Tensor:
    if kind in ("plain", "leaf"):
        return tg.tensor(values, dtype=dtype, requires_grad=kind == "leaf")
    if kind == "inner":
        return tg.tensor(values, dtype=dtype, requires_grad=True) * 1
    if kind == "view":
        return tg.tensor([*values, 0.0], dtype=dtype)[:4]
    if kind == "strided":
        twice = [v for value in values for v in (value, 0.0)]
        base = tg.tensor(twice, dtype=dtype)
        return base[::2].contiguous() if dtype is tg.float64 else base[::2].clone()
    return (tg.tensor(values, dtype=dtype, requires_grad=True) * 1)[:]
