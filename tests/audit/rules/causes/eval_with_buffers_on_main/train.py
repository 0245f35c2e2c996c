"""Rank 0 alone evaluates through DDP: its forward broadcasts the buffers of batch norm."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.norm(self.conv(x)).relu().mean((1, 2, 3))


def evaluate(model, loader):
    model.train()
    total = 0.0
    for (x,) in loader:
        total += model(x).sum().item()
    return total


def main():
    dist.init_process_group("gloo")
    data = TensorDataset(torch.randn(64, 3, 8, 8))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    val = DataLoader(TensorDataset(torch.randn(16, 3, 8, 8)), batch_size=8)
    model = DDP(Block())
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            opt.zero_grad()
            model(x).mean().backward()
            opt.step()
        if dist.get_rank() == 0:  # cause
            print(epoch, evaluate(model, val))  # cause
    dist.destroy_process_group()


main()
