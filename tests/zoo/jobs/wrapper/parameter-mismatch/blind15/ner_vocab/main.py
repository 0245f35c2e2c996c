import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from setup_task import setup


def worker(rank, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=args.procs)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    task, model = setup(rank, args.procs, args.min_count)
    model = DistributedDataParallel(model)
    opt = torch.optim.Adam(model.parameters(), args.lr)
    g = torch.Generator().manual_seed(args.seed + rank)
    for epoch in range(args.epochs):
        for x, y in task.batches(args.batch, g):
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"[{rank}] epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--procs", type=int, default=2)
    parser.add_argument("--port", type=int, default=29741)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--min-count", type=int, default=1)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    mp.spawn(worker, args=(options,), nprocs=options.procs)
