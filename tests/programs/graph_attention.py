"""A graph attention network over an edge list: scatter, index_add, segment softmax."""

import torch
import torch.nn as nn
import torch.nn.functional as F

NODES, FEATURES, CLASSES = 30, 10, 3


class GATLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.W = nn.Parameter(torch.empty(inputs, outputs))
        self.a = nn.Parameter(torch.empty(2 * outputs, 1))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        nn.init.xavier_uniform_(self.a.data, gain=1.414)
        self.leakyrelu = nn.LeakyReLU(0.2)

    def forward(self, h, edges):
        source, target = edges
        z = h @ self.W
        pairs = torch.cat([z[source], z[target]], dim=1)
        score = self.leakyrelu(pairs @ self.a).squeeze(1)
        weight = torch.exp(score - score.max().detach())
        total = torch.zeros(h.size(0)).index_add(0, target, weight)
        alpha = (weight / total[target]).unsqueeze(1)
        out = torch.zeros_like(z)
        return out.scatter_add(
            0, target.unsqueeze(1).expand(-1, z.size(1)), alpha * z[source]
        )


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GATLayer(FEATURES, 16), GATLayer(16, CLASSES)

    def forward(self, x, edges):
        return self.second(F.elu(self.first(x, edges)), edges)


def train(steps=50):
    torch.manual_seed(77)
    labels = torch.arange(NODES) % CLASSES
    features = torch.randn(NODES, FEATURES)
    linked = torch.rand(NODES, NODES) < 0.15
    linked |= torch.eye(NODES, dtype=torch.bool)
    edges = linked.nonzero().t()
    model = GAT()
    optimizer = torch.optim.Adagrad(
        model.parameters(), lr=0.02, initial_accumulator_value=0.01
    )
    for _ in range(steps):
        loss = F.cross_entropy(model(features, edges), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
