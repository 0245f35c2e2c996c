import torch
import torch.nn.functional as F
from torch import nn


class PreActivation(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(dim, dim, 3, padding=1)

    def forward(self, x):
        h = self.conv(self.act(x))
        return h + x


class Cell(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.op = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(dim, dim, 1))

    def forward(self, x):
        return torch.cat([self.left(x), x], 1)

    def left(self, x):
        identity = x
        x = F.relu(x, inplace=True)
        y = self.op(x)
        return y + identity


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qk = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1, inplace=True)

    def forward(self, x):
        weights = self.qk(x).softmax(-1)
        weights = self.drop(weights)
        return weights


class Jitter(nn.Module):
    def forward(self, x):
        x *= torch.rand_like(x)
        return x.sum()


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.jitter = Jitter()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        weight = self.jitter(x)
        return weight * self.fc(x)
