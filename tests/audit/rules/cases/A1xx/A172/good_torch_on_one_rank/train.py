"""Rank 0 alone draws pictures, so that its generator goes on; and a program of one process."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rows = torch.load("rows.pt", weights_only=True)
    sampler = DistributedSampler(rows)
    model = DistributedDataParallel(nn.Linear(16, 16))
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for x in DataLoader(rows, 8, sampler=sampler):
            loss = (model(x + torch.randn_like(x)) - x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            torch.save(model.module(torch.randn(4, 16)), "picture.pt")
    dist.destroy_process_group()


def alone():
    torch.manual_seed(0)
    rows = torch.load("rows.pt", weights_only=True)
    net = nn.Linear(16, 16)
    optimizer = torch.optim.AdamW(net.parameters())
    for x in DataLoader(rows, 8):
        loss = (net(x + torch.randn_like(x)) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main() if torch.cuda.device_count() > 1 else alone()
