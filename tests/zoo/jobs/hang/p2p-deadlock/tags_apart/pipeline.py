import torch
import torch.distributed as dist
from torch import nn


class Stage(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.net = nn.Linear(6, 6)
        self.first = first


def tag_of(step, part, parts):
    return step * parts + part


def forward(stage, step, parts):
    for part in range(parts):
        if stage.first:
            out = stage.net(torch.randn(4, 6))
            dist.send(out.detach(), 1, tag=tag_of(step, part, parts))
        else:
            given = torch.empty(4, 6)
            dist.recv(given, 0, tag=step * 4 + part)
            stage.net(given).sum().backward()


def main():
    dist.init_process_group("gloo")
    stage = Stage(dist.get_rank() == 0)
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.1)
    for step in range(6):
        parts = 4 if step < 3 else 3
        forward(stage, step, parts)
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


main()
