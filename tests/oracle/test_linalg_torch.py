"""Linear algebra against PyTorch: values, dtypes, shapes and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

INF = float("inf")


def _draw(rng: np.random.Generator, kind: str, *shape: int) -> Any:
    values = rng.standard_normal(shape)
    if kind == "complex":
        values = values + 1j * rng.standard_normal(shape)
    return values


def _inputs(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    square = _draw(rng, kind, 2, 3, 3) + 3 * np.eye(3)
    definite = square @ np.conj(np.swapaxes(square, -1, -2)) + np.eye(3)
    return {
        "square": square,
        "definite": definite,
        "wide": _draw(rng, kind, 3, 5),
        "tall": _draw(rng, kind, 5, 3),
        "columns": _draw(rng, kind, 2, 3, 2),
        "rows": _draw(rng, kind, 2, 2, 3),
        "empty": _draw(rng, kind, 0, 3, 3),
    }


# Name, operands, and the call on the namespace `linalg` of either library.
CASES: list[tuple[str, str, Callable[..., Any]]] = [
    ("inv", "square", lambda m, a: m.inv(a)),
    ("inv", "empty", lambda m, a: m.inv(a)),
    ("det", "square", lambda m, a: m.det(a)),
    ("det", "empty", lambda m, a: m.det(a)),
    ("slogdet", "square", lambda m, a: tuple(m.slogdet(a))),
    ("solve", "square columns", lambda m, a, b: m.solve(a, b)),
    ("solve right", "square rows", lambda m, a, b: m.solve(a, b, left=False)),
    ("upper", "square columns", lambda m, a, b: m.solve_triangular(a, b, upper=True)),
    ("lower", "square columns", lambda m, a, b: m.solve_triangular(a, b, upper=False)),
    (
        "unit",
        "square columns",
        lambda m, a, b: m.solve_triangular(a, b, upper=False, unitriangular=True),
    ),
    ("cholesky", "definite", lambda m, a: m.cholesky(a)),
    ("cholesky upper", "definite", lambda m, a: m.cholesky(a, upper=True)),
    *[("qr", x, lambda m, a: tuple(m.qr(a))) for x in ("square", "wide", "tall")],
    ("eigvalsh", "definite", lambda m, a: m.eigvalsh(a)),
    # Up to the vectors' phases, which no two libraries share.
    ("eigh", "definite", lambda m, a: abs(m.eigh(a)[1])),
    ("eigvals", "square", lambda m, a: m.eigvals(a)),
    ("eig", "square", lambda m, a: abs(m.eig(a)[1])),
    *[
        ("svd", x, lambda m, a: (abs(m.svd(a, False)[0]), abs(m.svd(a, False)[2])))
        for x in ("square", "wide", "tall")
    ],
    *[("svdvals", x, lambda m, a: m.svdvals(a)) for x in ("wide", "tall")],
    *[("pinv", x, lambda m, a: m.pinv(a)) for x in ("square", "wide", "tall")],
    *[
        (f"norm {order}", "wide", lambda m, a, order=order: m.matrix_norm(a, order))
        for order in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)
    ],
    ("cond", "square", lambda m, a: m.cond(a)),
    ("matrix_exp", "square", lambda m, a: m.matrix_exp(a)),
    ("matrix_power", "square", lambda m, a: m.matrix_power(a, 5)),
    ("matrix_power", "square", lambda m, a: m.matrix_power(a, -2)),
    ("lstsq", "tall tall", lambda m, a, b: m.lstsq(a, b).solution),
    ("cross", "square square", lambda m, a, b: m.cross(a, b)),
    ("vecdot", "square definite", lambda m, a, b: m.vecdot(a, b)),
    ("vander", "wide", lambda m, a: m.vander(a)),
]


def _parts(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _loss(parts: Any, library: Any) -> Any:
    total = 0
    for part in parts:
        weights = library.arange(1, part.numel() + 1).reshape(tuple(part.shape))
        total = total + (abs(part) ** 2 * weights).sum()
    return total


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize(
    ("names", "call"),
    [c[1:] for c in CASES],
    ids=[f"{c[0]}-{c[1]}".replace(" ", "_") for c in CASES],
)
def test_linalg(names: str, call: Callable[..., Any], kind: str) -> None:
    drawn = [_inputs(kind)[name] for name in names.split()]
    theirs = [torch.tensor(a, requires_grad=True) for a in drawn]
    ours = [tg.tensor(a, requires_grad=True) for a in drawn]
    expected = _parts(call(torch.linalg, *theirs))
    found = _parts(call(tg.linalg, *ours))
    for have, want in zip(found, expected, strict=True):
        assert tuple(have.shape) == tuple(want.shape)
        assert f"torch.{have.dtype.name}" == str(want.dtype)
        want_array = want.detach().resolve_conj().numpy()
        np.testing.assert_allclose(
            have.detach().numpy(), want_array, rtol=1e-9, atol=1e-10
        )
    _loss(expected, torch).backward()
    _loss(found, tg).backward()
    for leaf, other in zip(ours, theirs, strict=True):
        want_array = other.grad.resolve_conj().numpy()
        np.testing.assert_allclose(leaf.grad.numpy(), want_array, rtol=1e-7, atol=1e-8)


def test_singular_matrices_raise_what_pytorch_raises() -> None:
    zeros = np.zeros((2, 2))
    for call in (
        lambda m, a: m.inv(a),
        lambda m, a: m.solve(a, a),
        lambda m, a: m.cholesky(a),
    ):
        with pytest.raises(RuntimeError):
            call(torch.linalg, torch.tensor(zeros))
        with pytest.raises(tg.linalg.LinAlgError):
            call(tg.linalg, tg.tensor(zeros))


def test_gradient_of_det_where_it_is_0() -> None:
    x = tg.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    tg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4, -2], [-2, 1]], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_integers_are_refused(dtype: str) -> None:
    with pytest.raises(RuntimeError):
        torch.linalg.inv(torch.ones(2, 2, dtype=getattr(torch, dtype)))
    with pytest.raises(RuntimeError):
        tg.linalg.inv(tg.ones(2, 2, dtype=getattr(tg, dtype)))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_factors_of_what_is_not_finite_are_refused(name, bad):
    matrix = np.full((2, 2), bad)
    with pytest.raises(tg.errors.LinAlgError, match=f"linalg.{name[:3]}"):
        getattr(tg.linalg, name)(tg.from_numpy(matrix))


def test_determinants_and_exponentials_of_what_is_not_finite_are_nan():
    matrix = tg.full((2, 2), float("nan"), dtype=tg.float64, requires_grad=True)
    tg.linalg.det(matrix).backward()
    assert matrix.grad.isnan().all()
    assert tg.linalg.matrix_exp(matrix).isnan().all()
