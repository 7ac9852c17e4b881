"""A small vision transformer on made-up images, with sine positions."""

import torch
import torch.nn.functional as F
from torch import nn

SIZE, PATCH, DIM, HEADS, CLASSES = 16, 4, 32, 4, 5


def posemb_sincos_2d(h, w, dim, temperature=10000, dtype=torch.float32):
    y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    omega = torch.arange(dim // 4) / (dim // 4 - 1)
    omega = 1.0 / (temperature**omega)
    y = y.flatten()[:, None] * omega[None, :]
    x = x.flatten()[:, None] * omega[None, :]
    return torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), dim=1).type(dtype)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_dim, dim),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, n, d = x.shape
        qkv = self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (t.reshape(b, n, self.heads, -1).permute(0, 2, 1, 3) for t in qkv)
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        out = torch.matmul(self.attend(dots), v)
        return self.to_out(out.permute(0, 2, 1, 3).reshape(b, n, d))


class ViT(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        patch_dim = 3 * PATCH * PATCH
        self.to_patch_embedding = nn.Sequential(
            nn.LayerNorm(patch_dim), nn.Linear(patch_dim, DIM), nn.LayerNorm(DIM)
        )
        self.cls_token = nn.Parameter(torch.randn(1, 1, DIM))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            pair = nn.ModuleList([Attention(DIM, HEADS), FeedForward(DIM, 2 * DIM)])
            self.layers.append(pair)
        self.norm = nn.LayerNorm(DIM)
        self.linear_head = nn.Linear(DIM, CLASSES)

    def forward(self, img):
        b = img.shape[0]
        side = SIZE // PATCH
        x = img.unfold(2, PATCH, PATCH).unfold(3, PATCH, PATCH)
        x = x.permute(0, 2, 3, 4, 5, 1).reshape(b, side * side, -1)
        x = self.to_patch_embedding(x)
        x += posemb_sincos_2d(side, side, DIM).to(x.device, dtype=x.dtype)
        x = torch.cat((self.cls_token.expand(b, -1, -1), x), dim=1)
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.linear_head(self.norm(x)[:, 0])


def train(steps=50):
    torch.manual_seed(0)
    model = ViT()
    images = torch.randn(32, 3, SIZE, SIZE)
    labels = torch.randint(0, CLASSES, (32,))
    images = images + labels.float()[:, None, None, None] * 0.5
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=50)
    model.train()
    for step in range(steps):
        rows = slice(8 * (step % 4), 8 * (step % 4) + 8)
        loss = F.cross_entropy(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
