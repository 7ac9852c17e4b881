"""A graph convolutional network on a made-up graph of three communities."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter

NODES, FEATURES, CLASSES = 45, 12, 3


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        self.bias = Parameter(torch.FloatTensor(out_features))
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        return torch.mm(adj, torch.mm(input, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.gc1 = GraphConvolution(FEATURES, 16)
        self.gc2 = GraphConvolution(16, CLASSES)

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, 0.5, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


def make_graph():
    labels = torch.arange(NODES) % CLASSES
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    chance = torch.where(same, torch.tensor(0.3), torch.tensor(0.05))
    adj = (torch.rand(NODES, NODES) < chance).float()
    adj = torch.maximum(adj, adj.t()) + torch.eye(NODES)
    degree = adj.sum(1).pow(-0.5)
    return torch.diag(degree) @ adj @ torch.diag(degree), labels


def train(steps=50):
    torch.manual_seed(42)
    adj, labels = make_graph()
    features = torch.randn(NODES, FEATURES) + F.one_hot(labels, FEATURES).float()
    idx_train = torch.LongTensor(range(0, 30))
    idx_val = torch.LongTensor(range(30, NODES))
    model = GCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(steps):
        model.train()
        optimizer.zero_grad()
        output = model(features, adj)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            output = model(features, adj)
            loss_val = F.nll_loss(output[idx_val], labels[idx_val])
        yield loss_train.item() + loss_val.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
