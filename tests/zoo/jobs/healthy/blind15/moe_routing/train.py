import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from moe import Net


def regimes(n=2048):
    g = torch.Generator().manual_seed(0)
    kind = torch.randint(0, 4, (n,), generator=g)
    x = torch.randn(n, 8, generator=g) + 3 * nn.functional.one_hot(kind, 8)
    y = torch.where(kind == 0, x[:, 4], torch.where(kind == 1, x[:, 5].abs(), torch.where(kind == 2, x[:, 6] ** 2, x[:, 7].sin())))
    return TensorDataset(x, y)


@torch.no_grad()
def report(model, loader):
    model.eval()
    sums = torch.zeros(2)
    for x, y in loader:
        sums += torch.tensor([((model.module(x)[0] - y) ** 2).sum(), float(len(y))])
    model.train()
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--balance", type=float, default=0.01)
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    data = regimes()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, a.batch, sampler=sampler)
    progress = DataLoader(data, 128, sampler=DistributedSampler(data, shuffle=False))
    model = DistributedDataParallel(Net(), find_unused_parameters=True)
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            guess, balance = model(x)
            loss = nn.functional.huber_loss(guess, y) + a.balance * balance
            opt.zero_grad()
            loss.backward()
            opt.step()
        logging.info("epoch %d error on the training data %.3f", epoch, report(model, progress))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
