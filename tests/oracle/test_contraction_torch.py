"""Matrix products, einsum, convolution and pooling against PyTorch."""

import itertools

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")

# PyTorch warns that 'same' padding of an even kernel copies its input.
pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same'")


def _pairs(*shapes, dtype="float64"):
    rng = np.random.default_rng(5)
    arrays = [rng.normal(size=s) for s in shapes]
    if dtype.startswith("complex"):
        arrays = [a + 1j * rng.normal(size=a.shape) for a in arrays]
    arrays = [np.asarray(a, dtype) for a in arrays]
    ours = [tg.tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    return ours, theirs


def _same(ours, theirs, **tolerance):
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    tolerance = tolerance or {"rtol": 1e-10, "atol": 1e-11}
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().resolve_conj().numpy(), **tolerance
    )


def _check(ours, theirs, our_operands, their_operands, second=True):
    """Compare a result, its gradients and the gradients' gradients."""
    _same(ours, theirs)
    weights = np.random.default_rng(6).normal(size=theirs.shape)
    first = tg.autograd.grad(
        _real((ours * tg.tensor(weights)).sum()), our_operands, create_graph=True
    )
    expected = torch.autograd.grad(
        _real((theirs * torch.tensor(weights)).sum()), their_operands, create_graph=True
    )
    for found, wanted in zip(first, expected, strict=True):
        _same(found, wanted)
    if not second or not any(g.requires_grad for g in expected):
        return
    again = _gradients(tg, first, our_operands)
    wanted_again = _gradients(torch, expected, their_operands)
    for found, wanted in zip(again, wanted_again, strict=True):
        _same(found, wanted)


def _gradients(library, first, operands):
    """Return gradients of the gradients; of constant ones, zeros."""
    parts = [_real((g * g).sum()) for g in first if g.requires_grad]
    if not parts:
        return [library.zeros_like(x) for x in operands]
    return library.autograd.grad(sum(parts), operands, materialize_grads=True)


def _real(x):
    return x.real if x.is_complex() else x


MATMUL = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2, 3), (3, 4)),
]


@pytest.mark.parametrize("shapes", MATMUL, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_matmul(shapes, dtype):
    ours, theirs = _pairs(*shapes, dtype=dtype)
    _check(ours[0] @ ours[1], theirs[0] @ theirs[1], ours, theirs)


FIXED = {
    "mm": [(2, 3), (3, 4)],
    "bmm": [(5, 2, 3), (5, 3, 4)],
    "mv": [(2, 3), (3,)],
    "dot": [(3,), (3,)],
    "vdot": [(3,), (3,)],
    "inner": [(2, 3), (4, 3)],
    "outer": [(2,), (3,)],
    "ger": [(2,), (3,)],
    "kron": [(2, 3), (2, 1, 2)],
    "addmm": [(4,), (2, 3), (3, 4)],
    "addmv": [(2,), (2, 3), (3,)],
    "baddbmm": [(2, 2, 2), (2, 2, 3), (2, 3, 2)],
    "addbmm": [(2, 2), (2, 2, 3), (2, 3, 2)],
    "addr": [(2, 3), (2,), (3,)],
}


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_products_of_fixed_rank(name, dtype):
    ours, theirs = _pairs(*FIXED[name], dtype=dtype)
    settings = {"beta": 0.5, "alpha": 2} if name.startswith(("add", "badd")) else {}
    found = getattr(tg, name)(*ours, **settings)
    _check(found, getattr(torch, name)(*theirs, **settings), ours, theirs)
    method = getattr(ours[0], name)(*ours[1:], **settings)
    np.testing.assert_array_equal(method.detach().numpy(), found.detach().numpy())


def test_beta_zero_does_not_read_the_input():
    input = tg.tensor([[float("nan")] * 2] * 2)
    product = tg.addmm(input, tg.ones(2, 3), tg.ones(3, 2), beta=0)
    assert product.tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "int64"])
def test_integers_wrap(name):
    array = np.arange(100, 109).reshape(3, 3).astype(name)
    found = tg.tensor(array) @ tg.tensor(array)
    _same(found, torch.tensor(array) @ torch.tensor(array), rtol=0)


def test_half_is_summed_in_float32():
    found = tg.ones(1, 5000, dtype=tg.float16) @ tg.ones(5000, 1, dtype=tg.float16)
    assert found.dtype is tg.float16
    assert found.item() == 5000.0


def test_linear():
    for shape in ((5, 3), (3,), (2, 5, 3), (0, 3)):
        ours, theirs = _pairs(shape, (4, 3), (4,))
        linear = torch.nn.functional.linear
        _check(tg.linear(*ours), linear(*theirs), ours, theirs)


REFUSED = [
    lambda t: t.ones(2, 3) @ t.ones(2, 3),
    lambda t: t.tensor(1.0) @ t.ones(3),
    lambda t: t.ones(2, 2) @ t.ones(2, 2, dtype=t.float64),
    lambda t: t.ones(2, 2, dtype=t.bool) @ t.ones(2, 2, dtype=t.bool),
    lambda t: t.mv(t.ones(2, 2), t.ones(2, 2)),
    lambda t: t.mm(t.ones(2, 2, 2), t.ones(2, 2)),
    lambda t: t.bmm(t.ones(2, 2, 2), t.ones(3, 2, 2)),
    lambda t: t.dot(t.ones(2), t.ones(3)),
    lambda t: t.inner(t.ones(2), t.ones(2, dtype=t.int64)),
    lambda t: t.addmm(t.ones(3), t.ones(2, 3), t.ones(3, 4)),
    lambda t: t.einsum("ij,jk", t.ones(2, 3)),
    lambda t: t.einsum("ij->ijj", t.ones(2, 3)),
    lambda t: t.einsum("ii", t.ones(2, 3)),
    lambda t: t.einsum("i,i", t.ones(2), t.ones(3)),
    lambda t: t.einsum("i1", t.ones(2, 3)),
    lambda t: t.tensordot(t.ones(2, 3), t.ones(2, 3), 1),
    lambda t: t.nn.functional.conv2d(t.ones(1, 2, 4, 4), t.ones(3, 3, 2, 2)),
    lambda t: t.nn.functional.conv2d(t.ones(1, 2, 2, 2), t.ones(3, 2, 3, 3)),
    lambda t: t.nn.functional.conv2d(t.ones(1, 2, 4, 4), t.ones(3, 2, 2, 2), t.ones(2)),
    lambda t: t.nn.functional.conv2d(t.ones(1, 2, 4, 4), t.ones(3, 2, 2, 2), stride=0),
    lambda t: t.nn.functional.conv2d(
        t.ones(1, 2, 4, 4), t.ones(3, 2, 2, 2), stride=2, padding="same"
    ),
    lambda t: t.nn.functional.max_pool2d(t.ones(1, 1, 4, 4), 2, padding=2),
    lambda t: t.nn.functional.max_pool2d(t.ones(1, 1, 2, 2), 3),
    lambda t: t.nn.functional.avg_pool2d(t.ones(1, 1, 4, 4), 2, padding=2),
]


@pytest.mark.parametrize("attempt", REFUSED)
def test_what_raises(attempt):
    with pytest.raises(Exception, match=r".") as theirs:
        attempt(torch)
    with pytest.raises(tg.errors.TracegradError) as ours:
        attempt(tg)
    assert isinstance(ours.value, RuntimeError | ValueError)
    if type(theirs.value) in (ValueError, IndexError, TypeError):
        assert isinstance(ours.value, type(theirs.value))


EQUATIONS = [
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bij,bjk", (2, 3, 4), (2, 4, 5)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("i,j->ij", (2,), (3,)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("i...j,j...k", (2, 5, 3), (3, 5, 4)),
    ("i,i,i->", (3,), (3,), (3,)),
    ("ijk->", (2, 3, 4)),
    ("ijk->kji", (2, 3, 4)),
    ("ij,kj->ik", (2, 3), (4, 1)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
    ("a...->...", (2, 3)),
    ("iji,k->jk", (2, 3, 2), (4,)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    (",->", (), ()),
    ("ij,->ij", (2, 3), ()),
    ("ba", (2, 3)),
    ("ij,ij->", (2, 3), (2, 3)),
    (" i j , j -> i ", (2, 3), (3,)),
    ("aB,Bc->ac", (2, 3), (3, 4)),
    ("ij,jk->i", (2, 0), (0, 3)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda case: case[0])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_einsum(case, dtype):
    equation, *shapes = case
    ours, theirs = _pairs(*shapes, dtype=dtype)
    found, wanted = tg.einsum(equation, *ours), torch.einsum(equation, *theirs)
    _check(found, wanted, ours, theirs, second=False)


def test_einsum_of_sublists():
    ours, theirs = _pairs((2, 3), (3, 4))
    form = (0, 1), (1, 2), (2, 0)
    found = tg.einsum(ours[0], form[0], ours[1], form[1], form[2])
    _same(found, torch.einsum(theirs[0], form[0], theirs[1], form[1], form[2]))


@pytest.mark.parametrize("dims", [0, 1, 2, ([0], [2]), ([1, 0], [0, 1]), ([-1], [0])])
def test_tensordot(dims):
    if dims == ([0], [2]):
        shapes = (2, 3), (3, 4, 2)
    elif dims == ([1, 0], [0, 1]):
        shapes = (2, 3), (3, 2, 4)
    else:
        shapes = (2, 3, 4), (3, 4, 5) if dims == 2 else (4, 3)
    ours, theirs = _pairs(*shapes)
    _check(tg.tensordot(*ours, dims), torch.tensordot(*theirs, dims), ours, theirs)


# -- convolution --------------------------------------------------------------------

CONV = [
    case
    for case in itertools.product(
        [1, 2, (2, 1)], [0, 1, (1, 2), "same"], [1, 2], [1, 2], [0, 1]
    )
    if case[0] == 1 or case[1] != "same"
]


@pytest.mark.parametrize("case", CONV, ids=str)
def test_conv2d(case):
    stride, padding, dilation, groups, has_bias = case
    ours, theirs = _pairs((2, 4, 7, 6), (6, 4 // groups, 3, 2), (6,))
    if not has_bias:
        ours, theirs = ours[:2], theirs[:2]
    settings = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
    }
    found = tg.conv2d(*ours, **settings)
    wanted = torch.nn.functional.conv2d(*theirs, **settings)
    _check(found, wanted, ours, theirs)


@pytest.mark.parametrize("rank", [1, 3])
def test_conv_of_other_ranks(rank):
    size, kernel = (5, 4, 6)[:rank], (2, 3, 2)[:rank]
    ours, theirs = _pairs((2, 2, *size), (4, 2, *kernel), (4,))
    for settings in ({}, {"stride": 2, "padding": 1}, {"padding": "same"}):
        name = f"conv{rank}d"
        wanted = getattr(torch.nn.functional, name)(*theirs, **settings)
        _check(getattr(tg, name)(*ours, **settings), wanted, ours, theirs)


def test_conv_of_one_image_and_of_complex_numbers():
    ours, theirs = _pairs((4, 7, 6), (6, 4, 3, 2), (6,))
    _check(tg.conv2d(*ours), torch.nn.functional.conv2d(*theirs), ours, theirs)
    ours, theirs = _pairs((2, 2, 5), (3, 2, 2), dtype="complex128")
    _check(tg.conv1d(*ours), torch.nn.functional.conv1d(*theirs), ours, theirs)


def test_conv_of_integers_and_of_no_images():
    found = tg.conv1d(tg.tensor([[[1, 2, 3]]]), tg.tensor([[[1, 10]]]))
    assert found.tolist() == [[[21, 32]]]
    ours, theirs = _pairs((0, 2, 5), (3, 2, 2))
    _check(tg.conv1d(*ours), torch.nn.functional.conv1d(*theirs), ours, theirs)


# Stride, padding, output_padding, groups, dilation.
TRANSPOSED = [
    case
    for case in itertools.product([1, 2], [0, 1], [0, 1], [1, 2], [1, 2])
    if case[2] < max(case[0], case[4])
]


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_conv_transpose2d(case):
    ours, theirs = _pairs((2, 4, 5, 6), (4, 3, 3, 2), (3 * case[3],))
    found = tg.conv_transpose2d(*ours, *case)
    _check(found, torch.nn.functional.conv_transpose2d(*theirs, *case), ours, theirs)


# -- pooling ------------------------------------------------------------------------

MAX_POOL = [
    ((2,), {}),
    ((3,), {"stride": 2}),
    ((3, 1), {"padding": 1}),
    (((3, 2),), {"stride": (2, 1), "padding": (1, 0), "ceil_mode": True}),
    ((2,), {"dilation": 2, "stride": 1}),
    ((3,), {"dilation": (2, 1), "padding": 1, "ceil_mode": True}),
]


@pytest.mark.parametrize("case", MAX_POOL, ids=str)
@pytest.mark.parametrize("shape", [(2, 3, 7, 6), (3, 7, 6)])
def test_max_pool2d(case, shape):
    args, settings = case
    ours, theirs = _pairs(shape)
    pool = torch.nn.functional.max_pool2d
    wanted, places = pool(*theirs, *args, **settings, return_indices=True)
    found, our_places = tg.max_pool2d(*ours, *args, **settings, return_indices=True)
    _same(our_places, places)
    _check(found, wanted, ours, theirs, second=False)
    _same(tg.max_pool2d(*ours, *args, **settings), wanted)


@pytest.mark.parametrize("rank", [1, 3])
def test_max_pool_of_other_ranks(rank):
    ours, theirs = _pairs((2, 3, *(7, 6, 5)[:rank]))
    name = f"max_pool{rank}d"
    wanted = getattr(torch.nn.functional, name)(*theirs, 3, 2, 1)
    _check(getattr(tg, name)(*ours, 3, 2, 1), wanted, ours, theirs, second=False)


def test_max_pool_of_ties_nan_and_infinities():
    nan, inf = float("nan"), float("inf")
    rows = [[1.0, 1.0, nan, 2.0], [1.0, 1.0, 3.0, nan], [-inf] * 4, [-inf] * 4]
    data = np.array([[rows]])
    for padding in (0, 1):
        found, places = tg.max_pool2d(
            tg.tensor(data), 2, padding=padding, return_indices=True
        )
        wanted, their_places = torch.nn.functional.max_pool2d(
            torch.tensor(data), 2, padding=padding, return_indices=True
        )
        _same(found, wanted)
        _same(places, their_places)


def test_pools_of_integers():
    data = np.arange(-8, 8).reshape(1, 1, 4, 4)
    for name in ("max_pool2d", "avg_pool2d"):
        wanted = getattr(torch.nn.functional, name)(torch.tensor(data), 3, 1, 1)
        _same(getattr(tg, name)(tg.tensor(data), 3, 1, 1), wanted)


AVG_POOL = list(
    itertools.product([2, (3, 2)], [None, 1, (2, 1)], [0, 1], [0, 1], [0, 1], [None, 3])
)


@pytest.mark.parametrize("case", AVG_POOL, ids=str)
def test_avg_pool2d(case):
    kernel, stride, padding, ceil_mode, include, divisor = case
    ours, theirs = _pairs((2, 3, 7, 6))
    settings = (kernel, stride, padding, bool(ceil_mode), bool(include), divisor)
    found = tg.avg_pool2d(*ours, *settings)
    wanted = torch.nn.functional.avg_pool2d(*theirs, *settings)
    _check(found, wanted, ours, theirs)


@pytest.mark.parametrize("rank", [1, 3])
def test_avg_pool_of_other_ranks(rank):
    ours, theirs = _pairs((2, 3, *(7, 6, 5)[:rank]))
    name = f"avg_pool{rank}d"
    wanted = getattr(torch.nn.functional, name)(*theirs, 3, 2, 1)
    _check(getattr(tg, name)(*ours, 3, 2, 1), wanted, ours, theirs)


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("size", [1, 2, (3, None), (7, 6), (5, 4), (1, 9)], ids=str)
def test_adaptive_pool2d(kind, size):
    name = f"adaptive_{kind}_pool2d"
    for shape in ((2, 3, 7, 6), (3, 7, 6)):
        ours, theirs = _pairs(shape)
        found = getattr(tg, name)(*ours, size)
        wanted = getattr(torch.nn.functional, name)(*theirs, size)
        _check(found, wanted, ours, theirs, second=False)
        ours, theirs = _pairs(shape[:-1])
        name_1d, size_1d = (
            f"adaptive_{kind}_pool1d",
            size if isinstance(size, int) else 5,
        )
        found = getattr(tg, name_1d)(*ours, size_1d)
        wanted = getattr(torch.nn.functional, name_1d)(*theirs, size_1d)
        _check(found, wanted, ours, theirs, second=False)


# -- columns, norms of vectors ------------------------------------------------------

COLUMNS = [
    {"kernel_size": 2},
    {"kernel_size": (3, 2), "padding": 1, "stride": (2, 1)},
    {"kernel_size": 2, "dilation": (1, 2), "padding": (0, 1)},
]


@pytest.mark.parametrize("settings", COLUMNS, ids=str)
@pytest.mark.parametrize("shape", [(2, 3, 5, 6), (3, 5, 6)])
def test_unfold_and_fold(settings, shape):
    ours, theirs = _pairs(shape)
    found = tg.nn.functional.unfold(*ours, **settings)
    wanted = torch.nn.functional.unfold(*theirs, **settings)
    _check(found * found, wanted * wanted, ours, theirs)
    found = tg.nn.functional.fold(found.detach(), (5, 6), **settings)
    wanted = torch.nn.functional.fold(wanted.detach(), (5, 6), **settings)
    _same(found, wanted)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_normalize(order):
    ours, theirs = _pairs((3, 4))
    found = tg.nn.functional.normalize(*ours, order)
    _check(found, torch.nn.functional.normalize(*theirs, order), ours, theirs)


def test_normalize_at_zero_shows_its_epsilon():
    x = tg.zeros(1, 2, requires_grad=True)
    tg.nn.functional.normalize(x).sum().backward()
    their_x = torch.zeros(1, 2, requires_grad=True)
    torch.nn.functional.normalize(their_x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), their_x.grad.numpy())


def test_weight_gradient_of_many_images():
    # Beyond the size up to which each image has a weight gradient of its own.
    ours, theirs = _pairs((60, 32, 4, 3), (64, 16, 3, 3))
    settings = {"padding": 1, "groups": 2}
    found = tg.conv2d(*ours, **settings)
    wanted = torch.nn.functional.conv2d(*theirs, **settings)
    _check(found, wanted, ours, theirs, second=False)
