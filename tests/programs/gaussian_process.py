"""A Gaussian process by hand: the marginal likelihood through a Cholesky factor."""

import math

import torch


def kernel(x, y, log_length, log_scale):
    squared = (x.unsqueeze(1) - y.unsqueeze(0)).pow(2)
    return log_scale.exp() * torch.exp(-0.5 * squared / (2 * log_length).exp())


def train(steps=50):
    torch.manual_seed(13)
    x = torch.linspace(0, 1, 24, dtype=torch.float64)
    noise = 0.1 * torch.randn(24, dtype=torch.float64)
    y = torch.sin(2 * math.pi * x) + noise
    parameters = [
        torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in range(3)
    ]
    log_length, log_scale, log_noise = parameters
    optimizer = torch.optim.SGD(parameters, lr=1e-2, momentum=0.5)
    for _ in range(steps):
        optimizer.zero_grad()
        K = kernel(x, x, log_length, log_scale)
        K = K + (log_noise.exp() + 1e-4) * torch.eye(24, dtype=torch.float64)
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(y.unsqueeze(1), L)
        fit = 0.5 * (y @ alpha).squeeze()
        loss = (fit + L.diagonal().log().sum() + 12 * math.log(2 * math.pi)) / 24
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
