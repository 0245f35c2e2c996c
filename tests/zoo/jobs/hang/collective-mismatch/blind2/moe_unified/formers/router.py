import torch
from torch import nn


class TopOneRouter(nn.Module):

    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        with torch.no_grad():
            self.gate.weight.mul_(0.02)
            self.gate.weight[0, 0], self.gate.weight[1, 0] = 4.0, -4.0

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        weight, index = scores.max(-1)
        order = index.argsort(stable=True)
        counts = torch.bincount(index, minlength=scores.shape[-1])
        return weight, order, counts
