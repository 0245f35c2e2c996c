import torch
import torch.distributed as dist


class GradientBuckets:
    """Averages gradients in flat buckets instead of one call per tensor."""

    def __init__(self, parameters, limit=4096):
        self.buckets, current, size = [], [], 0
        for parameter in parameters:
            if current and size + parameter.numel() > limit:
                self.buckets.append(current)
                current, size = [], 0
            current.append(parameter)
            size += parameter.numel()
        self.buckets.append(current)

    def average(self):
        world = dist.get_world_size()
        for bucket in self.buckets:
            flat = torch.cat([p.grad.reshape(-1) for p in bucket])
            dist.all_reduce(flat)
            flat /= world
            grads = [p.grad for p in bucket]
            for grad, piece in zip(grads, flat.split([g.numel() for g in grads])):
                grad = piece.view_as(grad)
