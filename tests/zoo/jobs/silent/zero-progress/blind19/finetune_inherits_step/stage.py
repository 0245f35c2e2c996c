import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from engine import Engine

STAGES = {
    "pretrain": {"seed": 1, "shift": 0.0, "lr": 1e-3, "max_steps": 250, "out": "ckpt/base.pt", "init": None},
    "finetune": {"seed": 2, "shift": 1.5, "lr": 2e-4, "max_steps": 200, "out": "ckpt/domain.pt", "init": "ckpt/base.pt"},
}


def data(seed, shift, n=3200):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 32, generator=g) + shift
    y = ((x - shift)[:, :4].sum(1) > shift).long()
    return TensorDataset(x, y)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("stage", choices=sorted(STAGES))
    cfg = STAGES[p.parse_args().stage]
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 2))
    engine = Engine(model, cfg["lr"], cfg["max_steps"], cfg["out"])
    if cfg["init"]:
        engine.load(cfg["init"])
    train = data(cfg["seed"], cfg["shift"])
    engine.fit(DataLoader(train, 32, sampler=DistributedSampler(train)))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
