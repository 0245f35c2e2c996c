import argparse
import logging
from pathlib import Path

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from index import build_index, open_index

log = logging.getLogger(__name__)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--work-dir", type=Path, default=Path("work"))
    p.add_argument("--epochs", type=int, default=3)
    return p.parse_args()


def run_epoch(model, opt, rows, rank, world):
    mine = rows[rank::world]
    for i in range(0, len(mine), 8):
        x = mine[i : i + 8]
        opt.zero_grad()
        (model(x[:, :-1]) - x[:, -1:]).square().mean().backward()
        opt.step()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    rows = torch.randn(240, 6)
    model = DDP(torch.nn.Linear(5, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        if epoch > 0:
            if rank == 0:
                build_index(args.work_dir, rows, epoch)
            order = open_index(args.work_dir, epoch)
            rows = rows[order]
        run_epoch(model, opt, rows, rank, world)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
