import argparse
import copy
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from snap.policy import KeepBest
from snap.writer import BackgroundWriter

PHASES = ["main", "main", "main", "main", "swa", "swa"]


def batch(gen, n=32):
    x = torch.randn(n, 10, generator=gen)
    return x, (x[:, :3].square().sum(1) - x[:, 4])


def epoch_of(model, opt, gen, steps=25):
    total = 0.0
    for _ in range(steps):
        x, y = batch(gen)
        loss = (model(x).squeeze(-1) - y).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / steps


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default="snapshots")
    ap.add_argument("--every", type=int, default=1)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(10, 80), nn.Softplus(), nn.Linear(80, 1)))
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    writer = BackgroundWriter(args.out) if rank == 0 else None
    keep = KeepBest(args.every)
    gen = torch.Generator().manual_seed(rank)
    for epoch, phase in enumerate(PHASES * 2):
        score = epoch_of(model, opt, gen)
        logging.info("epoch %d %s %.4f", epoch, phase, score)
        if writer and keep.due(epoch):
            writer.submit(epoch, keep.label(epoch, phase, score), copy.deepcopy(model.module.state_dict()))
    if writer:
        writer.close()
        logging.info("best snapshot %s", writer.best())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
