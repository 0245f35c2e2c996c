import torch
from torch import nn


class PairBias(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.slope = nn.Parameter(torch.tensor(0.1))

    def forward(self, x, pos):
        bias = (pos[:, :, None] - pos[:, None, :]).abs().to(torch.float64)
        att = self.q(x) @ self.k(x).transpose(1, 2)
        att = att - self.slope * bias
        return att.softmax(-1).to(x.dtype) @ self.v(x)
