import torch
from torch import nn


class VALLF(nn.Module):

    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.predict = nn.Linear(dim, vocab)

    def forward(self, tokens, lens):
        hidden, _ = self.rnn(self.embed(tokens[:, :-1]))
        logits = self.predict(hidden)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0, reduction="sum")
        return loss, lens.sum() - len(lens)
