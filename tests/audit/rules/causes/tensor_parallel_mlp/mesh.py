import torch
import torch.distributed as dist


class Mesh:
    def __init__(self, tensor):
        rank, world = dist.get_rank(), dist.get_world_size()
        self.tensor = self.replica = None
        for first in range(0, world, tensor):
            group = dist.new_group(list(range(first, first + tensor)))
            if rank in range(first, first + tensor):
                self.tensor = group
        for column in range(tensor):
            group = dist.new_group(list(range(column, world, tensor)))
            if rank % tensor == column:
                self.replica = group

    def align_replicas(self, module):
        with torch.no_grad():
            for p in module.parameters():
                dist.broadcast(p, src=0, group=self.replica)  # cause

    def average(self, module):
        n = dist.get_world_size(self.replica)
        for p in module.parameters():
            dist.all_reduce(p.grad, group=self.replica)
            p.grad.div_(n)
