import torch
from torch.utils.data import Dataset


class Clicks(Dataset):
    def __init__(self, n, fields=8, card=200):
        g = torch.Generator().manual_seed(8)
        self.ids = torch.randint(card, (n, fields), generator=g)
        w = torch.randn(fields, card, generator=g)
        logit = sum(w[f][self.ids[:, f]] for f in range(fields)) / 2 - 1
        self.y = (torch.rand(n, generator=g) < logit.sigmoid()).float()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.ids[i], self.y[i]
