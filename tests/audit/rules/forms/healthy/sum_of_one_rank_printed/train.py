import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Patience:
    def __init__(self, rounds):
        self.rounds, self.best, self.bad = rounds, float("inf"), 0

    def over(self, value):
        if value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.rounds


class Tally:
    def __init__(self, device):
        self.sums = torch.zeros(2, device=device)

    def add(self, loss, count):
        self.sums += torch.stack([loss.detach() * count, loss.new_tensor(count)])

    def mean(self):
        dist.reduce(self.sums, 0)
        return (self.sums[0] / self.sums[1]).item()


def validate(model, loader, device):
    tally = Tally(device)
    with torch.no_grad():
        for x in loader:
            tally.add(model.module(x.to(device)).square().mean(), len(x))
    return tally.mean()


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    rows = torch.load("rows.pt", map_location="cpu", weights_only=True)
    sampler = DistributedSampler(rows, drop_last=True)
    loader = DataLoader(rows, 32, sampler=sampler, drop_last=True)
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    patience = Patience(3)
    for epoch in range(30):
        sampler.set_epoch(epoch)
        for x in loader:
            opt.zero_grad(set_to_none=True)
            model(x.to(device)).square().mean().backward()
            opt.step()
        score = validate(model, loader, device)
        if dist.get_rank() == 0 and patience.over(score):
            print("no better for a while")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
