"""A convolutional classifier in the manner of the MNIST example, with a DataLoader."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, 1)
        self.conv2 = nn.Conv2d(6, 12, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(192, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = self.dropout2(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(steps=50):
    torch.manual_seed(1)
    images, labels = torch.randn(180, 1, 12, 12), torch.randint(0, 10, (180,))
    kept, _ = random_split(TensorDataset(images, labels), [160, 20])
    loader = DataLoader(kept, batch_size=16, shuffle=True, drop_last=True)
    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    taken = 0
    while taken < steps:
        for data, target in loader:
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            taken += 1
            yield loss.item()
            if taken == steps:
                return
        scheduler.step()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
