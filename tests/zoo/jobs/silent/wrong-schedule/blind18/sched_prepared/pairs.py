import torch
from torch.utils.data import Dataset


class SentencePairs(Dataset):
    def __init__(self, n, vocab, length, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.a = torch.randint(1, vocab, (n, length), generator=g)
        self.y = torch.randint(0, 2, (n,), generator=g)
        noise = torch.randint(1, vocab, (n, length), generator=g)
        keep = torch.rand(n, length, generator=g) < 0.5
        same = torch.where(keep, self.a, noise)
        self.b = torch.where(self.y[:, None] == 1, same, noise)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.a[i], self.b[i], self.y[i]
