import torch
from torch.utils.data import Dataset


class Queries(Dataset):
    """A user's vector, ``k`` candidate items and the index of the one that was clicked."""

    def __init__(self, n, k=8, dim=12, seed=0, noise=0.7, world_seed=99):
        w = torch.Generator().manual_seed(world_seed)
        rot = torch.linalg.qr(torch.randn(dim, dim, generator=w))[0]
        g = torch.Generator().manual_seed(seed)
        self.user = torch.randn(n, dim, generator=g)
        self.items = torch.randn(n, k, dim, generator=g)
        score = torch.einsum("nd,nkd->nk", self.user @ rot, self.items)
        self.click = (score / dim ** 0.5 + noise * torch.randn(n, k, generator=g)).argmax(1)

    def __len__(self):
        return len(self.click)

    def __getitem__(self, i):
        return self.user[i], self.items[i], self.click[i]
