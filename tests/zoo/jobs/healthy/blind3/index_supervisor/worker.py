import torch
import torch.distributed as dist
from torch import nn


class Worker:
    def __init__(self, rows, rank, world_size):
        torch.manual_seed(1)
        mine = torch.tensor(rows[rank::world_size], dtype=torch.float32)
        self.inputs, self.targets = mine[:, :1] / 240, mine[:, 1:] / 101
        self.model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
        self.world_size = world_size

    def step(self, lr=0.1):
        loss = nn.functional.mse_loss(self.model(self.inputs), self.targets)
        loss.backward()
        for param in self.model.parameters():
            dist.all_reduce(param.grad)
            param.data -= lr * param.grad / self.world_size
            param.grad = None
        return loss.item()
