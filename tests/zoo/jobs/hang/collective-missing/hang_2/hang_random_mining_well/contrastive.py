"""Contrastive training of a toy embedding; hard negatives come from all ranks."""
import random
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mining import hardest_negatives

MINE = 0.15


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def info_nce(a, b, extra=None, t=0.2):
    logits = a @ b.T / t
    if extra is not None:
        logits = torch.cat([logits, a @ extra.T / t], dim=1)
    return F.cross_entropy(logits, torch.arange(len(a)))


def train(model, optimizer, steps=60):
    shared = random.Random(1234)
    for step in range(steps):
        x = torch.randn(16, 24)
        a, b = (F.normalize(model(x + 0.1 * torch.randn_like(x)), dim=1) for _ in range(2))
        extra = None
        if shared.random() < MINE:
            extra = hardest_negatives(a.detach(), count=8)
        loss = info_nce(a, b, extra)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    seed_everything(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 8)), broadcast_buffers=False)
    optimizer = torch.optim.AdamW(model.parameters())
    seed_everything(rank)
    print(f"rank {rank}: {train(model, optimizer):.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
