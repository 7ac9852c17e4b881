"""Functions of one's own with backward, hooks, and quantisation by straight-through."""

import torch
import torch.nn as nn


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, levels):
        ctx.save_for_backward(input)
        return torch.round(input * levels) / levels

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input, None


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i * i.sigmoid()
        ctx.save_for_backward(result, i)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        result, i = ctx.saved_tensors
        sigmoid_x = i.sigmoid()
        return grad_output * (result + sigmoid_x * (1 - result))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 24), nn.Linear(24, 2)

    def forward(self, x):
        h = Swish.apply(self.a(x))
        return self.b(StraightThrough.apply(torch.tanh(h), 8.0))


def train(steps=50):
    torch.manual_seed(51)
    model = Net()
    norms = []
    model.a.weight.register_hook(lambda g: g * 0.5)
    model.b.register_forward_hook(lambda m, args, out: norms.append(out.norm().item()))
    x = torch.randn(40, 6)
    y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].abs()], dim=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [20, 40], gamma=0.5)
    for _ in range(steps):
        loss = nn.HuberLoss()(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        yield loss.item() + 1e-3 * norms[-1]


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
