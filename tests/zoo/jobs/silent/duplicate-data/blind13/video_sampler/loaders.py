import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Clips(Dataset):
    def __init__(self, n=1920, frames=8, dim=64):
        g = torch.Generator().manual_seed(0)
        self.clips = torch.randn(n, frames, dim, generator=g)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        return self.clips[i]


def build_loader(config, env):
    sampler = DistributedSampler(Clips(), num_replicas=env.world, rank=env.rank, shuffle=True, seed=env.seed, drop_last=True)
    return DataLoader(sampler.dataset, batch_size=config.batch_size, sampler=sampler, drop_last=True)
