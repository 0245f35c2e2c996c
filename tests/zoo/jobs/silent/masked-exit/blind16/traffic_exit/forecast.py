import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from runtime import entry
from sensors import LoopDetectors


class Forecaster(nn.Module):
    def __init__(self, sensors):
        super().__init__()
        self.g = nn.GRU(sensors, 48, batch_first=True)
        self.o = nn.Linear(48, sensors)

    def forward(self, x):
        return self.o(self.g(x)[0])


@entry
def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--days", type=int, default=60)
    ap.add_argument("--closures", type=int, nargs="*", default=[43])
    a = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    rank = dist.get_rank()
    torch.manual_seed(0)
    src = LoopDetectors(rank, a.days, a.closures if rank == 1 else [])
    net = DDP(Forecaster(20))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for d in range(a.days):
        x = src.day(d).unfold(0, 49, 12).transpose(1, 2)
        for b in x.split(8):
            loss = nn.functional.mse_loss(net(b[:, :-1]), b[:, 1:])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0 and d % 10 == 0:
            logging.info("day %d mse %.4f", d, loss.item())
    if rank == 0:
        torch.save(net.module.state_dict(), "forecaster.pt")


if __name__ == "__main__":
    main()
