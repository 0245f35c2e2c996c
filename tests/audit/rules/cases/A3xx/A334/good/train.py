"""Counts that are summed; running statistics; counts that nothing is computed with."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


class Codebook(torch.nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.size, self.decay = size, 0.99
        self.register_buffer("embed", torch.randn(size, dim))
        self.register_buffer("embed_avg", self.embed.clone())
        self.register_buffer("cluster_size", torch.ones(size))

    @torch.no_grad()
    def update(self, flat, code):
        onehot = F.one_hot(code, self.size).type_as(flat)
        counts = onehot.sum(0)
        dist.all_reduce(counts)
        self.cluster_size.mul_(self.decay).add_(counts, alpha=1 - self.decay)
        self.embed_avg.lerp_(onehot.t() @ flat, 1 - self.decay)
        self.embed.copy_(self.embed_avg / self.cluster_size.unsqueeze(1))

    def forward(self, x):
        code = torch.cdist(x, self.embed).argmin(1)
        if self.training:
            self.update(x.detach(), code)
        return F.embedding(code, self.embed)


def main(loader):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 3), Codebook(8, 3)).cuda())
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(torch.utils.data.DataLoader(torch.zeros(9, 3)))


class Normalized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        if self.training:
            self.mean.lerp_(x.detach().mean(0), 0.1)
        return x - self.mean


class Router(torch.nn.Module):
    """The counts are there to be logged, or for who reads them and sums them."""

    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(3, 4)
        self.register_buffer("tokens", torch.zeros(4))

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        self.tokens.add_(torch.bincount(chosen, minlength=4))
        return chosen


class Helped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sizes", torch.zeros(4))

    def forward(self, x):
        counts = torch.bincount(x.argmax(-1), minlength=4).float()
        self.sizes.lerp_(over_all(counts), 0.1)
        return x / self.sizes.sum()


def over_all(counts):
    dist.all_reduce(counts)
    return counts
