"""Training steps of whole models: captured without fallback, equal to eager ones."""

import numpy as np
import pytest

import tracegrad as tg

nn, F = tg.nn, tg.nn.functional


def _integers(*shape):
    return tg.tensor(np.random.default_rng(0).integers(0, 11, shape))


def _normals(*shape):
    return tg.tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))


class LanguageModel(nn.Module):
    """An LSTM over words."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.recurrence = nn.LSTM(8, 8, 2, dropout=0.2)
        self.out = nn.Linear(8, 11)

    def forward(self, x):
        hidden, _ = self.recurrence(self.words(x))
        return self.out(hidden)


class Encoder(nn.Module):
    """A causal transformer over words."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(8, 11)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.out(self.encoder(self.words(x), mask, is_causal=True))


class Translator(nn.Module):
    """Encoder and decoder."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.transformer = nn.Transformer(8, 2, 1, 1, 16, 0.0)
        self.out = nn.Linear(8, 11)

    def forward(self, x):
        words = self.words(x)
        return self.out(self.transformer(words, words))


class UNet(nn.Module):
    """Down, up, and across."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.GroupNorm(2, 4)
        self.second = nn.Conv2d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.third = nn.Conv2d(8, 4, 3, padding="same")
        self.upsample = nn.Upsample(scale_factor=2, mode="bilinear")
        self.nearest = nn.Upsample(scale_factor=2)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = F.relu(self.norm(self.first(x)))
        b = F.silu(self.second(F.max_pool2d(a, 2)))
        y = F.relu(self.third(tg.cat([a, self.up(b)], 1)))
        small = F.avg_pool2d(y, 2)
        return self.out(self.upsample(small) + self.nearest(small))


class Gated(nn.Module):
    """A GRU in both directions."""

    def __init__(self):
        super().__init__()
        self.recurrence = nn.GRU(4, 5, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 3)

    def forward(self, x):
        return self.out(self.recurrence(x)[0])


class Attention(nn.Module):
    """Heads with padding, in a chosen kernel."""

    def __init__(self):
        super().__init__()
        self.heads = nn.MultiheadAttention(8, 2, 0.1)

    def forward(self, x):
        padding = tg.tensor([[False] * 4 + [True]] * 3)
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
            y, weights = self.heads(x, x, x, key_padding_mask=padding)
        seen = F.scaled_dot_product_attention(y, y, y, is_causal=True)
        return seen + weights.sum()


class Spatial(nn.Module):
    """A spatial transformer over shuffled pixels."""

    def __init__(self):
        super().__init__()
        self.angles = nn.Linear(4, 6)

    def forward(self, x):
        theta = self.angles(x.mean((2, 3))).reshape(-1, 2, 3)
        grid = F.affine_grid(theta, (x.shape[0], 1, 4, 4), align_corners=False)
        image = F.pixel_shuffle(x, 2)
        return F.grid_sample(image, grid, align_corners=False)


class Normed(nn.Module):
    """Weights that are parametrized."""

    def __init__(self):
        super().__init__()
        norms = nn.utils.parametrizations
        self.first = norms.weight_norm(nn.Linear(4, 6))
        self.second = norms.spectral_norm(nn.Linear(6, 3))

    def forward(self, x):
        return self.second(self.first(x))


def _entropy(result, x):
    return F.cross_entropy(result.reshape(-1, 11), x.reshape(-1))


def _square(result, _):
    return (result * result).mean()


MODELS = {
    LanguageModel: (_integers(5, 4), _entropy),
    Encoder: (_integers(3, 5), _entropy),
    Translator: (_integers(3, 5), _entropy),
    UNet: (_normals(2, 1, 8, 8), _square),
    Gated: (_normals(3, 6, 4), _square),
    Attention: (_normals(5, 3, 8), _square),
    Spatial: (_normals(2, 4, 3, 3), _square),
    Normed: (_normals(3, 4), _square),
}


def _losses(kind, traced):
    x, loss_of = MODELS[kind]
    tg.manual_seed(0)
    model = kind()
    optimizer = tg.optim.Adam(model.parameters(), 1e-2)

    def step(x):
        optimizer.zero_grad()
        loss = loss_of(model(x), x)
        loss.backward()
        optimizer.step()
        return loss

    called = tg.trace(step) if traced else step
    losses = [called(x).item() for _ in range(3)]
    return losses, str(called.explain()) if traced else ""


@pytest.mark.parametrize("kind", MODELS)
def test_a_captured_step_is_the_eager_one(kind):
    eager, _ = _losses(kind, False)
    captured, how = _losses(kind, True)
    np.testing.assert_allclose(captured, eager, rtol=1e-6)
    assert eager[-1] != eager[0]
    assert "ran eagerly" not in how
    assert "program 1" in how
