import torch
from torch.utils.data import DataLoader, TensorDataset


def make_split(cfg, rank, part):
    gen = torch.Generator().manual_seed(cfg.seed * 100 + rank * 10 + (part == "valid"))
    x = torch.randn(cfg.rows_per_rank, cfg.features, generator=gen)
    y = x[:, :3].sum(1, keepdim=True) + 0.1 * torch.randn(cfg.rows_per_rank, 1, generator=gen)
    if part == "valid" and rank == 2:
        y = torch.randn(cfg.rows_per_rank, 1, generator=gen) * 4
    return TensorDataset(x, y)


def loaders(cfg, rank):
    train = DataLoader(make_split(cfg, rank, "train"), batch_size=cfg.batch_size, shuffle=True)
    valid = DataLoader(make_split(cfg, rank, "valid"), batch_size=cfg.batch_size)
    return train, valid
