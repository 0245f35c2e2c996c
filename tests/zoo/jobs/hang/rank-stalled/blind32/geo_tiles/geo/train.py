import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from geo import cache as tile_cache

log = logging.getLogger("geo")


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 8, 4, 4), nn.ReLU(), nn.Conv2d(8, 16, 4, 4))
        self.dec = nn.Sequential(nn.ConvTranspose2d(16, 8, 4, 4), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 4))

    def forward(self, x):
        return self.dec(self.enc(x))


def prepare(cache, rank):
    if rank == 0:
        tile_cache.build(cache)
    dist.barrier()
    return torch.from_numpy(tile_cache.load(cache))[:, None]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cache", required=True)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=32)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank{rank} %(message)s")
    data = TensorDataset(prepare(args.cache, rank))
    log.info("%d tiles", len(data))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler)
    torch.manual_seed(0)
    model = DDP(AutoEncoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for (x,) in loader:
            loss = nn.functional.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if rank == 0:
            log.info("epoch %d loss %.4f", epoch, total / len(loader))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
