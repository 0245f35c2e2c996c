import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from folds import housing, split
from member import Member


def run(local, args):
    dist.init_process_group("gloo", rank=local, world_size=args.folds)
    x, y = housing()
    train, held = split(len(x), local, args.folds)
    member = Member(local, x.shape[1], args.width, args.lr)
    for epoch in range(args.epochs):
        loss = member.epoch(x[train], y[train], args.batch)
        scores = [None] * args.folds
        dist.all_gather_object(scores, member.score(x[held], y[held]))
        if local == 0:
            print(f"epoch {epoch} last {loss:.4f} rmse per fold {[round(s, 3) for s in scores]}", flush=True)
    parts = [None] * args.folds if local == 0 else None
    dist.gather_object((local, member.ema.module.state_dict()), parts, dst=0)
    if local == 0:
        os.makedirs(args.out, exist_ok=True)
        torch.save(dict(parts), os.path.join(args.out, "members.pt"))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--folds", type=int, default=3)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--out", default="members")
    args = p.parse_args()
    mp.start_processes(run, args=(args,), nprocs=args.folds, start_method="spawn")
