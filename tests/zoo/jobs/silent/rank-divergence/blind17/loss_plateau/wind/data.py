import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def turbines(n, seed):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 14, generator=gen)
    power = torch.tanh(x[:, 0] * 1.5 + 0.3 * x[:, 1]).pow(3) + 0.2 * torch.randn(n, generator=gen)
    return TensorDataset(x, power)


def loaders(cfg, rank, world):
    train, valid = turbines(cfg["train"], 1), turbines(cfg["valid"], 2)
    ts = DistributedSampler(train, world, rank, shuffle=True, seed=5)
    vs = DistributedSampler(valid, world, rank, shuffle=False)
    return DataLoader(train, cfg["batch"], sampler=ts), DataLoader(valid, 32, sampler=vs), ts
