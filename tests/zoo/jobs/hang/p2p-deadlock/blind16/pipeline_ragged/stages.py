import torch
import torch.distributed as dist
from torch import nn


def make_stage(idx, width=32):
    torch.manual_seed(40 + idx)
    if idx == 0:
        return nn.Sequential(nn.Linear(8, width), nn.GELU(), nn.Linear(width, width))
    return nn.Sequential(nn.GELU(), nn.Linear(width, 4))


class Link:
    def __init__(self, peer, width=32):
        self.peer, self.width = peer, width

    def push(self, t):
        dist.send(torch.tensor(t.shape), self.peer)
        dist.send(t.detach().contiguous(), self.peer)

    def pull(self):
        shape = torch.zeros(2, dtype=torch.long)
        dist.recv(shape, self.peer)
        buf = torch.empty(*shape.tolist())
        dist.recv(buf, self.peer)
        return buf
