import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Glosses(Dataset):
    def __init__(self, count=480, words=64, length=12, seed=13):
        gen = torch.Generator().manual_seed(seed)
        table = torch.randperm(words, generator=gen)
        self.source = torch.randint(0, words, (count, length), generator=gen)
        self.target = table[self.source].roll(1, dims=1)

    def __len__(self):
        return len(self.source)

    def __getitem__(self, i):
        return self.source[i], self.target[i]


def loaders(batch, seed=0):
    data = Glosses()
    sampler = DistributedSampler(data, num_replicas=dist.get_world_size(), rank=dist.get_rank(), seed=seed, drop_last=True)
    return DataLoader(data, batch, sampler=sampler, drop_last=True), sampler
