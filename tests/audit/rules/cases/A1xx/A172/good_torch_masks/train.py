"""Dropout of units, of samples and of layers; a crop that is the same everywhere; noise that is made before."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.keep = 1 - p

    def forward(self, x):
        kept = (self.keep + torch.rand(x.shape[0], 1)).floor_()
        return x / self.keep * kept


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))
        self.register_buffer("fourier", torch.randn(width))

    def forward(self, x):
        return x * self.weight * self.fourier * (1 + 0.01 * torch.randn(x.shape[-1]))


class Net(nn.Module):
    def __init__(self, layers=4, width=16):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.drop, self.path, self.scaled = nn.Dropout(0.1), DropPath(0.1), Scaled(width)

    def forward(self, x):
        if torch.rand(()) < 0.1:
            return self.scaled(x)
        keep = torch.rand(x.shape[0], 1) > 0.1  # whose input is hidden, as for guidance
        x = x * keep
        for layer in self.layers:
            x = x + self.path(F.dropout(self.drop(layer(x)), 0.1, self.training))
        return self.scaled(x)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rows = torch.load("rows.pt", weights_only=True)
    rows = rows + 0.1 * torch.randn_like(rows)
    sampler = DistributedSampler(rows)
    loader = DataLoader(rows, 8, sampler=sampler)
    model = DistributedDataParallel(Net())
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for x in loader:
            width = int(torch.randint(8, 17, ()))
            loss = (model(x) - x)[:, :width].square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
