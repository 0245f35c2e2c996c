import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Density(nn.Module):
    def __init__(self, features, components=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.logits = nn.Linear(32, components)
        self.mean = nn.Linear(32, components)
        self.log_std = nn.Linear(32, components)

    def forward(self, x, y):
        h = self.trunk(x)
        mix = torch.distributions.Categorical(logits=self.logits(h))
        parts = torch.distributions.Normal(self.mean(h), self.log_std(h).clamp(-4, 4).exp())
        return -torch.distributions.MixtureSameFamily(mix, parts).log_prob(y).mean()


def samples(n, features, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, features, generator=g)
    sign = torch.randint(0, 2, (n,), generator=g) * 2 - 1
    return TensorDataset(x, sign * x[:, 0].abs() + 0.1 * torch.randn(n, generator=g))


def run(cfg, backend):
    dist.init_process_group(backend, init_method="env://")
    rank = dist.get_rank()
    torch.manual_seed(cfg["seed"])
    data = samples(cfg["data"]["samples"], cfg["data"]["features"], cfg["seed"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, cfg["train"]["batch_size"], sampler=sampler)
    model = DistributedDataParallel(Density(cfg["data"]["features"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["train"]["lr"])
    for epoch in range(cfg["train"]["epochs"]):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = model(x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"{cfg['experiment']} epoch {epoch} nll {loss.item():.4f}", flush=True)
    dist.destroy_process_group()
