import argparse
import glob
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from prefetch import Prefetcher
from records import write_shards

log = logging.getLogger("ctr")


class FM(nn.Module):
    def __init__(self, sizes=(500, 200, 8, 24), dim=12):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, dim) for n in sizes])
        self.head = nn.Sequential(nn.Linear(dim * len(sizes), 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.head(torch.cat([t(x[:, i]) for i, t in enumerate(self.tables)], 1)).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="clicks")
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--batch", type=int, default=64)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    if rank == 0:
        write_shards(args.data)
    dist.barrier()
    paths = sorted(glob.glob(os.path.join(args.data, "part-*.jsonl")))[rank::world]
    torch.manual_seed(0)
    model = DistributedDataParallel(FM())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(args.epochs):
        seen = 0
        for x, y in Prefetcher(paths, args.batch):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += len(y)
        log.info("epoch %d rows %d loss %.3f", epoch, seen, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
