"""Style transfer: an image is the parameter; Gram matrices, LBFGS with a closure.

In float64: LBFGS divides differences of gradients, and so makes rounding large.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


def gram_matrix(features):
    a, b, c, d = features.size()
    flat = features.view(a * b, c * d)
    return torch.mm(flat, flat.t()).div(a * b * c * d)


def train(steps=50):
    torch.manual_seed(41)
    first = nn.Conv2d(3, 8, 3, padding=1).double()
    second = nn.Conv2d(8, 8, 3, padding=1, stride=2).double()
    for p in (*first.parameters(), *second.parameters()):
        p.requires_grad_(False)
    content, style = torch.rand(2, 1, 3, 10, 10, dtype=torch.float64)

    def features(image):
        low = torch.tanh(first(image))
        return low, torch.tanh(second(low))

    wanted = gram_matrix(features(style)[0]).detach()
    kept = features(content)[1].detach()
    image = content.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS([image], lr=0.1, max_iter=2, history_size=5)
    for _ in range(steps):

        def closure():
            optimizer.zero_grad()
            low, high = features(image)
            loss = 1e4 * F.mse_loss(gram_matrix(low), wanted) + F.mse_loss(high, kept)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
