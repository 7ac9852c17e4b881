"""A denoising diffusion model of points in the plane, with an average of weights."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS = 40


class SinusoidalEmbedding(nn.Module):
    def forward(self, t):
        freqs = torch.exp(-torch.arange(0, 8).float())
        angles = t.float().unsqueeze(-1) * freqs
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_mlp = nn.Sequential(
            SinusoidalEmbedding(), nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32)
        )
        self.inp = nn.Linear(2, 32)
        self.mid = nn.Sequential(nn.GroupNorm(4, 32), nn.SiLU(), nn.Linear(32, 32))
        self.out = nn.Linear(32, 2)

    def forward(self, x, t):
        h = self.inp(x) + self.time_mlp(t)
        return self.out(h + self.mid(h))


@torch.no_grad()
def update_average(average, model, decay=0.99):
    for kept, new in zip(average.parameters(), model.parameters()):
        kept.lerp_(new, 1 - decay)


def train(steps=50):
    torch.manual_seed(8)
    model = Denoiser()
    average = copy.deepcopy(model).requires_grad_(False)
    betas = torch.linspace(1e-4, 0.1, STEPS)
    alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
    angle = torch.rand(256) * 2 * torch.pi
    data = torch.stack([angle.cos(), angle.sin()], dim=-1)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(steps):
        x0 = data[torch.randint(0, 256, (64,))]
        t = torch.randint(0, STEPS, (64,))
        noise = torch.randn_like(x0)
        a = alphas_cumprod.gather(0, t).unsqueeze(-1)
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        loss = F.mse_loss(model(xt, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_average(average, model)
        with torch.no_grad():
            kept = F.mse_loss(average(xt, t), noise)
        yield loss.item() + kept.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
