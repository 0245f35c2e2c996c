import torch
from torch import nn


class Tracker(nn.Module):
    """Predicts the next bird position from a window of radar echoes."""

    def __init__(self, echoes=6, dim=48):
        super().__init__()
        self.inp = nn.Linear(echoes, dim)
        self.rnn = nn.LSTM(dim, dim, 2, batch_first=True)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        return self.out(self.rnn(torch.tanh(self.inp(x)))[0][:, -1])


def flights(n, g):
    t = torch.arange(21.0)
    v, a = torch.randn(n, 1, 2, generator=g), 0.05 * torch.randn(n, 1, 2, generator=g)
    path = v * t[None, :, None] * 0.1 + a * t[None, :, None] ** 2 * 0.1
    echo = torch.cat([path, path.flip(-1), path ** 2], -1) + 0.05 * torch.randn(n, 21, 6, generator=g)
    return echo[:, :-1], path[:, -1]
