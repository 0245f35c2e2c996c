import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from income import encode, make_table
from probes import ReliabilityProbe
from tabnet import TableNet


def shuffled(x, y, size, rank, world, epoch):
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(epoch))[rank::world]
    for idx in order.split(size):
        yield x[idx], y[idx]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--rows", type=int, default=16384)
    p.add_argument("--probe-from", type=int, default=1)
    p.add_argument("--probe-every", type=int, default=3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(31)
    cats, nums, y = make_table(args.rows, 1)
    x = encode(cats, nums)
    vc, vn, vy = make_table(2048, 2)
    model = DDP(TableNet())
    optim = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    probes = [ReliabilityProbe(encode(vc, vn), vy, args.probe_from, args.probe_every)]
    torch.manual_seed(500 + rank)
    model.train()
    for epoch in range(args.epochs):
        total = torch.zeros(())
        for n, (bx, by) in enumerate(shuffled(x, y, args.batch, rank, world, epoch), 1):
            loss = nn.functional.binary_cross_entropy_with_logits(model(bx), by)
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.detach()
        results = [probe(epoch, model.module) for probe in probes]
        if rank == 0:
            print(f"epoch {epoch} loss {total.item() / n:.4f} probes {results}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
