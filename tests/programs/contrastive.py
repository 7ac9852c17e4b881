"""Contrastive learning in the manner of CLIP: two encoders, a learned temperature."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        x = self.body(x)
        return x / x.norm(dim=1, keepdim=True)


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual, self.text = Encoder(20), Encoder(14)
        self.logit_scale = nn.Parameter(torch.ones([]) * 2.0)

    def forward(self, images, texts):
        logits = self.logit_scale.exp() * self.visual(images) @ self.text(texts).t()
        return logits, logits.t()


def train(steps=50):
    torch.manual_seed(23)
    secret = torch.randn(24, 6)
    images = secret @ torch.randn(6, 20)
    texts = secret @ torch.randn(6, 14)
    model = CLIP()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, eps=1e-6)
    labels = torch.arange(24)
    for _ in range(steps):
        per_image, per_text = model(images, texts)
        total = F.cross_entropy(per_image, labels) + F.cross_entropy(per_text, labels)
        loss = total / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0, 4.6052)
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
