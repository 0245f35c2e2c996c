import torch
from torch.distributed.tensor import DTensor


def local(t):
    return t.to_local() if isinstance(t, DTensor) else t  # cause


@torch.no_grad()
def clip_by_norm(params, limit, eps=1e-6):
    grads = [local(p.grad) for p in params if p.grad is not None]  # cause
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g.float()) for g in grads]))  # cause
    scale = (limit / (norm + eps)).clamp(max=1.0)  # cause
    for g in grads:
        g.mul_(scale.to(g.dtype))  # cause
    return norm
