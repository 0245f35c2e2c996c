import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from averaging import PeriodicAverage


def build_net(columns, width=256):
    layers = [nn.Linear(columns, width), nn.ReLU()]
    for _ in range(3):
        layers += [nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 1))


def synthetic(rows, columns):
    gen = torch.Generator().manual_seed(5)
    x = torch.randn(rows, columns, generator=gen)
    y = (x[:, :4].prod(1) > 0).float()
    return TensorDataset(x, y)


@torch.no_grad()
def accuracy(net, loader):
    hit = torch.zeros(2, dtype=torch.float64)
    for x, y in loader:
        hit[0] += ((net(x).squeeze(1) > 0) == y.bool()).sum()
        hit[1] += len(y)
    dist.all_reduce(hit)
    return (hit[0] / hit[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--every", type=int, default=16)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--rows", type=int, default=65536)
    args = p.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(11)
    net = build_net(32)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    mean = PeriodicAverage(net, args.every)
    data = synthetic(args.rows, 32)
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, 128, sampler=sampler, drop_last=True)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            mean.step()
        mean.average()
        acc = accuracy(net, loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {acc:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
