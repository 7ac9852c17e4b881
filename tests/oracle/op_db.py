"""PyTorch's operator database, run through tracegrad's operator of the same name.

``python -m tests.oracle.op_db [NAME …]`` prints the coverage and what differs;
``--write`` lists that in `op_db_remaining.tsv`.
"""

import argparse
import collections
import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import tracegrad as tg

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
LIST = Path(__file__).with_name("op_db_remaining.tsv")
# Their values are whatever memory holds, so that there is nothing to compare.
_WITHOUT_VALUES = ("empty", "empty_like", "new_empty")
_HEAD = "name\tdtype\tsample\treason"


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """A sample on which the two libraries do not agree."""

    name: str
    dtype: str
    sample: int
    reason: str

    @property
    def key(self) -> tuple[str, str, int]:
        """What it is listed under."""
        return self.name, self.dtype, self.sample


# -- the same call in both -----------------------------------------------------------


def ours(name: str) -> Callable[..., Any] | None:
    """Return tracegrad's operator of a name of the database, None if it has none."""
    place: Any = tg
    for part in name.split("."):
        try:
            place = getattr(place, part)
        except AttributeError:
            place = None
            break
    if place is None and "." not in name:
        place = getattr(tg.Tensor, name, None)
    return place if callable(place) else None


def _converted(value: Any, leaves: list[Any]) -> Any:
    if isinstance(value, torch.Tensor):
        tensor = tg.from_numpy(value.detach().resolve_conj().resolve_neg().numpy())
        if value.requires_grad:
            tensor.requires_grad_()
            leaves.append(tensor)
        return tensor
    if isinstance(value, torch.dtype | torch.memory_format):
        return getattr(tg, str(value).removeprefix("torch."))
    if isinstance(value, dict):
        return {k: _converted(v, leaves) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_converted(v, leaves) for v in value])
    if isinstance(value, list | tuple):
        return type(value)(_converted(v, leaves) for v in value)
    if isinstance(value, torch.device):
        return str(value)
    return value


def _copied(value: Any, leaves: list[Any]) -> Any:
    """Return a sample's argument for PyTorch, its leaves listed."""
    if isinstance(value, torch.Tensor):
        copy = value.detach().clone().requires_grad_(value.requires_grad)
        if value.requires_grad:
            leaves.append(copy)
        return copy
    if isinstance(value, dict):
        return {k: _copied(v, leaves) for k, v in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_copied(v, leaves) for v in value)
    return value


def _parts(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [part for v in value for part in _parts(v)]
    return [value]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor | tg.Tensor)


# -- comparing -------------------------------------------------------------------------


def _array(tensor: Any) -> Any:
    if isinstance(tensor, torch.Tensor):
        return tensor.detach().resolve_conj().resolve_neg().numpy(force=True)
    return tensor.detach().numpy()


def _difference(have: Any, want: Any, what: str) -> str:
    if _is_tensor(want) != _is_tensor(have):
        return f"{what}: a tensor and none"
    if not _is_tensor(want):
        same = have == want or str(have) == str(want).removeprefix("torch.")
        return "" if same else f"{what}: {have!r}, not {want!r}"
    if tuple(have.shape) != tuple(want.shape):
        return f"{what}: shape {list(have.shape)}, not {list(want.shape)}"
    if f"torch.{have.dtype.name}" != str(want.dtype):
        return f"{what}: {have.dtype.name}, not {want.dtype}"
    mine, theirs = _array(have), _array(want)
    tolerance = 2e-4 if want.dtype in (torch.float32, torch.complex64) else 1e-7
    absolute = tolerance
    if what == "gradient" and theirs.size:
        # A sum of large terms may be small; it is as precise as they are.
        largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=1)
        absolute = max(tolerance, tolerance / 10 * largest)
    same = np.allclose(mine, theirs, rtol=tolerance, atol=absolute, equal_nan=True)
    return "" if same else f"{what}: other values"


def _loss(parts: list[Any], library: Any) -> Any:
    total: Any = None
    for part in parts:
        if not _is_tensor(part) or not part.requires_grad:
            continue
        weights = library.arange(1, part.numel() + 1, dtype=library.float32)
        term = (abs(part) * weights.reshape(tuple(part.shape))).sum()
        total = term if total is None else total + term
    return total


def _gradients(parts: list[Any], leaves: list[Any], library: Any) -> list[Any]:
    loss = _loss(parts, library)
    if loss is None:
        return [None for _ in leaves]
    return list(library.autograd.grad(loss, leaves, allow_unused=True))


def _gradient_difference(mine: Any, theirs: Any) -> str:
    for have, want in zip(mine, theirs, strict=True):
        if have is None and want is None:
            continue
        # A gradient that is absent is one of zeros.
        present = want if have is None else have
        if have is None or want is None:
            if np.any(_array(present)):
                return "gradient: one has none"
            continue
        found = _difference(have, want, "gradient")
        if found:
            return found
    return ""


# The database's functions take the differentiated tensor first.
_REORDERED: dict[str, Callable[..., Callable[..., Any]]] = {
    "nn.functional.embedding": lambda f: lambda weight, i, **kw: f(i, weight, **kw),
    "nn.functional.embedding_bag": lambda f: lambda weight, i, **kw: f(i, weight, **kw),
    "einsum": lambda f: lambda tensors, equation: f(equation, tensors),
    "linalg.lstsq grad_oriented": lambda f: lambda *args, **kw: f(*args, **kw)[:2],
    "linalg.pinv singular": lambda f: lambda a, b: f(a @ b.mT),
    "polygamma": lambda f: lambda x, n: f(n, x),
    "where": lambda f: lambda x, condition, other: f(condition, x, other),
}


@contextlib.contextmanager
def _seeded_alike() -> Iterator[None]:
    """Seed tracegrad whenever PyTorch is seeded: the database does so for draws."""
    seed = torch.manual_seed

    def both(number: int) -> Any:
        tg.manual_seed(number)
        return seed(number)

    torch.manual_seed = both
    try:
        yield
    finally:
        torch.manual_seed = seed


def _determined(
    sample: Any, have: list[Any], want: list[Any]
) -> tuple[list[Any], list[Any]]:
    """Return what of the results is determined: of factors not the signs, say."""
    try:
        theirs = _parts(sample.output_process_fn_grad(tuple(want)))
        mine = _parts(sample.output_process_fn_grad(tuple(have)))
    except Exception:
        return have, want
    return mine, theirs


def compared(op: Any, function: Callable[..., Any], sample: Any) -> str:
    """Return how a sample's results differ, nothing if they agree."""
    given = (sample.input, tuple(sample.args), dict(sample.kwargs))
    leaves: list[Any] = []
    own_leaves: list[Any] = []
    first, args, kwargs = _copied(given, leaves)
    own_first, own_args, own_kwargs = _converted(given, own_leaves)
    try:
        with _seeded_alike():
            want = _parts(op.op(first, *args, **kwargs))
        refusal = None
    except Exception as error:
        refusal = error
    try:
        have = _parts(function(own_first, *own_args, **own_kwargs))
    except Exception as error:
        if refusal is not None:
            return ""
        return f"raises {type(error).__qualname__}: {str(error).splitlines()[0][:90]}"
    if refusal is not None:
        return f"does not raise {type(refusal).__name__}"
    if len(have) != len(want):
        return f"{len(have)} results, not {len(want)}"
    have, want = _determined(sample, have, want)
    for mine, theirs in zip(have, want, strict=True):
        found = _difference(mine, theirs, "value")
        if found:
            return found
    return _compared_gradients(have, want, own_leaves, leaves)


def _compared_gradients(
    have: list[Any], want: list[Any], own_leaves: list[Any], leaves: list[Any]
) -> str:
    if not leaves:
        return ""
    try:
        theirs = _gradients(want, leaves, torch)
    except RuntimeError:
        return ""
    try:
        mine = _gradients(have, own_leaves, tg)
    except Exception as error:
        said = str(error).splitlines()[0][:70]
        return f"gradient raises {type(error).__qualname__}: {said}"
    return _gradient_difference(mine, theirs)


# -- the database ----------------------------------------------------------------------


def named() -> dict[str, list[Any]]:
    """Return the database's entries by name, those that tracegrad has."""
    found: dict[str, list[Any]] = collections.defaultdict(list)
    for op in op_db:
        skipped = op.name in _WITHOUT_VALUES or op.name.startswith("_")
        if not skipped and ours(op.name) is not None:
            found[op.name].append(op)
    return dict(found)


def run(name: str, entries: list[Any]) -> Iterator[tuple[str, int, str]]:
    """Yield dtype, number and difference of each sample of a name."""
    known = ours(name)
    assert known is not None
    for dtype in DTYPES:
        number = 0
        for op in entries:
            variant = f"{name} {op.variant_test_name}"
            reorder = _REORDERED.get(variant) or _REORDERED.get(name)
            function = reorder(known) if reorder else known
            for sample in _samples(op, dtype):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    torch.manual_seed(0)
                    tg.manual_seed(0)
                    found = compared(op, function, sample)
                yield str(dtype).removeprefix("torch."), number, found
                number += 1


def _samples(op: Any, dtype: torch.dtype) -> Iterator[Any]:
    if dtype not in op.supported_dtypes("cpu"):
        return
    grad = op.supports_autograd and dtype.is_floating_point
    torch.manual_seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from op.sample_inputs("cpu", dtype, requires_grad=grad)


def listed() -> set[tuple[str, str, int]]:
    """Return the samples that are known to differ."""
    found = set()
    for line in LIST.read_text().splitlines()[1:]:
        name, dtype, sample, _ = line.split("\t")
        found.add((name, dtype, int(sample)))
    return found


def differences(names: list[str]) -> tuple[int, list[Difference]]:
    """Return how many samples of the names there are, and those that differ."""
    entries, count, found = named(), 0, []
    for name in names:
        for dtype, number, reason in run(name, entries[name]):
            count += 1
            if reason:
                found.append(Difference(name, dtype, number, reason))
    return count, found


def main() -> None:
    """Print the coverage and what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = options.names or sorted(named())
    total, found = differences(names)
    reasons = collections.Counter((d.name, d.reason) for d in found)
    for (name, reason), times in sorted(reasons.items()):
        print(f"{times:5}  {name}: {reason}")  # noqa: T201
    print(f"{len(names)} of {len({op.name for op in op_db})} names, {total} samples, ")  # noqa: T201
    print(f"{len(found)} of them differ, in {len({d.name for d in found})} names")  # noqa: T201
    if options.write:
        lines = [f"{d.name}\t{d.dtype}\t{d.sample}\t{d.reason}" for d in found]
        LIST.write_text("\n".join([_HEAD, *lines]) + "\n")


if __name__ == "__main__":
    main()
