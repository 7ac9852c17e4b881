"""A normalizing flow: affine coupling layers that learn two moons' density."""

import math

import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", torch.tensor(mask))
        self.s = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 2))
        self.t = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(), nn.Linear(32, 2))

    def forward(self, x):
        kept = x * self.mask
        s = torch.tanh(self.s(kept)) * (1 - self.mask)
        t = self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(dim=1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        masks = [[0.0, 1.0], [1.0, 0.0]] * 2
        self.layers = nn.ModuleList([Coupling(mask) for mask in masks])

    def log_prob(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, part = layer(x)
            log_det += part
        base = -0.5 * (x**2 + math.log(2 * math.pi)).sum(-1)
        return base + log_det


def two_moons(count):
    angle = torch.rand(count) * math.pi
    upper = torch.arange(count) % 2 == 0
    x = torch.where(upper, torch.cos(angle), 1 - torch.cos(angle))
    y = torch.where(upper, torch.sin(angle), 0.5 - torch.sin(angle))
    return torch.stack([x, y], dim=1) + 0.05 * torch.randn(count, 2)


def train(steps=50):
    torch.manual_seed(21)
    data = two_moons(128)
    flow = Flow()
    optimizer = torch.optim.Adam(flow.parameters(), lr=2e-3)
    for _ in range(steps):
        loss = -flow.log_prob(data[torch.randperm(128)[:64]]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
