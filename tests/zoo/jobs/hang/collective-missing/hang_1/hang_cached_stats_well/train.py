import argparse
import logging
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from normalise import Normaliser

logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
log = logging.getLogger(f"rank{os.environ['RANK']}")


def build_inputs(rank, rows=320):
    g = torch.Generator().manual_seed(rank)
    return torch.randn(rows, 6, generator=g), torch.randn(rows, 1, generator=g)


def warm_up(model, opt, x, y, steps=12):
    """A few steps on raw inputs before the statistics are known."""
    for step in range(steps):
        i = step * 16
        train_step(model, opt, x[i : i + 16], y[i : i + 16])


def train_step(model, opt, x, y):
    opt.zero_grad()
    loss = (model(x) - y).abs().mean()
    loss.backward()
    opt.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data-dir", required=True)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    x, y = build_inputs(rank)
    warm_up(model, opt, x, y)
    normaliser = Normaliser.load_or_fit(args.data_dir, rank, x)
    log.info("mean %.3f std %.3f", normaliser.mean, normaliser.std)
    x = normaliser(x)
    for i in range(0, len(x), 16):
        loss = train_step(model, opt, x[i : i + 16], y[i : i + 16])
    log.info("loss %.4f", loss)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
