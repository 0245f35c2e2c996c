import torch
from torch.utils.data import Dataset


class Demonstrations(Dataset):
    """Observations of a point mass and the chunk of actions that brings it to one of two goals."""

    def __init__(self, n=4096, horizon=8, seed=4):
        g = torch.Generator().manual_seed(seed)
        start = torch.randn(n, 2, generator=g)
        goal = torch.where(torch.rand(n, 1, generator=g) < 0.5, torch.tensor([2.0, 0.0]), torch.tensor([-2.0, 1.0]))
        ramp = torch.linspace(1 / horizon, 1, horizon).view(1, horizon, 1)
        path = (goal - start).unsqueeze(1) * ramp
        self.obs = torch.cat([start, start.pow(2)], dim=1)
        self.actions = path + 0.05 * torch.randn(n, horizon, 2, generator=g)

    def __len__(self):
        return len(self.obs)

    def __getitem__(self, i):
        return {"obs": self.obs[i], "actions": self.actions[i]}
