import torch
import torch.distributed as dist



class Stage:
    def __init__(self):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def forward(self, x):
        if self.rank > 0:
            dist.recv(x, src=self.rank - 1)
        y = x * 2
        if self.rank < self.world - 1:
            dist.send(y, dst=self.rank + 1)
        return y

    def send_gradient(self, gradient):
        if self.rank > 0:
            dist.send(gradient, dst=self.rank - 1)

    def receive_gradient(self, gradient):
        if self.rank < self.world - 1:
            dist.recv(gradient, src=self.rank + 1)
