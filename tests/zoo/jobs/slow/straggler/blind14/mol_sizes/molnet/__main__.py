import argparse
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from .data import Conformers, pad_collate
from .model import DenseMP
from .sampler import SizeGroupedSampler


def train_epoch(model, loader, opt, epoch, rank):
    tic = time.perf_counter()
    for i, (pos, z, mask, energy) in enumerate(loader):
        pred = model(pos, z, mask)
        loss = torch.nn.functional.smooth_l1_loss(pred, energy)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if rank == 0 and i % 20 == 0:
            print(f"epoch {epoch} [{i}/{len(loader)}] loss {loss.item():.4f}", flush=True)
    return time.perf_counter() - tic


def main():
    p = argparse.ArgumentParser(prog="molnet")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--group-after", type=int, default=1)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = Conformers()
    sampler = SizeGroupedSampler(data.sizes, args.batch_size, rank, world, args.group_after)
    loader = DataLoader(data, args.batch_size, sampler=sampler, collate_fn=pad_collate, drop_last=True)
    model = DDP(DenseMP())
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        took = train_epoch(model, loader, opt, epoch, rank)
        if rank == 0:
            print(f"epoch {epoch} took {took:.1f}s, {took / len(loader) * 1e3:.0f} ms/step", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
