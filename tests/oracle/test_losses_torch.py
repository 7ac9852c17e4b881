"""Softmax, gates and losses: values and first and second derivatives are PyTorch's."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")
functional = pytest.importorskip("torch.nn.functional")

INF = float("inf")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _gradients(lib: Any, result: Any, operands: list[Any]) -> list[Any]:
    """Return first gradients of a weighted sum, then those of their own sum."""
    if not result.requires_grad:
        return []
    weight = np.arange(1.0, result.numel() + 1).reshape(tuple(result.shape))
    total = (result * lib.tensor(weight)).sum()
    tracked = [o for o in operands if o.requires_grad]
    first = lib.autograd.grad(total, tracked, create_graph=True, allow_unused=True)
    found = list(first)
    squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    if squares:
        found += lib.autograd.grad(
            sum(squares[1:], squares[0]), tracked, allow_unused=True
        )
    return found


def compare(
    function: Callable[[Any], Callable[..., Any]],
    arrays: list[Any],
    second: bool = True,
    rtol: float = 1e-9,
    **options: Any,
) -> None:
    """Compare what a function of the library gives, and the derivatives."""
    answers = []
    for lib in (torch, tg):
        operands = [_tensor(lib, a) for a in arrays]
        result = function(lib)(*operands, **options)
        found = [result, *_gradients(lib, result, operands)]
        answers.append([_array(f) for f in found])
    expected, found = answers
    count = len(expected) if second else 2
    for have, want in list(zip(found, expected, strict=False))[:count]:
        if have is None or want is None:
            other = want if have is None else have
            assert other is None or not other.any()
            continue
        assert have.dtype == want.dtype
        assert have.shape == want.shape
        np.testing.assert_allclose(have, want, rtol=rtol, atol=1e-12)


def _tensor(lib: Any, array: Any) -> Any:
    if array is None:
        return None
    return lib.tensor(array, requires_grad=np.asarray(array).dtype.kind == "f")


def _array(tensor: Any) -> Any:
    if isinstance(tensor, tg.Tensor):
        return tensor.detach().numpy()
    return None if tensor is None else tensor.detach().numpy(force=True)


def of(name: str) -> Callable[[Any], Any]:
    return lambda lib: getattr(functional if lib is torch else tg, name)


RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(3, 4))


# -- rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_rows(name: str, dim: int) -> None:
    compare(of(name), [SCORES], dim=dim)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (2, 3, 4), (2, 3, 2, 2)])
def test_rows_without_dim(name: str, shape: tuple[int, ...]) -> None:
    with pytest.warns(UserWarning, match="dim"):
        compare(lambda lib: getattr(lib.nn.functional, name), [RNG.normal(size=shape)])


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_functions_of_the_main_module_want_a_dim(name: str) -> None:
    for lib in (torch, tg):
        with pytest.raises(TypeError, match="dim"):
            getattr(lib, name)(lib.ones(2))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    "row",
    [[0.0, -INF], [-INF, -INF], [INF, 0.0], [float("nan"), 1.0], [1000.0, -1000.0]],
)
def test_hard_rows(name: str, row: list[float]) -> None:
    # Of -inf, PyTorch's second derivatives are NaN, ours too, not in the same places.
    compare(of(name), [np.array(row)], second=False, dim=0)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (0, 3), (2, 3, 4)])
def test_row_shapes(name: str, shape: tuple[int, ...]) -> None:
    compare(of(name), [RNG.normal(size=shape)], dim=-1)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_row_dtypes(name: str) -> None:
    for source, target in ((torch.int64, "float32"), (torch.float16, "float64")):
        t = torch.tensor([1, 2, 3]).to(source)
        g = tg.tensor([1, 2, 3]).to(getattr(tg, str(source).partition(".")[2]))
        expected = getattr(torch, name)(t, 0, dtype=getattr(torch, target))
        found = getattr(tg, name)(g, 0, dtype=getattr(tg, target))
        assert found.dtype.name == target
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    half = RNG.normal(size=(4, 50)).astype("float16")
    expected = getattr(torch, name)(torch.tensor(half), 1).numpy()
    found = getattr(tg, name)(tg.tensor(half), 1).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3)


# -- gates ----------------------------------------------------------------------------


def test_gates() -> None:
    compare(of("glu"), [SCORES])
    compare(of("glu"), [RNG.normal(size=(2, 4, 3))], dim=1)
    compare(of("prelu"), [SCORES, np.array([0.2])])
    compare(of("prelu"), [SCORES, np.array([0.2, -0.1, 0.3, 0.0])])
    compare(of("prelu"), [RNG.normal(size=(2, 3, 2)), np.array([0.2, 0.1, 0.5])])
    compare(of("prelu"), [RNG.normal(size=3), np.array([0.2])])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("leaky_relu", {"negative_slope": 0.2}),
        ("elu", {"alpha": 1.5}),
        ("celu", {"alpha": 0.5}),
        ("threshold", {"threshold": 0.1, "value": 20.0}),
        ("hardtanh", {"min_val": -0.5, "max_val": 0.7}),
        ("softplus", {"beta": 2.0, "threshold": 1.0}),
        ("hardshrink", {"lambd": 0.3}),
        ("softshrink", {"lambd": 0.3}),
        ("gelu", {"approximate": "tanh"}),
        ("gelu", {"approximate": "none"}),
    ],
)
def test_options(name: str, options: dict[str, Any]) -> None:
    compare(of(name), [SCORES], **options)


@pytest.mark.parametrize(
    "name",
    [
        "relu",
        "relu6",
        "leaky_relu",
        "elu",
        "selu",
        "celu",
        "silu",
        "mish",
        "hardtanh",
        "hardswish",
    ],
)
def test_inplace(name: str) -> None:
    expected, found = torch.tensor(SCORES), tg.tensor(SCORES)
    getattr(functional, name)(expected, inplace=True)
    assert getattr(tg, name)(found, inplace=True) is found
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


# -- losses ---------------------------------------------------------------------------

REDUCTIONS = ["none", "mean", "sum"]
PAIR = [SCORES, RNG.normal(size=(3, 4))]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    "name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]
)
def test_distances(name: str, reduction: str) -> None:
    compare(of(name), PAIR, reduction=reduction)
    # Kinks: a difference of 0, and of the width itself.
    compare(
        of(name), [np.array([0.0, 1.0, -1.0, 2.0]), np.zeros(4)], reduction=reduction
    )
    compare(
        of(name), [RNG.normal(size=(2, 1)), RNG.normal(size=2)], reduction=reduction
    )


def test_distance_options() -> None:
    weight = RNG.uniform(0.5, 2, (3, 4))
    for name in ("mse_loss", "l1_loss", "huber_loss"):
        loss = of(name)
        # With a weight, PyTorch's mean divides by the sum of the weights.
        compare(
            lambda lib, f=loss: (
                lambda x, y, w: f(lib)(x, y, weight=w, reduction="none")
            ),
            [*PAIR, weight],
        )
    compare(of("smooth_l1_loss"), PAIR, beta=0.5)
    compare(of("smooth_l1_loss"), PAIR, beta=0.0)
    compare(of("huber_loss"), PAIR, delta=0.5)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropy(reduction: str) -> None:
    p, t = RNG.uniform(0.05, 0.95, (3, 4)), RNG.uniform(0, 1, (3, 4))
    compare(of("binary_cross_entropy"), [p, t], reduction=reduction)
    weight = RNG.uniform(0.5, 2, 4)

    def weighted(name: str) -> Any:
        return lambda lib: (
            lambda x, y: of(name)(lib)(x, y, lib.tensor(weight), reduction=reduction)
        )

    compare(weighted("binary_cross_entropy"), [p, t])
    hard = [np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0])]
    # PyTorch's bound of 1e-12 is a float32.
    compare(
        of("binary_cross_entropy"), hard, second=False, rtol=1e-8, reduction=reduction
    )
    logits = "binary_cross_entropy_with_logits"
    compare(of(logits), [SCORES, t], reduction=reduction)
    compare(weighted(logits), [SCORES, t])
    compare(
        lambda lib: (
            lambda x, y: of(logits)(lib)(
                x, y, pos_weight=lib.tensor(weight), reduction=reduction
            )
        ),
        [SCORES, t],
    )
    large = [np.array([1000.0, -1000.0, 1000.0]), np.array([1.0, 1.0, 0.0])]
    compare(of(logits), large, reduction=reduction)


LABELS = np.array([1, 0, 3])
WEIGHT = np.array([0.5, 2.0, 1.0, 0.25])


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("ignore_index", [-100, 0])
def test_cross_entropy(
    ignore_index: int, weight: Any, reduction: str, smoothing: float
) -> None:
    options = {
        "ignore_index": ignore_index,
        "reduction": reduction,
        "label_smoothing": smoothing,
    }
    # The weights of the classes are constants in PyTorch: without derivatives.
    constant = None if weight is None else weight.astype("float64")

    def loss(lib: Any) -> Any:
        given = None if constant is None else lib.tensor(constant)
        return lambda x, y: of("cross_entropy")(lib)(x, y, given, **options)

    compare(loss, [SCORES, LABELS])
    compare(loss, [RNG.normal(size=(2, 4, 3)), RNG.integers(0, 4, (2, 3))])
    compare(loss, [RNG.normal(size=4), np.array(2)])
    if ignore_index < 0:
        probabilities = RNG.uniform(0, 1, (3, 4))
        compare(loss, [SCORES, probabilities])
        compare(loss, [RNG.normal(size=(2, 4, 3)), RNG.uniform(0, 1, (2, 4, 3))])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_nll(weight: Any, reduction: str) -> None:
    def loss(lib: Any) -> Any:
        given = None if weight is None else lib.tensor(weight)
        return lambda x, y: of("nll_loss")(lib)(
            x, y, given, ignore_index=0, reduction=reduction
        )

    compare(loss, [SCORES, LABELS])
    compare(loss, [RNG.normal(size=(2, 4, 3)), RNG.integers(0, 4, (2, 3))])
    compare(loss, [SCORES, np.zeros(3, "int64")])


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
def test_kl_div(log_target: bool, reduction: str) -> None:
    target = RNG.uniform(0.05, 1, (3, 4))
    options = {"reduction": reduction, "log_target": log_target}
    compare(of("kl_div"), [SCORES, target], **options)
    if not log_target:
        zero = np.where(target < 0.3, 0.0, target)
        compare(
            lambda lib: lambda x: of("kl_div")(lib)(x, lib.tensor(zero), **options),
            [SCORES],
        )


def test_similarity() -> None:
    compare(of("cosine_similarity"), PAIR)
    compare(of("cosine_similarity"), PAIR, dim=0)
    zero = [np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[1.0, 2.0], [1.0, 0.0]])]
    compare(of("cosine_similarity"), zero, second=False)
    compare(of("pairwise_distance"), PAIR)
    compare(of("pairwise_distance"), PAIR, p=1.0)


def test_margins() -> None:
    signs = np.array([1.0, -1.0, 1.0])

    def signed(name: str, **options: Any) -> Callable[[Any], Any]:
        return lambda lib: lambda *xs: of(name)(lib)(*xs, lib.tensor(signs), **options)

    x, y = RNG.normal(size=3), RNG.normal(size=3)
    compare(signed("margin_ranking_loss", margin=0.3), [x, y])
    compare(signed("hinge_embedding_loss"), [np.abs(x)])
    compare(signed("soft_margin_loss"), [x])
    compare(signed("cosine_embedding_loss", margin=0.1), PAIR)
    three = [SCORES, *PAIR[::-1]]
    compare(of("triplet_margin_loss"), three, margin=2.0)
    compare(of("triplet_margin_loss"), three, margin=2.0, swap=True)


def test_densities() -> None:
    target = RNG.integers(0, 4, (3, 4)).astype("float64")

    def poisson(lib: Any) -> Any:
        return lambda x: of("poisson_nll_loss")(lib)(x, lib.tensor(target), full=True)

    compare(poisson, [SCORES])
    compare(of("poisson_nll_loss"), [np.abs(SCORES), target + 0.5], log_input=False)
    var = RNG.uniform(0.5, 2, (3, 4))
    compare(of("gaussian_nll_loss"), [*PAIR, var], full=True)
