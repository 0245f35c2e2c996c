import argparse
import datetime
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from reporter import CheckpointReporter
from storage import ObjectStore


def make_batch(step, rank, world, size, features):
    g = torch.Generator().manual_seed(step * world + rank)
    x = torch.randn(size, features, generator=g)
    return x, x.cumsum(dim=1).sin()


def train_fn_per_worker(rank, world, init_file, args):
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format=f"(worker {rank}) %(levelname)s %(message)s")
    dist.init_process_group("gloo", init_method=f"file://{init_file}", rank=rank, world_size=world,
                            timeout=datetime.timedelta(seconds=120))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(args.features, 64), nn.Tanh(), nn.Linear(64, args.features)))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scratch = Path(tempfile.mkdtemp(prefix=f"worker{rank}_"))
    store = ObjectStore(args.storage, args.rate)
    reporter = CheckpointReporter(store)
    keys = []
    try:
        for step in range(1, args.steps + 1):
            x, y = make_batch(step, rank, world, args.batch_size, args.features)
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % args.checkpoint_every == 0:
                state = {"rng": torch.get_rng_state(), "step": step}
                if rank == 0:
                    state |= {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
                source = scratch / f"{step}.pt"
                torch.save(state, source)
                keys.append(f"checkpoint_{step:06d}/rank_{rank}.pt")
                reporter.report(source, keys[-1])
                if rank == 0:
                    logging.info("step %d loss %.4f", step, loss.item())
        reporter.finish()
        everything = [None] * world
        dist.all_gather_object(everything, [key for key in keys if store.has(key)])
        if rank == 0:
            store.index(sorted(sum(everything, [])))
            logging.info("%d files stored", sum(map(len, everything)))
        if reporter.repeated:
            logging.info("%d uploads had to be repeated", reporter.repeated)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--num-workers", type=int, default=2)
    p.add_argument("--steps", type=int, default=240)
    p.add_argument("--checkpoint-every", type=int, default=20)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--features", type=int, default=20)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--rate", type=int, default=3, help="writes a second that the store admits")
    p.add_argument("--storage", default="storage_root")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train_fn_per_worker, (args.num_workers, os.path.join(folder, "rendezvous"), args), nprocs=args.num_workers)


if __name__ == "__main__":
    main()
