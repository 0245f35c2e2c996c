import argparse

import torch
import torch.distributed as dist
import torch.distributed.nn
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Contrast(nn.Module):
    def __init__(self, across):
        super().__init__()
        self.across = across
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, one, two):
        every = two
        if self.across:
            every = torch.cat(torch.distributed.nn.all_gather(two), dim=0)
        n = one.shape[0]
        place = torch.arange(n, device=one.device)
        if self.across:
            place = place + n * dist.get_rank()
        return self.criterion(torch.matmul(one, every.t()) * 10.0, place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--across", action="store_true")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    net = DistributedDataParallel(nn.Linear(3, 3))
    contrast = Contrast(args.across)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader(torch.load("pairs.pt", weights_only=True)):
        optimizer.zero_grad()
        contrast(F.normalize(net(x)), F.normalize(net(y))).backward()
        optimizer.step()
    dist.destroy_process_group()


main()
