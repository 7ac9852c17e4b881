"""A llama-like decoder: rotary embeddings, RMSNorm, SwiGLU, grouped heads."""

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, DIM, HEADS, GROUPS, LENGTH = 24, 32, 4, 2, 12
HEAD = DIM // HEADS


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return (x.float() * scale).type_as(x) * self.weight


def rotary(length):
    freqs = 1.0 / (10000.0 ** (torch.arange(0, HEAD, 2)[: HEAD // 2].float() / HEAD))
    angles = torch.outer(torch.arange(length), freqs).float()
    return torch.cos(angles), torch.sin(angles)


def apply_rotary(x, cos, sin):
    even, odd = x.float().reshape(x.shape[:-1] + (-1, 2)).unbind(-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, DIM, bias=False)
        self.wk = nn.Linear(DIM, GROUPS * HEAD, bias=False)
        self.wv = nn.Linear(DIM, GROUPS * HEAD, bias=False)
        self.wo = nn.Linear(DIM, DIM, bias=False)

    def forward(self, x, cos, sin, mask):
        b, n, _ = x.shape
        q = apply_rotary(self.wq(x).view(b, n, HEADS, HEAD), cos, sin)
        k = apply_rotary(self.wk(x).view(b, n, GROUPS, HEAD), cos, sin)
        v = self.wv(x).view(b, n, GROUPS, HEAD)
        k = k.repeat_interleave(HEADS // GROUPS, dim=2)
        v = v.repeat_interleave(HEADS // GROUPS, dim=2)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        scores = torch.matmul(q, k.transpose(2, 3)) / HEAD**0.5 + mask
        scores = F.softmax(scores.float(), dim=-1).type_as(q)
        out = torch.matmul(scores, v).transpose(1, 2).contiguous().view(b, n, -1)
        return self.wo(out)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCABULARY, DIM)
        self.norm1, self.norm2, self.norm3 = RMSNorm(DIM), RMSNorm(DIM), RMSNorm(DIM)
        self.attention = Attention()
        self.w1 = nn.Linear(DIM, 48, bias=False)
        self.w2 = nn.Linear(48, DIM, bias=False)
        self.w3 = nn.Linear(DIM, 48, bias=False)
        self.output = nn.Linear(DIM, VOCABULARY, bias=False)
        cos, sin = rotary(LENGTH)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens):
        mask = torch.full((LENGTH, LENGTH), float("-inf")).triu(diagonal=1)
        h = self.tok_embeddings(tokens)
        h = h + self.attention(self.norm1(h), self.cos, self.sin, mask)
        x = self.norm2(h)
        h = h + self.w2(F.silu(self.w1(x)) * self.w3(x))
        return self.output(self.norm3(h))


def train(steps=50):
    torch.manual_seed(31)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        start = torch.randint(0, VOCABULARY, (8, 1))
        tokens = (start + torch.arange(LENGTH + 1) * 3) % VOCABULARY
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
