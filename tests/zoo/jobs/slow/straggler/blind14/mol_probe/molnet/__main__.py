import argparse
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from .data import Conformers, pad_collate
from .model import DenseMP
from .probes import build_probes
from .sampler import SizeGroupedSampler


class Context:
    def __init__(self, net):
        self.net = net
        self.epoch = self.step = 0
        self.loss = None


def train_epoch(model, loader, opt, ctx, probes):
    tic = time.perf_counter()
    for batch in loader:
        pos, z, mask, energy = batch
        pred = model(pos, z, mask)
        loss = torch.nn.functional.smooth_l1_loss(pred, energy)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        ctx.loss = loss.item()
        ctx.step += 1
        for probe in probes:
            probe.after_batch(ctx, batch)
    for probe in probes:
        probe.after_epoch(ctx)
    return time.perf_counter() - tic


def main():
    p = argparse.ArgumentParser(prog="molnet")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--group-after", type=int, default=1)
    p.add_argument("--log-every", type=int, default=24)
    p.add_argument("--probe-every", type=int, default=1)
    p.add_argument("--rotations", type=int, default=8)
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
    ctx, probes = Context(model.module), build_probes(rank, args)
    for epoch in range(args.epochs):
        ctx.epoch = epoch
        sampler.set_epoch(epoch)
        took = train_epoch(model, loader, opt, ctx, probes)
        if rank == 0:
            print(f"epoch {epoch} took {took:.1f}s, {took / len(loader) * 1e3:.0f} ms/step", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
