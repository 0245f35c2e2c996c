import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from telemetry import registry


class TrajectoryDataset(Dataset):

    def __init__(self, n, length=16, seed=0):
        self.n, self.length, self.seed = n, length, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed + i)
        observations = torch.randn(self.length, 8, generator=g).cumsum(0)
        registry.increment("trajectories")
        return observations[:-1], observations[1:]


def build_loader(n, batch_size, workers):
    dataset = TrajectoryDataset(n)
    return DataLoader(dataset, batch_size, sampler=DistributedSampler(dataset), num_workers=workers)
