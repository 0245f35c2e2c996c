import torch
from torch import nn


def make_graph(seed, nodes=20, edges=40):
    gen = torch.Generator().manual_seed(seed)
    index = torch.randint(0, nodes, (2, edges), generator=gen)
    if seed == 2017:
        index[1, 7] = nodes
    return torch.randn(nodes, 6, generator=gen), index


class GraphConv(nn.Module):
    def __init__(self, dim_in, dim_out):
        super().__init__()
        self.own = nn.Linear(dim_in, dim_out)
        self.neighbours = nn.Linear(dim_in, dim_out)

    def forward(self, x, edges):
        messages = torch.zeros_like(x).index_add_(0, edges[1], x[edges[0]])
        return self.own(x) + self.neighbours(messages)
