import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class ShuffledRecords(IterableDataset):
    """Records in a new order each epoch, cut by rank and worker."""

    def __init__(self, size, rank, world, seed=0):
        self.size, self.rank, self.world, self.seed = size, rank, world, seed
        self._epoch = 0
        g = torch.Generator().manual_seed(11)
        self.x = torch.randn(size, 16, generator=g)
        self.y = (self.x[:, :3].prod(1) > 0).long()

    def set_epoch(self, epoch):
        self._epoch = epoch

    def __iter__(self):
        info = get_worker_info()
        parts = self.world * (info.num_workers if info else 1)
        part = self.rank * (info.num_workers if info else 1) + (info.id if info else 0)
        order = np.random.default_rng(np.random.SeedSequence([self.seed, self._epoch])).permutation(self.size)
        for i in order[part::parts]:
            yield self.x[i], self.y[i]


def build(size, rank, world, batch_size, workers):
    return DataLoader(
        ShuffledRecords(size, rank, world),
        batch_size=batch_size,
        num_workers=workers,
        drop_last=True,
        prefetch_factor=2,
        persistent_workers=workers > 0,
    )
