import json
import sys

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from trainer import DiffusionTrainer

if __name__ == "__main__":
    cfg = json.load(open(sys.argv[1]))
    dist.init_process_group("gloo")
    torch.manual_seed(cfg["seed"] + dist.get_rank())
    ds = TensorDataset(torch.randn(cfg["samples"], 16, generator=torch.Generator().manual_seed(1)))
    loader = DataLoader(ds, cfg["batch"], sampler=DistributedSampler(ds))
    DiffusionTrainer(cfg, loader).fit()
    dist.destroy_process_group()
