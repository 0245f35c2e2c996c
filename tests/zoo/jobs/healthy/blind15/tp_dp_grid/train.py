import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from grid import Grid
from parallel import Net


def table(n=2048):
    x = torch.randn(n, 10, generator=torch.Generator().manual_seed(5))
    return TensorDataset(x, x[:, 0] * x[:, 1] + x[:, 2:5].sin().sum(1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int, default=2)
    p.add_argument("--epochs", type=int, default=4)
    a = p.parse_args()
    dist.init_process_group("gloo")
    grid = Grid(a.tp)
    logging.basicConfig(level=logging.INFO if grid.rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    data = table()
    sampler = DistributedSampler(data, num_replicas=grid.dp, rank=grid.dp_index, seed=1)
    loader = DataLoader(data, 32, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(Net(grid), process_group=grid.dp_group)
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        logging.info("epoch %d loss %.4f", epoch, loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
