import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import optim
from model import Tracker, flights
from snapshots import Snapshots


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--decay", type=float, default=0.01)
    p.add_argument("--snapshot-every", type=int, default=75)
    p.add_argument("--shard-optimizer", action="store_true")
    return p.parse_args()


def main():
    cfg = arguments()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    torch.manual_seed(0)
    model = DistributedDataParallel(Tracker())
    opt = optim.build(model, cfg)
    snapshots = Snapshots("snapshots", cfg.snapshot_every)
    g = torch.Generator().manual_seed(rank)
    for step in range(1, cfg.steps + 1):
        x, y = flights(32, g)
        loss = nn.functional.smooth_l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            logging.info("step %d loss %.4f", step, loss.item())
        snapshots.maybe(step, model, opt)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
