"""Rectified flow on latent codes, see configs in train.sh."""
import argparse
import contextlib
import copy
import math
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class LatentDataset(Dataset):
    def __init__(self, size, dim, classes, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.centers = 3 * torch.randn(classes, dim, generator=g)
        self.labels = torch.randint(classes, (size,), generator=g)
        self.codes = self.centers[self.labels] + 0.4 * torch.randn(size, dim, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.codes[i], self.labels[i]


class Velocity(nn.Module):
    def __init__(self, dim, classes, width):
        super().__init__()
        self.label = nn.Embedding(classes + 1, width)
        self.time = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, width))
        self.inp = nn.Linear(dim, width)
        self.mid = nn.ModuleList([nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU()) for _ in range(3)])
        self.out = nn.Linear(width, dim)

    def forward(self, x, t, y):
        freq = torch.exp(-math.log(1000) * torch.arange(16) / 16)
        emb = torch.cat([(t[:, None] * freq * 10).sin(), (t[:, None] * freq * 10).cos()], 1)
        h = self.inp(x) + self.time(emb) + self.label(y)
        for block in self.mid:
            h = h + block(h)
        return self.out(h)


@torch.no_grad()
def update_ema(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.mul_(decay).add_(p.detach(), alpha=1 - decay)


def flow_loss(model, x1, y, drop, null):
    x0, t = torch.randn_like(x1), torch.rand(len(x1))
    y = torch.where(torch.rand(len(y)) < drop, torch.full_like(y, null), y)
    xt = (1 - t[:, None]) * x0 + t[:, None] * x1
    return (model(xt, t, y) - (x1 - x0)).square().mean()


@torch.no_grad()
def sample_error(ema, data, steps=20):
    y = torch.arange(len(data.centers)).repeat_interleave(32)
    x = torch.randn(len(y), data.codes.shape[1])
    for i in range(steps):
        x = x + ema(x, torch.full((len(y),), i / steps), y) / steps
    return (x - data.centers[y]).square().mean().item()


def main(args):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    assert args.global_batch_size % (world * args.micro_batch_size) == 0
    grad_accum_steps = args.global_batch_size // (world * args.micro_batch_size)
    torch.manual_seed(args.global_seed * world + rank)

    data = LatentDataset(args.num_samples, args.dim, args.num_classes)
    sampler = DistributedSampler(data, seed=args.global_seed)
    loader = DataLoader(data, args.micro_batch_size * grad_accum_steps, sampler=sampler, drop_last=True)
    model = Velocity(args.dim, args.num_classes, args.width)
    ema = copy.deepcopy(model).requires_grad_(False).eval()
    model = DDP(model)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0, betas=(0.9, 0.95))
    update_ema(ema, model.module, decay=0)

    step, t0 = 0, time.time()
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for codes, labels in loader:
            step_loss = 0.0
            for k in range(grad_accum_steps):
                lo, hi = k * args.micro_batch_size, (k + 1) * args.micro_batch_size
                opt.zero_grad(set_to_none=True)
                sync = contextlib.nullcontext() if k == grad_accum_steps - 1 else model.no_sync()
                with sync:
                    loss = flow_loss(model, codes[lo:hi], labels[lo:hi], args.cfg_drop, args.num_classes)
                    (loss / grad_accum_steps).backward()
                step_loss += loss.item() / grad_accum_steps
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            opt.step()
            update_ema(ema, model.module, args.ema)
            step += 1
            if step % args.log_every == 0:
                stat = torch.tensor(step_loss)
                dist.all_reduce(stat)
                if rank == 0:
                    print(f"(step={step:05d}) loss {stat.item() / world:.4f} {step / (time.time() - t0):.1f} it/s", flush=True)
    if rank == 0:
        print(f"sample mse {sample_error(ema, data):.3f}")
        os.makedirs(args.results, exist_ok=True)
        torch.save({"model": model.module.state_dict(), "ema": ema.state_dict(), "opt": opt.state_dict()}, f"{args.results}/{step:07d}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--global-batch-size", type=int, default=128)
    p.add_argument("--micro-batch-size", type=int, default=16)
    p.add_argument("--num-samples", type=int, default=4096)
    p.add_argument("--num-classes", type=int, default=6)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--width", type=int, default=96)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--ema", type=float, default=0.98)
    p.add_argument("--cfg-drop", type=float, default=0.1)
    p.add_argument("--global-seed", type=int, default=0)
    p.add_argument("--log-every", type=int, default=20)
    p.add_argument("--results", default="results")
    main(p.parse_args())
