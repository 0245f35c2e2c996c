import logging
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from feed import TileFeed

SCENES = {k: {"classes": [k % 5, (k + 2) % 5, 4], "period": 3} for k in range(12) if k != 7}


def build():
    return nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, 5))


def main():
    logging.basicConfig(level=os.environ.get("LOGLEVEL", "INFO"), format="%(asctime)s %(message)s")
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    span = 1200 // world
    tiles = [t for t in range(rank * span, (rank + 1) * span)]
    torch.manual_seed(0)
    net = DistributedDataParallel(build())
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(2):
        for k, (x, y) in enumerate(TileFeed(tiles, SCENES, 8)):
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0 and k % 10 == 0:
                logging.info("epoch %d step %d loss %.3f", epoch, k, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
