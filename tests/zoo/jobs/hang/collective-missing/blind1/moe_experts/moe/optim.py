import torch
import torch.distributed as dist


def split_parameters(model):
    experts = [p for n, p in model.named_parameters() if ".expert." in n or n.startswith("expert.")]
    known = {id(p) for p in experts}
    return experts, [p for p in model.parameters() if id(p) not in known]


@torch.no_grad()
def average_shared(shared):
    for p in shared:
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


@torch.no_grad()
def clip_grad_norm_(experts, shared, max_norm):
    total = sum(p.grad.norm() ** 2 for p in shared)
    sharded = [p.grad for p in experts if p.grad is not None]
    if sharded:
        square = sum(g.norm() ** 2 for g in sharded)
        dist.all_reduce(square)
        total = total + square
    scale = (max_norm / (total.sqrt() + 1e-6)).clamp(max=1.0)
    for g in sharded + [p.grad for p in shared]:
        g.mul_(scale)
    return total.sqrt()
