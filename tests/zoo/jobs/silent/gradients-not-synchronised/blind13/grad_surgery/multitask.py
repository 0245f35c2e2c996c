import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from pcgrad import task_backward


class TwoHeads(nn.Module):
    def __init__(self, dim=64, width=384):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.cls, self.reg = nn.Linear(width, 5), nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.cls(h), self.reg(h).squeeze(1)


def table(n=3840):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 64, generator=g)
    return TensorDataset(x, (x[:, :5] + x[:, 5:10]).argmax(1), x.abs().mean(1))


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(0)
    model = DDP(TwoHeads())
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    params = list(model.parameters())
    data = table()
    sampler = DistributedSampler(data, seed=4)
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for x, y, z in loader:
            cls, reg = model(x)
            losses = nn.functional.cross_entropy(cls, y), nn.functional.mse_loss(reg, z)
            opt.zero_grad()
            task_backward(losses, params)
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} cls {losses[0].item():.3f} reg {losses[1].item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
