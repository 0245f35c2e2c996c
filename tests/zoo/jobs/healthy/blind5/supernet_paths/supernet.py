import torch
from torch import nn


class MixedLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.candidates = nn.ModuleList([
            nn.Sequential(nn.Linear(dim, dim), nn.ReLU()),
            nn.Sequential(nn.Linear(dim, dim // 2), nn.ReLU(), nn.Linear(dim // 2, dim)),
            nn.Sequential(nn.Linear(dim, dim), nn.Tanh()),
        ])

    def forward(self, x, choice):
        return x + self.candidates[choice](x)


class SuperNet(nn.Module):
    """Weight-sharing network; a path names one candidate a layer."""

    def __init__(self, dim=24, depth=3):
        super().__init__()
        self.stem = nn.Linear(8, dim)
        self.layers = nn.ModuleList(MixedLayer(dim) for _ in range(depth))
        self.head = nn.Linear(dim, 4)

    def forward(self, x, path):
        x = torch.relu(self.stem(x))
        for layer, choice in zip(self.layers, path):
            x = layer(x, choice)
        return self.head(x)


class PathSampler:
    """Strict fairness: in a step no two ranks try the same candidate of a layer."""

    def __init__(self, depth, num_candidates, seed):
        self.depth, self.num = depth, num_candidates
        self.g = torch.Generator().manual_seed(seed)

    def sample(self, rank):
        return [int(torch.randperm(self.num, generator=self.g)[rank]) for _ in range(self.depth)]
