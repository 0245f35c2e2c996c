#!/usr/bin/env python
"""Masked-frame pre-training."""
import argparse
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from encoder import SpeechEncoder, masked_loss


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--layerdrop", type=float, default=0.05)
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--warmup", type=int, default=20)
    ap.add_argument("--lr", type=float, default=5e-4)
    ap.add_argument("--seed", type=int, default=1337)
    return ap.parse_args()


def utterances(n=256, frames=40, feat=16):
    g = torch.Generator().manual_seed(7)
    t = torch.linspace(0, 6.28, frames)[None, :, None]
    freq = torch.rand(n, 1, feat, generator=g) * 4
    return torch.sin(t * freq)


def infinite(loader, sampler):
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(args.seed)
    model = DistributedDataParallel(SpeechEncoder(layerdrop=args.layerdrop))
    torch.manual_seed(args.seed + rank)

    data = TensorDataset(utterances())
    sampler = DistributedSampler(data, num_replicas=world, rank=rank)
    batches = infinite(DataLoader(data, args.batch, sampler=sampler, drop_last=True), sampler)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / args.warmup))

    model.train()
    start = time.time()
    for step in range(args.steps):
        (feats,) = next(batches)
        mask = torch.rand(feats.shape[:2]) < 0.3
        mask[:, 0] = True
        pred = model(feats, mask)
        loss = masked_loss(pred, feats, mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if rank == 0 and step % 5 == 0:
            print(f"step {step:4d} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.2e} "
                  f"{(step + 1) / (time.time() - start):.1f} it/s", flush=True)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "step": args.steps}, "encoder.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
