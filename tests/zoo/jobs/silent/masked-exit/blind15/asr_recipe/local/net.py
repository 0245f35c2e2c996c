import torch
from torch import nn


class Conformerish(nn.Module):
    def __init__(self, bands=12, width=40, symbols=12):
        super().__init__()
        self.front = nn.Conv1d(bands, width, 5, padding=2)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, symbols)

    def forward(self, frames):
        h = torch.relu(self.front(frames.transpose(1, 2))).transpose(1, 2)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


class LabelSmoother:
    """Unigram-smoothed targets for the auxiliary frame loss."""

    def __init__(self, symbols=12, eps=0.1):
        self.counts = torch.ones(symbols)
        self.eps = eps

    def update(self, text):
        self.counts += torch.bincount(text, minlength=len(self.counts))

    def prior(self):
        return self.counts / self.counts.sum()
