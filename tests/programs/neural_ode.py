"""A neural ODE: a spiral fitted through Runge-Kutta steps of a small network."""

import torch
import torch.nn as nn

TRUE_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


def odeint(func, y, times):
    found = [y]
    for t0, t1 in zip(times[:-1], times[1:]):
        dt = t1 - t0
        k1 = func(t0, y)
        k2 = func(t0 + dt / 2, y + dt * k1 / 2)
        k3 = func(t0 + dt / 2, y + dt * k2 / 2)
        k4 = func(t1, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        found.append(y)
    return torch.stack(found)


def train(steps=50):
    torch.manual_seed(2)
    t = torch.linspace(0.0, 1.0, 8)
    y0 = torch.randn(6, 2)
    with torch.no_grad():
        true_y = odeint(lambda t, y: torch.mm(y**3, TRUE_A), y0, t)
    func = ODEFunc()
    optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.mean(torch.abs(odeint(func, y0, t) - true_y))
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
