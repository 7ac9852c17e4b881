"""A word language model: two-layer LSTM, tied weights, truncated backprop."""

import torch
import torch.nn as nn

VOCABULARY, WIDTH, BPTT, BATCH = 20, 24, 10, 4


class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(VOCABULARY, WIDTH)
        self.rnn = nn.LSTM(WIDTH, WIDTH, 2, dropout=0.2)
        self.decoder = nn.Linear(WIDTH, VOCABULARY)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output)).view(-1, VOCABULARY)
        return nn.functional.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(2, bsz, WIDTH), weight.new_zeros(2, bsz, WIDTH))


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def train(steps=50):
    torch.manual_seed(1111)
    words = torch.randint(0, VOCABULARY, (BATCH * 60,))
    data = words.view(BATCH, -1).t().contiguous()
    model = RNNModel()
    criterion = nn.NLLLoss()
    hidden = model.init_hidden(BATCH)
    model.train()
    for step in range(steps):
        i = (step * BPTT) % (data.size(0) - BPTT - 1)
        inputs, targets = data[i : i + BPTT], data[i + 1 : i + 1 + BPTT].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(inputs, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-2.0)
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
