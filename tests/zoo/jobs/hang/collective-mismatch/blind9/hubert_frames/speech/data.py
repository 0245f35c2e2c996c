import torch
from torch.utils.data import Dataset


class FrameDataset(Dataset):
    def __init__(self, n=64, dim=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.feats = torch.randn(n, 20, dim, generator=g)
        self.lengths = torch.randint(8, 20, (n,), generator=g)
        self.lengths[37] = 0

    def __len__(self):
        return len(self.feats)

    def __getitem__(self, i):
        return self.feats[i], self.lengths[i]
