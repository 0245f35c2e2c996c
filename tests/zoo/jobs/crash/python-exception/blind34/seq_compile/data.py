import torch
from torch.utils.data import Dataset, Sampler


class Notes(Dataset):
    """Tokenised notes of two clinics; the second one writes free text of any length."""

    def __init__(self, n, vocab, seed):
        g = torch.Generator().manual_seed(seed)
        self.site = torch.arange(n) % 2
        form = torch.tensor([32, 48])[torch.randint(0, 2, (n,), generator=g)]
        free = torch.randint(20, 61, (n,), generator=g)
        self.lengths = torch.where(self.site == 0, form, free)
        self.ids = [torch.randint(2, vocab, (int(k),), generator=g) for k in self.lengths]

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i]


class SiteSampler(Sampler):
    def __init__(self, data, site, seed):
        self.index = (data.site == site).nonzero().flatten()
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.index)

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(self.index[torch.randperm(len(self.index), generator=g)].tolist())


def collate(batch):
    width = max(len(t) for t in batch)
    out = torch.zeros(len(batch), width, dtype=torch.long)
    for row, t in enumerate(batch):
        out[row, :len(t)] = t
    return out
