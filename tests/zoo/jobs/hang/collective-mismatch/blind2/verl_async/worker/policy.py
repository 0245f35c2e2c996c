import torch
from torch import nn


class Policy(nn.Module):

    def __init__(self, vocab, dim=24):
        super().__init__()
        self.emb, self.rnn, self.head = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.rnn(self.emb(tokens))[0])


def reward(responses):
    return (responses % 2 == 0).float().mean(1)
