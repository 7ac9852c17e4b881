"""A physics-informed network: u'' = -sin x with second derivatives by autograd."""

import torch
from torch import nn
from torch.autograd import grad


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1)
        )
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.layers(x)


def residual(model, x):
    u = model(x)
    u_x = grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_xx = grad(u_x, x, grad_outputs=torch.ones_like(u_x), create_graph=True)[0]
    return u_xx + torch.sin(x)


def train(steps=50):
    torch.manual_seed(11)
    model = Network()
    x = torch.linspace(0, torch.pi, 40).reshape(-1, 1).requires_grad_(True)
    ends = torch.tensor([[0.0], [torch.pi]])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = residual(model, x).pow(2).mean() + 10 * model(ends).square().mean()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
