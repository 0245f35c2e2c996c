import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def smooth_fields(days, size, seed):
    g = torch.Generator().manual_seed(seed)
    seeds = torch.randn(days, 1, size // 4, size // 4, generator=g)
    fine = F.interpolate(seeds, size=(size, size), mode="bicubic")
    return fine + 0.05 * torch.randn(days, 1, size, size, generator=g)


def loaders(options, rank, world):
    fine = smooth_fields(options["days"], options["coarse"] * options["factor"], options["seed"])
    coarse = F.avg_pool2d(fine, options["factor"])
    dataset = TensorDataset(coarse, fine)
    sampler = DistributedSampler(dataset, world, rank, seed=options["seed"])
    return DataLoader(dataset, options["batch_size"], sampler=sampler, drop_last=True)
