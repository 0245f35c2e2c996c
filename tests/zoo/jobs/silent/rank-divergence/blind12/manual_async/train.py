import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from reducer import OverlappedReducer


class Mixer(nn.Module):
    def __init__(self, d=512):
        super().__init__()
        self.inp = nn.Linear(32, d)
        self.mid = nn.ModuleList(nn.Linear(d, d) for _ in range(3))
        self.out = nn.Linear(d, 8)

    def forward(self, x):
        h = torch.relu(self.inp(x))
        for layer in self.mid:
            h = h + torch.relu(layer(h)) * 0.5
        return self.out(h)


def make_data():
    g = torch.Generator().manual_seed(9)
    x = torch.randn(3072, 32, generator=g)
    w = torch.randn(32, 8, generator=g)
    return TensorDataset(x, (x @ w + 0.3 * torch.sin(3 * x[:, :8])).argmax(1))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(100)
    model = Mixer()
    reducer = OverlappedReducer(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    data = make_data()
    sampler = DistributedSampler(data, seed=1)
    loader = DataLoader(data, batch_size=16, sampler=sampler, drop_last=True)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            reducer.finish()
            opt.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total.item() / len(loader) / dist.get_world_size():.4f}", flush=True)
    if os.environ.get("DUMP"):
        print(rank, [round(p.double().sum().item(), 6) for p in model.parameters()], flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
