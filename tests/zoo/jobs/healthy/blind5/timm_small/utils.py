from copy import deepcopy

import torch
import torch.distributed as dist


def distribute_bn(model, world_size, reduce=True):
    """After an epoch: one set of running statistics for all ranks."""
    for name, buf in model.named_buffers():
        if "running_mean" in name or "running_var" in name:
            if reduce:
                dist.all_reduce(buf)
                buf /= float(world_size)
            else:
                dist.broadcast(buf, 0)


class ModelEma:
    def __init__(self, model, decay):
        self.module = deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, m in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(m, alpha=1 - self.decay)
            else:
                e.copy_(m)


class AverageMeter:
    def __init__(self):
        self.sum = self.count = 0.0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)
