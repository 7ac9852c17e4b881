"""PyTorch's own transformer layers on a task of sorting, with a padding mask."""

import torch
import torch.nn as nn

TOKENS, WIDTH, LENGTH, BATCH = 12, 32, 8, 8


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, WIDTH, padding_idx=0)
        self.position = nn.Parameter(torch.zeros(1, LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(
            d_model=WIDTH, nhead=4, dim_feedforward=64, dropout=0.1, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.head = nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens):
        padding = tokens == 0
        x = self.embed(tokens) + self.position
        x = self.encoder(x, src_key_padding_mask=padding)
        seen, _ = self.attention(x, x, x, key_padding_mask=padding)
        return self.head(x + seen)


def train(steps=50):
    torch.manual_seed(9)
    model = Sorter()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    for _ in range(steps):
        tokens = torch.randint(1, TOKENS, (BATCH, LENGTH))
        lengths = torch.randint(4, LENGTH + 1, (BATCH, 1))
        tokens = tokens.masked_fill(torch.arange(LENGTH) >= lengths, 0)
        wanted = torch.where(tokens == 0, 99, tokens).sort(dim=1).values
        wanted = wanted.masked_fill(wanted == 99, 0)
        loss = criterion(model(tokens).transpose(1, 2), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
