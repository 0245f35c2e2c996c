import torch
from torch.utils.data import Dataset


class Purchases(Dataset):
    def __init__(self, users=600, items=400, per_user=12, seed=8):
        g = torch.Generator().manual_seed(seed)
        taste = torch.randn(users, 8, generator=g)
        kind = torch.randn(items, 8, generator=g)
        top = (taste @ kind.T + torch.randn(users, items, generator=g)).topk(per_user, dim=1).indices
        self.pairs = torch.stack([torch.arange(users).repeat_interleave(per_user), top.flatten()], 1)
        self.users, self.items = users, items

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i, 0], self.pairs[i, 1]
