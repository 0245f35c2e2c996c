"""A module that makes one of its own kind: only calls that end would be made, and the linter comes to an end."""
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Tree(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = Tree()
        self.leaf = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.leaf(self.branch(x))


model = DDP(Tree())
model(torch.ones(1, 2)).sum().backward()
