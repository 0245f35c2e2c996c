import torch
import torch.distributed as dist


class Ring:
    def __init__(self):
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()
        self.next = (self.rank + 1) % self.size
        self.previous = (self.rank - 1) % self.size

    def rotate(self, x):
        out = torch.empty_like(x)
        dist.recv(out, src=self.previous)  # cause
        dist.send(x, dst=self.next)  # cause
        return out
