"""Functions of nn.functional, nn.init and nn.utils against PyTorch."""

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")


def _normals(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


Q, K, V = (_normals(2, 4, 5, 8), _normals(2, 4, 6, 8), _normals(2, 4, 6, 3))
SEEN = np.tril(np.ones((5, 6), bool))
NOBODY = SEEN.copy()
NOBODY[2] = False
ADDED = np.where(NOBODY, _normals(5, 6), -np.inf)
IMAGE = _normals(2, 3, 6, 7)
GRID = _normals(2, 4, 5, 2) * 0.8
VOLUME = _normals(2, 2, 4, 5, 3)
LABELS = np.array([2, 0, 3])
MANY = np.array([[1, 3, -1, 0], [0, -1, 2, 3], [3, 2, 1, 0]])


def _attend(**options):
    return lambda t, *x: t.nn.functional.scaled_dot_product_attention(*x, **options)


def _masked(mask, **options):
    def call(t, *x):
        given = t.tensor(mask)
        return t.nn.functional.scaled_dot_product_attention(*x, given, **options)

    return call


def _grid(**options):
    return lambda t, *x: t.nn.functional.grid_sample(*x, **options)


def _sized(**options):
    return lambda t, x: t.nn.functional.interpolate(x, **options)


def _unpooled(t, x):
    values, places = t.nn.functional.max_pool2d(x, 2, 2, return_indices=True)
    return t.nn.functional.max_unpool2d(values, places, 2, 2, output_size=(6, 7))


def _bag(mode, padding_idx=None, offsets=True):
    def call(t, weight):
        numbers = t.tensor([1, 2, 4, 5, 4, 3, 2, 1])
        if not offsets:
            return t.nn.functional.embedding_bag(
                numbers.reshape(2, 4), weight, mode=mode, padding_idx=padding_idx
            )
        starts = t.tensor([0, 3, 3, 5])
        return t.nn.functional.embedding_bag(
            numbers, weight, starts, mode=mode, padding_idx=padding_idx
        )

    return call


def _weighted_bag(t, weight, shares):
    numbers, starts = t.tensor([1, 2, 4]), t.tensor([0, 2])
    return t.nn.functional.embedding_bag(
        numbers, weight, starts, mode="sum", per_sample_weights=shares
    )


def _packed(module):
    def call(t, x):
        t.manual_seed(3)
        rnn_utils = t.nn.utils.rnn
        layer = getattr(t.nn, module)(4, 3, 2, bidirectional=True).double()
        packed = rnn_utils.pack_padded_sequence(
            x, t.tensor([2, 5, 3]), enforce_sorted=False
        )
        result, final = layer(packed)
        padded, lengths = rnn_utils.pad_packed_sequence(result, padding_value=0.5)
        final = final[1] if isinstance(final, tuple) else final
        return padded, lengths, final

    return call


def _round_trip(t, x):
    rows = [x[0, :2], x[1], x[2, :3]]
    rnn_utils = t.nn.utils.rnn
    padded = rnn_utils.pad_sequence(rows, True, 0.5)
    left = rnn_utils.pad_sequence(rows, padding_side="left")
    unpadded = rnn_utils.unpad_sequence(padded, t.tensor([2, 5, 3]), True)
    packed = rnn_utils.pack_sequence(rows, enforce_sorted=False)
    return (padded, left, *unpadded, packed.data, *rnn_utils.unpack_sequence(packed))


# Name: the call, and the arrays that it differentiates.
CALLS = {
    "attention": (_attend(), (Q, K, V)),
    "attention causal": (_attend(is_causal=True, scale=0.3), (Q, K, V)),
    "attention seen": (_masked(SEEN), (Q, K, V)),
    "attention nobody": (_masked(NOBODY), (Q, K, V)),
    "attention added": (_masked(ADDED), (Q, K, V)),
    "attention gqa": (_attend(enable_gqa=True), (Q, K[:, :2], V[:, :2])),
    "attention dropped": (_attend(dropout_p=0.4), (Q, K, V)),
    "attention of one head": (_attend(), (Q[0, 0], K[0, 0], V[0, 0])),
    "grid_sample": (_grid(align_corners=False), (IMAGE, GRID)),
    "grid_sample aligned": (
        _grid(align_corners=True, padding_mode="border"),
        (IMAGE, GRID),
    ),
    "grid_sample reflection": (
        _grid(align_corners=False, padding_mode="reflection"),
        (IMAGE, 2 * GRID),
    ),
    "grid_sample nearest": (
        _grid(align_corners=False, mode="nearest"),
        (IMAGE, GRID),
    ),
    "grid_sample bicubic": (
        _grid(align_corners=True, mode="bicubic"),
        (IMAGE, GRID),
    ),
    "grid_sample of volumes": (
        _grid(align_corners=False),
        (VOLUME, _normals(2, 3, 2, 2, 3)),
    ),
    "affine_grid": (
        lambda t, x: t.nn.functional.affine_grid(x, (2, 3, 4, 5), False),
        (_normals(2, 2, 3),),
    ),
    "affine_grid aligned": (
        lambda t, x: t.nn.functional.affine_grid(x, (2, 3, 4, 5, 3), True),
        (_normals(2, 3, 4),),
    ),
    "area": (_sized(size=(3, 2), mode="area"), (IMAGE,)),
    "bicubic aligned": (
        _sized(size=(3, 10), mode="bicubic", align_corners=True),
        (IMAGE,),
    ),
    "antialias bilinear": (
        _sized(size=(3, 10), mode="bilinear", antialias=True),
        (IMAGE,),
    ),
    "antialias bicubic": (
        _sized(size=(4, 2), mode="bicubic", antialias=True),
        (IMAGE,),
    ),
    "recomputed scale": (
        _sized(scale_factor=1.45, mode="bilinear", recompute_scale_factor=True),
        (IMAGE,),
    ),
    "max_unpool2d": (_unpooled, (IMAGE,)),
    "bag mean": (_bag("mean"), (_normals(6, 3),)),
    "bag sum": (_bag("sum", padding_idx=4), (_normals(6, 3),)),
    "bag mean padded": (_bag("mean", padding_idx=4), (_normals(6, 3),)),
    "bag max": (_bag("max"), (_normals(6, 3),)),
    "bag of rows": (_bag("mean", offsets=False), (_normals(6, 3),)),
    "bag weighted": (_weighted_bag, (_normals(6, 3), _normals(3))),
    "gumbel": (
        lambda t, x: t.nn.functional.gumbel_softmax(x, 0.7),
        (_normals(3, 20),),
    ),
    "gumbel hard": (
        lambda t, x: t.nn.functional.gumbel_softmax(x, hard=True, dim=0),
        (_normals(3, 20),),
    ),
    "rrelu": (lambda t, x: t.nn.functional.rrelu(x), (_normals(3, 4),)),
    "multi_margin": (
        lambda t, x: t.nn.functional.multi_margin_loss(x, t.tensor(LABELS), p=2),
        (_normals(3, 4),),
    ),
    "multi_margin weighted": (
        lambda t, x, w: t.nn.functional.multi_margin_loss(
            x, t.tensor(LABELS), weight=w.detach(), margin=0.5, reduction="none"
        ),
        (_normals(3, 4), np.abs(_normals(4))),
    ),
    "multilabel_margin": (
        lambda t, x: t.nn.functional.multilabel_margin_loss(x, t.tensor(MANY)),
        (_normals(3, 4),),
    ),
    "multilabel_soft_margin": (
        lambda t, x: t.nn.functional.multilabel_soft_margin_loss(
            x, t.tensor(MANY > 0).double(), reduction="sum"
        ),
        (_normals(3, 4),),
    ),
    "triplet": (
        lambda t, a, b, c: t.nn.functional.triplet_margin_with_distance_loss(
            a, b, c, swap=True
        ),
        tuple(_normals(3, 3, 4)),
    ),
    "packed RNN": (_packed("RNN"), (_normals(5, 3, 4),)),
    "packed LSTM": (_packed("LSTM"), (_normals(5, 3, 4),)),
    "packed GRU": (_packed("GRU"), (_normals(5, 3, 4),)),
    "sequences": (_round_trip, (_normals(3, 5, 4),)),
}


def _called(t, name):
    call, arrays = CALLS[name]
    t.manual_seed(5)
    given = [t.tensor(a, requires_grad=True) for a in arrays]
    found = call(t, *given)
    found = list(found) if isinstance(found, tuple) else [found]
    total = sum((f * f.cos()).sum() for f in found if f.requires_grad)
    total.backward()
    return found, given


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    found, given = _called(tg, name)
    wanted, their_given = _called(torch, name)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        assert f.detach().numpy().dtype == w.detach().numpy().dtype
        np.testing.assert_allclose(
            f.detach().numpy(), w.detach().numpy(), rtol=1e-7, atol=1e-9
        )
    for f, w in zip(given, their_given, strict=True):
        if f.grad is None:
            assert w.grad is None or not w.grad.any()
        else:
            np.testing.assert_allclose(
                f.grad.numpy(), w.grad.numpy(), rtol=1e-6, atol=1e-8
            )


def _parametrized(t, kind, layer):
    t.manual_seed(7)
    module = layer(t.nn)
    if kind.startswith("old"):
        return getattr(t.nn.utils, kind[4:])(module)
    return getattr(t.nn.utils.parametrizations, kind)(module)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layer", ["Linear", "Conv2d", "ConvTranspose2d"])
@pytest.mark.parametrize(
    "kind", ["weight_norm", "spectral_norm", "old weight_norm", "old spectral_norm"]
)
def test_norms_of_weights(kind, layer):
    makers = {
        "Linear": lambda nn: nn.Linear(4, 3),
        "Conv2d": lambda nn: nn.Conv2d(3, 4, 2),
        "ConvTranspose2d": lambda nn: nn.ConvTranspose2d(3, 4, 2),
    }
    ours = _parametrized(tg, kind, makers[layer])
    theirs = _parametrized(torch, kind, makers[layer])
    data = (_normals(2, 4) if layer == "Linear" else IMAGE).astype(np.float32)
    for _ in range(2):
        found, wanted = ours(tg.tensor(data)), theirs(torch.tensor(data))
        (found * found).sum().backward()
        (wanted * wanted).sum().backward()
        np.testing.assert_allclose(
            found.detach().numpy(), wanted.detach().numpy(), rtol=1e-4, atol=1e-5
        )
    assert sorted(ours.state_dict()) == sorted(theirs.state_dict())
    names = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        np.testing.assert_allclose(
            parameter.grad.numpy(), names[name].grad.numpy(), rtol=2e-3, atol=2e-4
        )


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal(shape):
    values = []
    for t in (tg, torch):
        t.manual_seed(2)
        values.append(t.nn.init.orthogonal_(t.empty(shape), 1.5).numpy())
    np.testing.assert_allclose(*values, rtol=1e-4, atol=2e-6)


def _heads(t, **options):
    layer = t.nn.MultiheadAttention(8, 2, batch_first=True)
    x = t.ones(3, 5, 8)
    return layer(x, x, x, **options)


MISTAKES = {
    "mask and causal": lambda t: t.nn.functional.scaled_dot_product_attention(
        *[t.ones(1, 2, 3)] * 3, t.ones(2, 2), is_causal=True
    ),
    "dtypes": lambda t: t.nn.functional.scaled_dot_product_attention(
        t.ones(2, 3), t.ones(2, 3).double(), t.ones(2, 3)
    ),
    "heads": lambda t: t.nn.MultiheadAttention(8, 3),
    "mask shape": lambda t: _heads(t, attn_mask=t.zeros(4, 5)),
    "features": lambda t: t.nn.LSTM(4, 3)(t.ones(2, 2, 5)),
    "rank": lambda t: t.nn.LSTM(4, 3)(t.ones(2, 2, 2, 4)),
    "state": lambda t: t.nn.GRU(4, 3)(t.ones(2, 2, 4), t.ones(1, 3, 3)),
    "hidden size": lambda t: t.nn.LSTM(4, 0),
    "projection": lambda t: t.nn.LSTM(4, 3, proj_size=3),
    "nonlinearity": lambda t: t.nn.RNN(4, 3, nonlinearity="abs"),
    "sizes": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 2, 2)),
    "both sizes": lambda t: t.nn.functional.interpolate(
        t.ones(1, 1, 2, 2), 2, scale_factor=2
    ),
    "mode": lambda t: t.nn.functional.interpolate(t.ones(1, 1, 2), 4, mode="cubic"),
    "mode of rank": lambda t: t.nn.functional.interpolate(
        t.ones(1, 1, 2), 4, mode="bilinear"
    ),
    "corners": lambda t: t.nn.functional.interpolate(
        t.ones(1, 1, 2), 4, align_corners=True
    ),
    "pixels": lambda t: t.nn.functional.pixel_shuffle(t.ones(1, 3, 2, 2), 2),
    "lengths": lambda t: t.nn.utils.rnn.pack_padded_sequence(
        t.ones(4, 2, 3), t.tensor([2, 4])
    ),
    "no length": lambda t: t.nn.utils.rnn.pack_padded_sequence(
        t.ones(4, 2, 3), t.tensor([2, 0])
    ),
    "no sequences": lambda t: t.nn.utils.rnn.pad_sequence([]),
    "lazy shape": lambda t: t.nn.LazyLinear(3).weight.shape,
    "vector": lambda t: t.nn.init.orthogonal_(t.ones(3)),
    "grid": lambda t: t.nn.functional.grid_sample(
        t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 3)
    ),
    "mode of bags": lambda t: t.nn.EmbeddingBag(3, 2, mode="min")(t.tensor([[1]])),
    "parametrize": lambda t: t.nn.utils.parametrize.register_parametrization(
        t.nn.Linear(2, 2), "wait", t.nn.Identity()
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MISTAKES)
def test_the_exceptions_are_theirs(name):
    with pytest.raises(Exception) as wanted:  # noqa: PT011
        MISTAKES[name](torch)
    with pytest.raises(wanted.type):
        MISTAKES[name](tg)
