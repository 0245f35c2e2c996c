import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.left = nn.Linear(dim, dim)
        self.right = nn.Linear(dim, dim)

    def forward(self, a, b):
        return torch.sigmoid(self.left(a)) * b + self.right(b)


class FusionNet(nn.Module):
    def __init__(self, names, dim=48):
        super().__init__()
        self.image = nn.Linear(30, dim)
        self.lidar = nn.Linear(20, dim)
        self.gate = Gate(dim)
        self.heads = nn.ModuleDict({n: nn.Linear(dim, 4) for n in names})

    def forward(self, image, lidar, tasks):
        h = torch.relu(self.image(image))
        if lidar is not None:
            h = self.gate(h, torch.relu(self.lidar(lidar)))
        return {n: self.heads[n](h) for n in tasks}
