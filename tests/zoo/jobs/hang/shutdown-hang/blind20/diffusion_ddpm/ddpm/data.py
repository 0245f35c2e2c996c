import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def spiral(count, seed):
    g = torch.Generator().manual_seed(seed)
    r = torch.rand(count, generator=g) * 3
    points = torch.stack([r * torch.cos(3 * r), r * torch.sin(3 * r)], 1)
    return points + 0.05 * torch.randn(count, 2, generator=g)


def loader(cfg):
    dataset = TensorDataset(spiral(cfg["samples"], cfg["seed"]))
    sampler = DistributedSampler(dataset, seed=cfg["seed"])
    return DataLoader(dataset, cfg["batch_size"], sampler=sampler, drop_last=True)
