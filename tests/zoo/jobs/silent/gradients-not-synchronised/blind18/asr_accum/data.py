import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Keywords(Dataset):
    def __init__(self, n, classes, frames=50, mels=20):
        g = torch.Generator().manual_seed(77)
        self.labels = torch.randint(classes, (n,), generator=g)
        proto = torch.randn(classes, frames, mels, generator=g)
        self.feats = proto[self.labels] + 2.0 * torch.randn(n, frames, mels, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.feats[i], self.labels[i]


def build(n, classes, batch):
    ds = Keywords(n, classes)
    sampler = DistributedSampler(ds, seed=4)
    return sampler, DataLoader(ds, batch, sampler=sampler, drop_last=True)
