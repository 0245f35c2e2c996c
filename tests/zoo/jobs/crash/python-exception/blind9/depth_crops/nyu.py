import torch
from torch.utils.data import Dataset


class DepthCrops(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.depth = torch.rand(n, 16, 16, generator=g) * 10
        self.scene = torch.arange(n) // 24
        self.depth[self.scene == 3] = 0

    def __len__(self):
        return len(self.depth)

    def __getitem__(self, i):
        d = self.depth[i]
        if (d > 0).float().mean() < 0.2:
            return self[self.neighbour(i)]
        return d[None], d.mean()

    def neighbour(self, i):
        scene = self.scene[i]
        same = (self.scene == scene).nonzero().flatten()
        return int(same[(same > i).nonzero().flatten()[0]] if (same > i).any() else same[0])
