import logging

import torch
from torch.utils.data import Dataset, Sampler

log = logging.getLogger("job.data")


class Records(Dataset):
    """Some records are damaged; they are replaced by their neighbour."""

    def __init__(self, n, seed, damaged=17):
        g = torch.Generator().manual_seed(seed)
        centres = torch.randn(5, 12, generator=torch.Generator().manual_seed(0))
        self.y = torch.randint(0, 5, (n,), generator=g)
        self.x = centres[self.y] + torch.randn(n, 12, generator=g)
        self.difficulty = (self.x - centres[self.y]).norm(dim=1)
        self.damaged = damaged

    def __len__(self):
        return len(self.y)

    def read(self, i):
        if self.damaged and i % self.damaged == self.damaged - 1:
            raise ValueError(f"record {i} has a wrong checksum")
        return self.x[i], self.y[i], i

    def __getitem__(self, i):
        try:
            return self.read(i)
        except ValueError as e:
            log.debug("%s, taking its neighbour", e)
            return self.read(i - 1)


class CurriculumSampler(Sampler):
    """Easy samples first; each epoch lets in more. All ranks draw one order and take turns."""

    def __init__(self, difficulty, rank, world, epochs, seed=0):
        self.order = difficulty.argsort()
        self.rank, self.world, self.epochs, self.seed, self.epoch = rank, world, epochs, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _pool(self):
        share = 0.4 + 0.6 * min(1.0, self.epoch / (self.epochs / 2))
        size = int(len(self.order) * share) // self.world * self.world
        return self.order[:size]

    def __len__(self):
        return len(self._pool()) // self.world

    def __iter__(self):
        pool = self._pool()
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(pool[torch.randperm(len(pool), generator=g)][self.rank::self.world].tolist())
