"""Sequence to sequence with attention: reverse a string, teacher forcing by chance."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

LETTERS, WIDTH, LENGTH, BATCH = 12, 24, 6, 8


class EncoderRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(LETTERS, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)

    def forward(self, input):
        return self.gru(self.embedding(input))


class BahdanauAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wa = nn.Linear(WIDTH, WIDTH)
        self.Ua = nn.Linear(WIDTH, WIDTH)
        self.Va = nn.Linear(WIDTH, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        weights = F.softmax(scores.squeeze(2).unsqueeze(1), dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(LETTERS, WIDTH)
        self.attention = BahdanauAttention()
        self.gru = nn.GRU(2 * WIDTH, WIDTH, batch_first=True)
        self.out = nn.Linear(WIDTH, LETTERS)

    def forward(self, encoder_outputs, hidden, target, forced):
        token = torch.zeros(target.size(0), 1, dtype=torch.long)
        outputs = []
        for i in range(LENGTH):
            query = hidden.permute(1, 0, 2)
            context, _ = self.attention(query, encoder_outputs)
            cell = torch.cat((self.embedding(token), context), dim=2)
            output, hidden = self.gru(cell, hidden)
            outputs.append(self.out(output))
            if forced:
                token = target[:, i].unsqueeze(1)
            else:
                _, topi = outputs[-1].topk(1)
                token = topi.squeeze(-1).detach()
        return F.log_softmax(torch.cat(outputs, dim=1), dim=-1)


def train(steps=50):
    torch.manual_seed(7)
    random.seed(7)
    encoder, decoder = EncoderRNN(), AttnDecoderRNN()
    encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=5e-3)
    decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=5e-3)
    criterion = nn.NLLLoss()
    for _ in range(steps):
        source = torch.randint(1, LETTERS, (BATCH, LENGTH))
        target = source.flip(1)
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        outputs, hidden = encoder(source)
        predicted = decoder(outputs, hidden, target, random.random() < 0.8)
        loss = criterion(predicted.view(-1, LETTERS), target.reshape(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    for value in train():
        print(f"{value:.6f}")
