import argparse
import logging
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from stations import StationFeed, mine

log = logging.getLogger("stations")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=24)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(12, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1)))
    opt = torch.optim.SGD(model.parameters(), 0.05)
    for epoch in range(a.epochs):
        total, rows = 0.0, 0
        with Join([model]) if world > 1 else nullcontext():
            for x, y in DataLoader(StationFeed(mine(rank, world), epoch), a.batch):
                loss = nn.functional.mse_loss(model(x).squeeze(1), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                total, rows = total + loss.item() * len(y), rows + len(y)
        stats = torch.tensor([total, rows])
        dist.all_reduce(stats)
        log.info("epoch %d rows %d loss %.3f", epoch, rows, stats[0] / stats[1])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
