import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from composer.loggers import InMemoryLogger, ProgressLogger, WeightHistogramLogger
from composer.trainer import Trainer


class ResidualMLP(nn.Module):

    def __init__(self, dim, depth):
        super().__init__()
        self.inp = nn.Linear(10, dim)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(dim, dim), nn.GELU()) for _ in range(depth)])
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.inp(x)
        for block in self.blocks:
            h = h + block(h)
        return self.out(h)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(21)
    x = torch.randn(320, 10)
    dataset = TensorDataset(x, (x[:, :3] ** 2).sum(1, keepdim=True))
    loader = DataLoader(dataset, 16, sampler=DistributedSampler(dataset))
    loggers = [InMemoryLogger(), WeightHistogramLogger(interval=2), ProgressLogger()]
    trainer = Trainer(ResidualMLP(32, 2), loader, dist.get_world_size(), loggers=loggers)
    trainer.fit()
    dist.destroy_process_group()
