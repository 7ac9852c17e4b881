"""A Siamese network with a triplet loss and cosine similarities."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(12, 32), nn.BatchNorm1d(32), nn.PReLU(), nn.Linear(32, 8)
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def train(steps=50):
    torch.manual_seed(19)
    centres = torch.randn(4, 12)
    model = Embedder()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.5)
    triplet = nn.TripletMarginLoss(margin=1.5)
    for _ in range(steps):
        kinds = torch.randint(0, 4, (16,))
        others = (kinds + torch.randint(1, 4, (16,))) % 4
        anchor = model(centres[kinds] + 0.9 * torch.randn(16, 12))
        positive = model(centres[kinds] + 0.9 * torch.randn(16, 12))
        negative = model(centres[others] + 0.9 * torch.randn(16, 12))
        spread = F.cosine_similarity(anchor, negative).clamp(min=0).mean()
        loss = triplet(anchor, positive, negative) + 0.1 * spread
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
