import torch
from torch.utils.data import Dataset


class Sessions(Dataset):
    """Click sessions of very different lengths; item 0 is the padding."""

    def __init__(self, n=3072, items=200, max_len=24, seed=1, markov_seed=9):
        w = torch.Generator().manual_seed(markov_seed)
        self.follow = torch.randint(1, items, (items, 4), generator=w)
        g = torch.Generator().manual_seed(seed)
        self.lengths = (3 + (max_len - 3) * torch.rand(n, generator=g) ** 2).long()
        self.choice = torch.randint(0, 4, (n, max_len + 1), generator=g)
        self.first = torch.randint(1, items, (n,), generator=g)
        self.max_len = max_len

    def __len__(self):
        return len(self.first)

    def __getitem__(self, i):
        seq = torch.zeros(self.max_len + 1, dtype=torch.long)
        item = int(self.first[i])
        for t in range(int(self.lengths[i]) + 1):
            seq[t] = item
            item = int(self.follow[item, self.choice[i, t]])
        return seq[:-1], seq[1:]
