import torch
import torch.distributed as dist
from torch import nn


class First(nn.Module):
    def __init__(self, micro):
        super().__init__()
        self.micro, self.layer = micro, nn.Linear(6, 10)

    def run(self, batch):
        parts = batch.split(self.micro)
        for part in parts:
            if len(part) < self.micro:
                continue
            dist.send(torch.relu(self.layer(part)).detach(), 1)


class Last(nn.Module):
    def __init__(self, micro):
        super().__init__()
        self.micro, self.layer = micro, nn.Linear(10, 1)

    def run(self, batch):
        count = -(-len(batch) // self.micro)
        total = 0.0
        for _ in range(count):
            hidden = torch.empty(self.micro, 10)
            dist.recv(hidden, 0)
            total += self.layer(hidden).square().mean().item()
        return total / count
