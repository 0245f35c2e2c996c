import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from app import telemetry


class Signals(Dataset):
    def __init__(self, size=64):
        generator = torch.Generator().manual_seed(5)
        self.x = torch.randn(size, 6, generator=generator)
        self.y = self.x.sum(1, keepdim=True)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        telemetry.count("samples")
        return self.x[index], self.y[index]


def make_loader(epoch):
    data = Signals()
    sampler = DistributedSampler(data, dist.get_world_size(), dist.get_rank(), seed=3)
    sampler.set_epoch(epoch)
    return DataLoader(data, batch_size=8, sampler=sampler, num_workers=2, multiprocessing_context="fork")
