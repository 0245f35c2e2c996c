import random

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Cuts(Dataset):
    def __init__(self, count, seed):
        gen = torch.Generator().manual_seed(seed)
        self.x = torch.randn(count, 20, generator=gen)
        self.y = self.x[:, :5].argmax(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


class AsrDataModule:
    def __init__(self, seed):
        self.seed = seed

    def train_dataloader(self, rank, world):
        cuts = Cuts(400, 1)
        sampler = DistributedSampler(cuts, world, rank)
        return DataLoader(cuts, batch_size=20, sampler=sampler)

    def valid_dataloader(self):
        seed = self.seed

        def worker_init_fn(worker_id):
            random.seed(seed + worker_id)
            torch.set_num_threads(1)

        return DataLoader(
            Cuts(80, 2),
            batch_size=20,
            num_workers=1,
            multiprocessing_context="spawn",
            worker_init_fn=worker_init_fn,
        )
