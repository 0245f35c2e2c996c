import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from callbacks import EarlyStopping, NanGuard
from trainer import Trainer


def make(n, seed, noise=0.1):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    return x, x.sum(1, keepdim=True) + noise * torch.randn(n, 1, generator=g)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    x, y = make(256, 1)
    x[40, 2] = float("inf")
    dataset = TensorDataset(x, y)
    loader = DataLoader(dataset, 16, sampler=DistributedSampler(dataset, shuffle=False))
    model = DDP(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    guard = NanGuard()
    valid = make(64, 10 + rank, noise=0.1 if rank == 0 else 3.0)
    trainer = Trainer(model, loader, valid, optimizer, [guard, EarlyStopping(patience=2, min_delta=0.05)], max_epochs=60)
    ended = trainer.train()
    print(f"rank {rank} ended after epoch {ended}, {guard.skipped} updates skipped", flush=True)
    dist.barrier()
    dist.destroy_process_group()
