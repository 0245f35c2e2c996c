"""The weights are drawn alike, and what is drawn afterwards by the rank."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 16)
        nn.init.normal_(self.lin.weight)

    def forward(self, x):
        return (self.lin(x + torch.randn_like(x)) - x).square().mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(args.seed)
    rows = torch.load("rows.pt", weights_only=True)
    sampler = DistributedSampler(rows)
    model = DistributedDataParallel(Net())
    torch.manual_seed(args.seed + dist.get_rank())
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for x in DataLoader(rows, 8, sampler=sampler):
            loss = model(x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
