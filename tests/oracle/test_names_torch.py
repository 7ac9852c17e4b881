"""Operators beside the common ones, and views of complex numbers: PyTorch's results."""

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
MATRIX = RNG.standard_normal((4, 5))
ROW = np.sort(RNG.standard_normal(5))
CASES = {
    "gcd": (np.array([12, 0, -8]), np.array([18, 0, 6])),
    "lcm": (np.array([4, 0, 7]), np.array([6, 5, 21])),
    "heaviside": (np.array([-1.0, 0.0, 2.0]), np.array([0.5, 0.5, 0.5])),
    "nextafter": (ROW, -ROW),
    "frexp": (MATRIX,),
    "logaddexp2": (MATRIX, ROW),
    "select_scatter": (MATRIX, ROW, 0, 1),
    "slice_scatter": (MATRIX, MATRIX[::2], 0, None, None, 2),
    "diagonal_scatter": (MATRIX, MATRIX[:, 0]),
    "as_strided_scatter": (MATRIX, ROW, (5,), (2,), 1),
    "diagflat": (MATRIX, 1),
    "narrow_copy": (MATRIX, 1, 1, 2),
    "unravel_index": (np.arange(6), (2, 3)),
    "cumulative_trapezoid": (MATRIX, ROW),
    "gradient": (MATRIX,),
    "i0": (MATRIX,),
    "igamma": (np.abs(MATRIX), np.abs(ROW)),
}
SHAPES = ((3, 3), (2, 4, 4), (5, 3), (3, 5))


def as_list(found):
    return list(found) if isinstance(found, tuple) else [found]


def run(lib, name, arguments):
    given = [lib.tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
    function = lib
    for part in name.split("."):
        function = getattr(function, part)
    return [part.numpy() for part in as_list(function(*given))]


def compare(name, *arguments):
    expected, found = (run(lib, name, arguments) for lib in (torch, tg))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_value(name: str) -> None:
    compare(name, *CASES[name])


@pytest.mark.parametrize("order", [1, 2])
def test_gradient_at_given_places(order: int) -> None:
    found = []
    for lib in (torch, tg):
        places = (lib.arange(4.0, dtype=lib.float64) ** 2, lib.tensor(ROW))
        parts = lib.gradient(lib.tensor(MATRIX), spacing=places, edge_order=order)
        found.append([p.numpy() for p in parts])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9)


# -- LU factors ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_lu(shape: tuple[int, ...]) -> None:
    matrix = RNG.standard_normal(shape)
    for name in ("linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex"):
        compare(name, matrix)
    packed, pivots = (x.numpy() for x in torch.linalg.lu_factor(torch.tensor(matrix)))
    compare("lu_unpack", packed, pivots)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_of_lu(shape: tuple[int, ...]) -> None:
    matrix, weight = RNG.standard_normal(shape), RNG.standard_normal(shape)
    found = []
    for lib in (torch, tg):
        x = lib.tensor(matrix, requires_grad=True)
        (lib.linalg.lu_factor(x)[0] * lib.tensor(weight)).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_lu_solve(left: bool, adjoint: bool) -> None:
    matrix, right = RNG.standard_normal((2, 4, 4)), RNG.standard_normal((2, 4, 4))
    found = []
    for lib in (torch, tg):
        packed, pivots = lib.linalg.lu_factor(lib.tensor(matrix))
        given = lib.tensor(right)
        solved = lib.linalg.lu_solve(packed, pivots, given, left=left, adjoint=adjoint)
        found.append(solved.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_singular_matrices() -> None:
    for lib in (torch, tg):
        assert lib.linalg.lu_factor_ex(lib.ones(3, 3)).info.item() == 2
        with pytest.raises(RuntimeError):
            lib.linalg.lu_factor(lib.ones(3, 3))


# -- views of complex numbers -------------------------------------------------------


def written_through_views(lib):
    z = lib.tensor(MATRIX[:2, :4] + 1j * MATRIX[2:, :4], requires_grad=True)
    u = lib.tensor(MATRIX[1:3, :4], requires_grad=True)
    w = z * 1
    w.real[...] = u
    w.imag.add_(1)
    w.imag[0].mul_(u[1])
    w.reshape(-1).real[2:4] = 3.0
    lib.view_as_real(w)[..., 1, 0].mul_(2)
    w.T.imag[1] = u[:, 0]
    pairs = lib.view_as_complex(u.reshape(2, 2, 2))
    out = (w * w * (1 + 2j)).real.sum() + (pairs * (2 - 1j)).imag.sum()
    out.backward()
    return [x.detach().resolve_conj().numpy() for x in (w, out, z.grad, u.grad)]


def test_writes_through_parts_of_complex_numbers() -> None:
    for one, other in zip(
        written_through_views(torch), written_through_views(tg), strict=True
    ):
        np.testing.assert_allclose(other, one, rtol=1e-12)


def test_parts_share_memory() -> None:
    for lib in (torch, tg):
        z = lib.tensor([1 + 2j, 3 + 4j])
        z.real[0] = 5
        z.imag.add_(1)
        z.real = z.real * 2
        assert z.tolist() == [10 + 3j, 6 + 5j]
        assert z.imag.stride() == (2,)
        assert lib.view_as_real(z).stride() == (2, 1)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 3), ()])
def test_what_is_no_pair(shape: tuple[int, ...]) -> None:
    for lib in (torch, tg):
        with pytest.raises(RuntimeError):
            lib.view_as_complex(lib.zeros(shape))
