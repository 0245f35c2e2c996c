import torch
import torch.distributed as dist
from torch import nn


class ExpertParallel:
    def __init__(self, members):
        self.members = list(members)
        self.rank = dist.get_rank()
        self.group = None

    def setup(self):
        if self.rank in self.members:
            self.group = dist.new_group(self.members)
        return self

    def average(self, module):
        if self.group is None:
            return
        for p in module.parameters():
            dist.all_reduce(p.grad, group=self.group)
            p.grad /= len(self.members)


class Layer(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.shared = nn.Linear(dim, dim)
        self.expert = nn.Linear(dim, dim) if experts else None

    def forward(self, x):
        h = torch.tanh(self.shared(x))
        return h if self.expert is None else h + self.expert(h)
