import logging

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

log = logging.getLogger("data")


class Drafts(Dataset):
    def __init__(self, n=1200, block=6):
        self.n, self.block = n, block

    def __len__(self):
        return self.n

    def _read(self, i):
        gen = torch.Generator().manual_seed(i)
        length = int(torch.randint(2, 40, (1,), generator=gen))
        if i % 211 == 7:
            raise OSError(f"draft {i} is unreadable")
        return torch.randint(1, 80, (length,), generator=gen)

    def __getitem__(self, i):
        try:
            return self._read(i)
        except OSError as err:
            log.warning("%s, taking its neighbour", err)
            return self._read((i + 1) % self.n)


def collate(items):
    width = max(map(len, items))
    return torch.stack([torch.nn.functional.pad(t, (0, width - len(t))) for t in items])


def make_loader(batch=2):
    data = Drafts()
    sampler = DistributedSampler(data, seed=3)
    return DataLoader(data, batch, sampler=sampler, collate_fn=collate, num_workers=1), sampler
