import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.act = nn.GELU()

    def forward(self, x, mask):
        h = self.fc(x)
        h += x
        h = h + self.act(h)
        gate = torch.sigmoid(h)
        h = gate * h
        gate = 0.5 * gate
        a, b = h.chunk(2, dim=-1)
        a = a + b
        y = self.norm(h.clone())
        y += 1
        scores = y @ y.transpose(-1, -2)
        scores.masked_fill_(mask, float("-inf"))
        weights = scores.softmax(-1)
        out = weights @ h
        out += h
        count = 0
        count += 1
        return out + gate

    def pick(self, x):
        h = self.fc(x)
        if self.training:
            g = torch.tanh(h)
        else:
            g = h.clone()
        g *= 2
        return g

    @torch.no_grad()
    def sample(self, x):
        p = torch.softmax(self.fc(x), -1)
        p *= 0.9
        return p

    def counts(self, x):
        h = self.fc(x)
        best = torch.sigmoid(h).argmax(-1)
        best += 1
        parts = list(h.split(2))
        parts[0] = parts[0] + 1
        noise = F.relu(torch.randn(4))
        noise *= 0.1
        x = self.norm(x)
        x = F.relu(x)
        x[:, 0].detach().numpy()
        shared = x.expand(3, -1).clone()
        shared += 1
        return best, parts, noise, shared
