"""Layers of issue 3 against PyTorch: first values, forward, backward, state, text."""

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")


def _normals(*shape):
    return lambda: (np.random.default_rng(4).normal(size=shape),)


def _several(*shapes):
    return lambda: tuple(
        np.random.default_rng(i).normal(size=s) for i, s in enumerate(shapes)
    )


IMAGES = _normals(3, 4, 7, 6)
VOLUMES = _normals(2, 2, 4, 5, 3)
SEQUENCES = _normals(3, 4, 7)
STEPS = _normals(5, 3, 4)
MEMORY = _several((5, 3, 8), (4, 3, 8))
THREE = _several((5, 3, 8), (4, 3, 6), (4, 3, 4))

# Name: how the layer is made, and what it is given.
LAYERS = {
    "LazyLinear": (lambda nn: nn.LazyLinear(3), STEPS),
    "LazyConv1d": (lambda nn: nn.LazyConv1d(6, 3, padding=1), SEQUENCES),
    "LazyConv2d": (lambda nn: nn.LazyConv2d(6, 3, groups=2, bias=False), IMAGES),
    "LazyConv3d": (lambda nn: nn.LazyConv3d(2, 2), VOLUMES),
    "LazyConvTranspose1d": (lambda nn: nn.LazyConvTranspose1d(6, 3), SEQUENCES),
    "LazyConvTranspose2d": (lambda nn: nn.LazyConvTranspose2d(6, 3, 2), IMAGES),
    "LazyConvTranspose3d": (lambda nn: nn.LazyConvTranspose3d(2, 2), VOLUMES),
    "LazyBatchNorm1d": (lambda nn: nn.LazyBatchNorm1d(), SEQUENCES),
    "LazyBatchNorm2d": (lambda nn: nn.LazyBatchNorm2d(), IMAGES),
    "LazyBatchNorm3d": (lambda nn: nn.LazyBatchNorm3d(momentum=0.3), VOLUMES),
    "LazyInstanceNorm2d": (lambda nn: nn.LazyInstanceNorm2d(affine=True), IMAGES),
    "ConvTranspose3d": (
        lambda nn: nn.ConvTranspose3d(2, 3, 2, 2, 1, output_padding=1),
        VOLUMES,
    ),
    "InstanceNorm3d": (lambda nn: nn.InstanceNorm3d(2, affine=True), VOLUMES),
    "AdaptiveAvgPool3d": (lambda nn: nn.AdaptiveAvgPool3d((2, 3, None)), VOLUMES),
    "AdaptiveMaxPool3d": (lambda nn: nn.AdaptiveMaxPool3d(2), VOLUMES),
    "LPPool1d": (lambda nn: nn.LPPool1d(2, 3), SEQUENCES),
    "LPPool2d": (lambda nn: nn.LPPool2d(2, (2, 3), 1, True), IMAGES),
    "LocalResponseNorm": (lambda nn: nn.LocalResponseNorm(3, 0.1), IMAGES),
    "PixelShuffle": (lambda nn: nn.PixelShuffle(2), IMAGES),
    "PixelUnshuffle": (lambda nn: nn.PixelUnshuffle(2), _normals(2, 3, 4, 6)),
    "ChannelShuffle": (lambda nn: nn.ChannelShuffle(2), IMAGES),
    "Unfold": (lambda nn: nn.Unfold((2, 3), 1, 1, 2), IMAGES),
    "Fold": (lambda nn: nn.Fold((4, 5), 2), _normals(2, 8, 12)),
    "ConstantPad1d": (lambda nn: nn.ConstantPad1d((1, 2), 0.5), SEQUENCES),
    "ConstantPad2d": (lambda nn: nn.ConstantPad2d(1, 0.5), IMAGES),
    "ConstantPad3d": (lambda nn: nn.ConstantPad3d(1, 0.5), VOLUMES),
    "ZeroPad1d": (lambda nn: nn.ZeroPad1d(2), SEQUENCES),
    "ZeroPad2d": (lambda nn: nn.ZeroPad2d((1, 2, -1, 0)), IMAGES),
    "ZeroPad3d": (lambda nn: nn.ZeroPad3d(1), VOLUMES),
    "ReflectionPad1d": (lambda nn: nn.ReflectionPad1d(2), SEQUENCES),
    "ReflectionPad2d": (lambda nn: nn.ReflectionPad2d((1, 2, 0, 1)), IMAGES),
    "ReflectionPad3d": (lambda nn: nn.ReflectionPad3d(1), VOLUMES),
    "ReplicationPad1d": (lambda nn: nn.ReplicationPad1d(2), SEQUENCES),
    "ReplicationPad2d": (lambda nn: nn.ReplicationPad2d((1, 2, 0, 1)), IMAGES),
    "ReplicationPad3d": (lambda nn: nn.ReplicationPad3d(1), VOLUMES),
    "CircularPad1d": (lambda nn: nn.CircularPad1d(2), SEQUENCES),
    "CircularPad2d": (lambda nn: nn.CircularPad2d((1, 2, 0, 1)), IMAGES),
    "CircularPad3d": (lambda nn: nn.CircularPad3d(1), VOLUMES),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=2), IMAGES),
    "Upsample odd": (lambda nn: nn.Upsample(size=(5, 11)), IMAGES),
    "Upsample exact": (
        lambda nn: nn.Upsample(scale_factor=1.7, mode="nearest-exact"),
        IMAGES,
    ),
    "Upsample linear": (lambda nn: nn.Upsample(scale_factor=2.5, mode="linear"), STEPS),
    "Upsample bilinear": (
        lambda nn: nn.Upsample(scale_factor=(2, 1.5), mode="bilinear"),
        IMAGES,
    ),
    "Upsample aligned": (
        lambda nn: nn.Upsample((3, 9), mode="bilinear", align_corners=True),
        IMAGES,
    ),
    "Upsample bicubic": (lambda nn: nn.Upsample((12, 4), mode="bicubic"), IMAGES),
    "Upsample trilinear": (
        lambda nn: nn.Upsample(scale_factor=2, mode="trilinear"),
        VOLUMES,
    ),
    "UpsamplingNearest2d": (lambda nn: nn.UpsamplingNearest2d(size=9), IMAGES),
    "UpsamplingBilinear2d": (
        lambda nn: nn.UpsamplingBilinear2d(scale_factor=2),
        IMAGES,
    ),
    "CosineSimilarity": (
        lambda nn: nn.CosineSimilarity(2),
        _several((2, 3, 4), (2, 3, 4)),
    ),
    "PairwiseDistance": (
        lambda nn: nn.PairwiseDistance(1.0, keepdim=True),
        _several((3, 4), (3, 4)),
    ),
    "FeatureAlphaDropout": (lambda nn: nn.FeatureAlphaDropout(0.3), IMAGES),
    "RNN": (lambda nn: nn.RNN(4, 5), STEPS),
    "RNN relu": (
        lambda nn: nn.RNN(4, 5, 2, nonlinearity="relu", bidirectional=True),
        STEPS,
    ),
    "LSTM": (lambda nn: nn.LSTM(4, 5), STEPS),
    "LSTM all": (
        lambda nn: nn.LSTM(
            4, 5, 2, batch_first=True, dropout=0.4, bidirectional=True, proj_size=3
        ),
        STEPS,
    ),
    "LSTM unbatched": (lambda nn: nn.LSTM(4, 5, 2, bias=False), _normals(6, 4)),
    "LSTM of states": (
        lambda nn: _WithStates(nn, nn.LSTM(4, 5)),
        _several((5, 3, 4), (1, 3, 5), (1, 3, 5)),
    ),
    "GRU": (lambda nn: nn.GRU(4, 5), STEPS),
    "GRU all": (
        lambda nn: nn.GRU(4, 5, 2, batch_first=True, bidirectional=True),
        STEPS,
    ),
    "RNNCell": (lambda nn: nn.RNNCell(4, 5, nonlinearity="relu"), _normals(3, 4)),
    "LSTMCell": (lambda nn: nn.LSTMCell(4, 5), _normals(3, 4)),
    "GRUCell": (lambda nn: nn.GRUCell(4, 5, bias=False), _several((3, 4), (3, 5))),
    "MultiheadAttention": (
        lambda nn: nn.MultiheadAttention(8, 2),
        _several((5, 3, 8), (4, 3, 8), (4, 3, 8)),
    ),
    "MultiheadAttention all": (
        lambda nn: nn.MultiheadAttention(
            8, 4, 0.3, add_bias_kv=True, add_zero_attn=True, kdim=6, vdim=4
        ),
        THREE,
    ),
    "MultiheadAttention batch first": (
        lambda nn: nn.MultiheadAttention(8, 2, bias=False, batch_first=True),
        _several((3, 5, 8), (3, 4, 8), (3, 4, 8)),
    ),
    "TransformerEncoderLayer": (
        lambda nn: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2),
        _normals(5, 3, 8),
    ),
    "TransformerEncoderLayer first": (
        lambda nn: nn.TransformerEncoderLayer(
            8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=True, bias=False
        ),
        _normals(3, 5, 8),
    ),
    "TransformerDecoderLayer": (
        lambda nn: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0),
        MEMORY,
    ),
    "TransformerDecoderLayer first": (
        lambda nn: nn.TransformerDecoderLayer(8, 2, 16, 0.2, norm_first=True),
        MEMORY,
    ),
    "TransformerEncoder": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
            2,
            nn.LayerNorm(8),
            enable_nested_tensor=False,
        ),
        _normals(3, 5, 8),
    ),
    "Transformer": (
        lambda nn: nn.Transformer(8, 2, 1, 2, 16, 0.1),
        _several((5, 3, 8), (4, 3, 8)),
    ),
}


def _WithStates(nn, lstm):  # noqa: N802
    """Make a module that hands an LSTM its states."""

    class WithStates(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = lstm

        def forward(self, x, h, c):
            return self.lstm(x, (h, c))

    return WithStates()


def _made(name):
    make, _ = LAYERS[name]
    torch.manual_seed(11)
    tg.manual_seed(11)
    return make(tg.nn), make(torch.nn)


def _flat(result):
    if isinstance(result, tuple):
        return [x for part in result for x in _flat(part)]
    return [] if result is None else [result]


def _same_states(ours, theirs, **tolerance):
    ours, theirs = ours.state_dict(), theirs.state_dict()
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        np.testing.assert_allclose(
            ours[name].numpy(),
            value.numpy(),
            err_msg=name,
            **(tolerance or {"rtol": 3e-7}),
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in LAYERS if "Lazy" not in n])
def test_initial_values_and_text(name):
    ours, theirs = _made(name)
    _same_states(ours, theirs)
    assert repr(ours) == repr(theirs)
    np.testing.assert_array_equal(tg.rand(3).numpy(), torch.rand(3).numpy())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_forward_and_backward(name, training):
    ours, theirs = _made(name)
    ours.double().train(training)
    theirs.double().train(training)
    data = LAYERS[name][1]()
    given = [tg.tensor(d, requires_grad=True) for d in data]
    their_given = [torch.tensor(d, requires_grad=True) for d in data]
    torch.manual_seed(12)
    tg.manual_seed(12)
    for _ in range(2):
        found, wanted = _flat(ours(*given)), _flat(theirs(*their_given))
        assert len(found) == len(wanted)
        total, their_total = 0.0, 0.0
        for f, w in zip(found, wanted, strict=True):
            assert tuple(f.shape) == tuple(w.shape)
            np.testing.assert_allclose(
                f.detach().numpy(), w.detach().numpy(), rtol=1e-7, atol=1e-9
            )
            total = total + (f * f.cos()).sum()
            their_total = their_total + (w * w.cos()).sum()
        total.backward()
        their_total.backward()
    assert type(ours).__name__ == type(theirs).__name__
    pairs = [
        *zip(given, their_given, strict=True),
        *zip(ours.parameters(), theirs.parameters(), strict=True),
    ]
    for f, w in pairs:
        assert (f.grad is None) == (w.grad is None)
        if w.grad is not None:
            np.testing.assert_allclose(
                f.grad.numpy(), w.grad.numpy(), rtol=1e-6, atol=1e-8
            )
    _same_states(ours, theirs, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in LAYERS if "Upsample" not in n][::3])
def test_a_state_of_theirs_loads(name):
    ours, theirs = _made(name)
    data = [d.astype(np.float32) for d in LAYERS[name][1]()]
    theirs.eval()(*map(torch.tensor, data))
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.mul_(1.5)
    state = {n: tg.tensor(v.numpy()) for n, v in theirs.state_dict().items()}
    ours.load_state_dict(state)
    found = _flat(ours.eval()(*map(tg.tensor, data)))
    wanted = _flat(theirs(*map(torch.tensor, data)))
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(
            f.detach().numpy(), w.detach().numpy(), rtol=2e-4, atol=2e-5
        )
