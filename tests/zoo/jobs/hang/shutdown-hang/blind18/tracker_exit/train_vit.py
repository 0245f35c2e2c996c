import argparse
import logging
import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import tracker
from vit import TinyViT

log = logging.getLogger("vit")


def lr_at(step, total, peak, warm):
    if step < warm:
        return peak * step / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--warm", type=int, default=15)
    p.add_argument("--scalars", default="scalars.jsonl")
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(TinyViT())
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr)
    track = tracker.make(rank, a.scalars)
    g = torch.Generator().manual_seed(900 + rank)
    for step in range(a.steps):
        for group in opt.param_groups:
            group["lr"] = lr_at(step, a.steps, a.lr, a.warm)
        x = torch.randn(32, 16, 48, generator=g)
        y = x.mean(1)[:, :10].argmax(-1)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        track.scalar(step, loss=loss.item(), lr=opt.param_groups[0]["lr"])
    if rank == 0:
        log.info("trained, loss %.3f", loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
