"""LoRA: a frozen network adapted by low-rank updates of its linear layers."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.lora_A = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / rank

    def forward(self, x):
        update = F.linear(F.linear(x, self.lora_A), self.lora_B)
        return self.base(x) + update * self.scaling


def adapt(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child))
        else:
            adapt(child)
    return module


def train(steps=50):
    torch.manual_seed(17)
    model = nn.Sequential(
        nn.Linear(10, 32),
        nn.ReLU(),
        nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 32), nn.SiLU()),
        nn.Linear(32, 3),
    )
    model = adapt(model)
    trained = [p for p in model.parameters() if p.requires_grad]
    frozen = {n: p.clone() for n, p in model.named_parameters() if not p.requires_grad}
    x = torch.randn(64, 10)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        yield loss.item()
    assert all(
        torch.equal(dict(model.named_parameters())[n], frozen[n]) for n in frozen
    )


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
