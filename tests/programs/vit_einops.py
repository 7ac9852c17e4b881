"""A vision transformer whose shapes are written with einops and its layers."""

import torch
from einops import rearrange, repeat
from einops.layers.torch import Rearrange, Reduce
from torch import nn

DIM, HEADS, CLASSES = 24, 3, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.to_qkv = nn.Linear(DIM, DIM * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(DIM, DIM), nn.Dropout(0.0))

    def forward(self, x):
        qkv = self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=HEADS) for t in qkv)
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(dim=-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_patches = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=4, p2=4),
            nn.Linear(48, DIM),
        )
        self.pos_embedding = nn.Parameter(torch.randn(1, 17, DIM))
        self.cls_token = nn.Parameter(torch.randn(1, 1, DIM))
        self.attention = Attention()
        self.head = nn.Sequential(
            Reduce("b n d -> b d", "mean"), nn.LayerNorm(DIM), nn.Linear(DIM, CLASSES)
        )

    def forward(self, img):
        x = self.to_patches(img)
        cls_tokens = repeat(self.cls_token, "1 1 d -> b 1 d", b=x.shape[0])
        x = torch.cat((cls_tokens, x), dim=1) + self.pos_embedding
        return self.head(self.attention(x) + x)


def train(steps=50):
    torch.manual_seed(3)
    model = ViT()
    images, labels = torch.randn(16, 3, 16, 16), torch.arange(16) % CLASSES
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    for _ in range(steps):
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
