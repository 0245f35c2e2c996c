import torch
import torch.distributed as dist


def broadcast_params(module, src=0):
    for p in module.parameters():
        dist.broadcast(p.data, src)


class GradAverager:
    """Averages gradients over the world, tensor by tensor, after backward."""

    def __init__(self, module):
        self.module = module
        self.world = dist.get_world_size()

    def __call__(self):
        for p in self.module.parameters():
            if p.grad is None:
                continue
            dist.all_reduce(p.grad)
            p.grad.div_(self.world)


def gather_stats(stats):
    box = [None] * dist.get_world_size()
    dist.all_gather_object(box, stats)
    return {k: sum(b[k] for b in box) / len(box) for k in stats}
