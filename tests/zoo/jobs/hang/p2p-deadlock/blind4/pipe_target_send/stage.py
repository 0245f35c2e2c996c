"""One stage of a pipeline of dense blocks."""
import torch
import torch.distributed as dist
from torch import nn

WIDTH = 256
MICRO = 64


class PipelineStage(nn.Module):
    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world = rank, world
        self.block = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))

    @property
    def is_first(self):
        return self.rank == 0

    @property
    def is_last(self):
        return self.rank == self.world - 1

    def receive_activation(self):
        buffer = torch.empty(MICRO, WIDTH)
        dist.recv(buffer, src=self.rank - 1)
        return buffer.requires_grad_()

    def send_activation(self, out):
        dist.send(out.detach().contiguous(), dst=self.rank + 1)

    def receive_grad(self):
        buffer = torch.empty(MICRO, WIDTH)
        dist.recv(buffer, src=self.rank + 1)
        return buffer

    def send_grad(self, grad):
        dist.send(grad.contiguous(), dst=self.rank - 1)
