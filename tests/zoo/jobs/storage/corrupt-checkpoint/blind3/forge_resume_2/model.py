import torch
from torch import nn


def build_model(cfg):
    torch.manual_seed(cfg.seed)
    return nn.Sequential(nn.Linear(cfg.dim, 32), nn.GELU(), nn.Linear(32, 1))


def sample(cfg, generator):
    x = torch.randn(cfg.batch_size, cfg.dim, generator=generator)
    return x, x.square().mean(dim=1, keepdim=True)
