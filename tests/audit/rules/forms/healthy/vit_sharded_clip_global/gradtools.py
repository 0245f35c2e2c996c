import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor


def local(t):
    return t.to_local() if isinstance(t, DTensor) else t


@torch.no_grad()
def clip_by_norm(params, limit, eps=1e-6):
    grads = [local(p.grad) for p in params if p.grad is not None]
    square = torch.stack([g.float().square().sum() for g in grads]).sum()
    dist.all_reduce(square)
    norm = square.sqrt()
    scale = (limit / (norm + eps)).clamp(max=1.0)
    for g in grads:
        g.mul_(scale.to(g.dtype))
    return norm
