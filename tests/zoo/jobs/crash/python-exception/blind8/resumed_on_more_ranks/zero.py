import torch
import torch.distributed as dist


class ShardedMomentum:
    """SGD with momentum; each rank keeps the momentum of its share of the tensors."""

    def __init__(self, model, lr, momentum=0.9):
        self.params = list(model.parameters())
        self.lr, self.momentum = lr, momentum
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.buffers = {i: torch.zeros_like(p) for i, p in enumerate(self.params) if i % self.world == self.rank}

    @torch.no_grad()
    def step(self):
        for i, parameter in enumerate(self.params):
            dist.all_reduce(parameter.grad)
            parameter.grad /= self.world
            if i in self.buffers:
                self.buffers[i].mul_(self.momentum).add_(parameter.grad)
                parameter.sub_(self.buffers[i], alpha=self.lr)
            dist.broadcast(parameter.data, src=i % self.world)
