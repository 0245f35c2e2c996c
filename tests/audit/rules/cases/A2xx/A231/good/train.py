import torch
import torch.distributed as dist
from torch import nn


class Plain(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.deep = deep
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 16)

    def forward(self, x, mask=None):
        x = self.first(x)
        if mask is not None:
            x = x * mask
        if x.shape[0] > 1:
            x = x - x.mean(0)
        return self.second(x) if self.deep else x


class Routed(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.ModuleList([nn.Linear(width, width) for _ in range(count)])

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            if (chosen == i).any():
                out = out + expert(x) * (chosen == i)[:, None]
        return out


class Touched(Routed):
    def __init__(self, width, count):
        super().__init__(width, count)
        self.experts = nn.ModuleList([nn.Linear(width, width) for _ in range(count)])

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x) + 0 * sum(p.sum() for p in self.experts.parameters())
        for i, expert in enumerate(self.experts):
            rows = torch.nonzero(chosen == i)
            if len(rows) == 0:
                continue
            out[rows] = expert(x[rows])
        return out


def average(model):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)


def average_all(model):
    for p in model.parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)


def norm_of_rank(model):
    total = torch.zeros((), device="cuda")
    for p in model.parameters():
        if p.grad is not None:
            total += p.grad.norm()
    dist.all_reduce(total)
    return total


def main(batches):
    dist.init_process_group("nccl")
    plain, routed = Plain(True).cuda(), Routed(16, 4).cuda()
    touched = Touched(16, 4).cuda()
    optimizer = torch.optim.SGD([*plain.parameters(), *routed.parameters()], lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        routed(plain(x.cuda())).mean().backward()
        average(plain)
        average(touched)
        average_all(routed)
        norm_of_rank(routed)
        optimizer.step()
    dist.destroy_process_group()
