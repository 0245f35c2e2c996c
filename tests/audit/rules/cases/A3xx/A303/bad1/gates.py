import torch
import torch.nn.functional as F
from torch import nn


class Gate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        h = self.fc(x)
        gate = torch.sigmoid(h)
        h = gate * h
        gate *= 0.5
        return h + gate


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)

    def forward(self, x, mask):
        scores = self.q(x) @ self.k(x).transpose(-1, -2)
        weights = scores.softmax(dim=-1)
        weights.masked_fill_(mask, 0.0)
        return weights


class Residual(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.fc(x)
        x += F.gelu(self.norm(x))
        out = F.relu(self.fc(x))
        out += x
        return out
