import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


@dataclass
class Plan:
    epochs: int = 5
    accumulate: int = 8

    def updates(self, batches):
        return self.epochs * batches // self.accumulate


class Rates:
    def __init__(self, opt, total):
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=total)

    def advance(self):
        self.schedule.step()


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    plan = Plan()
    rows = torch.load("rows.pt", map_location="cpu", weights_only=True)
    sampler = DistributedSampler(rows, drop_last=True)
    loader = DataLoader(rows, 32, sampler=sampler, drop_last=True)
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    rates = Rates(opt, plan.updates(len(loader)))
    for epoch in range(plan.epochs):
        sampler.set_epoch(epoch)
        for at, x in enumerate(loader, start=1):
            model(x.to(device)).square().mean().div(plan.accumulate).backward()
            if at % plan.accumulate == 0:
                opt.step()
                opt.zero_grad(set_to_none=True)
                rates.advance()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
