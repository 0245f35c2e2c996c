"""Two views come out of one batch and are handed over by a star; targets and features ask for the same option."""

import argparse

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as between
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Contrast(nn.Module):
    def __init__(self, temperature, gather=False):
        super().__init__()
        self.temperature = temperature
        self.gather = gather and dist.is_initialized()

    def forward(self, one, two):
        one, two = F.normalize(one, dim=1), F.normalize(two, dim=1)
        count = one.shape[0]
        target = torch.arange(count, device=one.device)
        if self.gather:
            target = target + dist.get_rank() * count
        every = torch.cat(between.all_gather(two)) if self.gather else two
        return F.cross_entropy(one @ every.t() / self.temperature, target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gather", action="store_true")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    net = DistributedDataParallel(nn.Linear(3, 3))
    contrast = Contrast(0.1, gather=args.gather)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.load("views.pt", weights_only=True)):
        optimizer.zero_grad()
        contrast(*net(x).chunk(2)).backward()
        optimizer.step()
    dist.destroy_process_group()


main()
