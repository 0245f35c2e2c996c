import torch
from torch import nn


class SAGE(nn.Module):
    def __init__(self, width, layers, inputs=16, classes=4):
        super().__init__()
        sizes = [inputs] + [width] * layers
        self.own = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.far = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(sizes, sizes[1:]))
        self.head = nn.Linear(width, classes)

    def forward(self, x, edges):
        degree = torch.zeros(len(x)).index_add(0, edges[1], torch.ones(edges.shape[1])).clamp(min=1)
        for own, far in zip(self.own, self.far):
            near = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]) / degree[:, None]
            x = torch.relu(own(x) + far(near))
        return self.head(x)
