import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from stats import BandStatistics


def make_tiles(rank, n=192, bands=4, size=24):
    g = torch.Generator().manual_seed(900 + rank)
    x = torch.randn(n, bands, size, size, generator=g) * 40 + 120
    y = (x.mean((2, 3)).argmax(1))
    return x, y


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--scratch-root", default="node_scratch")
    p.add_argument("--stats-version", type=int, default=3)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=1e-3)
    return p.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    scratch = os.path.join(args.scratch_root, os.environ.get("GROUP_RANK_OVERRIDE", str(rank)))
    torch.manual_seed(17)
    tiles, labels = make_tiles(rank)
    mean, std = BandStatistics(scratch, args.stats_version).get(tiles)
    tiles = (tiles - mean[:, None, None]) / std[:, None, None]

    net = nn.Sequential(nn.Conv2d(4, 16, 3), nn.BatchNorm2d(16), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))
    net = DDP(net.double() if tiles.dtype == torch.float64 else net)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        for i in torch.randperm(len(tiles)).split(16):
            loss = nn.functional.cross_entropy(net(tiles[i]), labels[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
