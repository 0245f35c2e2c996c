from torch import nn


class TemporalMixer(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.inp = nn.Linear(dim, hidden)
        self.conv = nn.Conv1d(hidden, hidden, 3, padding=1)
        self.out = nn.Linear(hidden, dim)

    def forward(self, x):
        h = self.inp(x).relu()
        h = h + self.conv(h.transpose(1, 2)).transpose(1, 2).relu()
        return x + self.out(h)
