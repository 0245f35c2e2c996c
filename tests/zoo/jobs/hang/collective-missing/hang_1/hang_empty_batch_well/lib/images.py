import torch
from torch.utils.data import DataLoader, Dataset, default_collate


class Thumbnails(Dataset):
    def __init__(self, rank, count=96):
        self.g = torch.Generator().manual_seed(rank)
        self.images = torch.rand(count, 3, 12, 12, generator=self.g)
        self.labels = torch.randint(0, 4, (count,), generator=self.g)
        # as the download left them
        self.broken = {60, 61, 62, 63} if rank == 2 else {17, 40}

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        if i in self.broken:
            return None
        return self.images[i], self.labels[i]


def drop_broken(samples):
    good = [sample for sample in samples if sample is not None]
    if not good:
        # an empty batch still has its part in backward
        good = [(torch.zeros(3, 12, 12), torch.tensor(0))]
    return default_collate(good)


def loader_for(dataset, **options):
    return DataLoader(dataset, shuffle=False, **options)
