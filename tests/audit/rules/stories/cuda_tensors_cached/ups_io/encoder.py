import torch.nn as nn


class GridEncoder(nn.Module):
    def __init__(self, c, dim, tokens):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv1d(c, dim, 3, padding=1), nn.GELU())
        self.pool = nn.AdaptiveAvgPool1d(tokens)

    def forward(self, x):
        return self.pool(self.stem(x.transpose(-1, -2))).transpose(-1, -2)
