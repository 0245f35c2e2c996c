import torch
import torch.distributed as dist


def hierarchical_mean(tensor, topo):
    dist.reduce(tensor, dst=topo.head, group=topo.node)
    if topo.is_leader:
        dist.all_reduce(tensor, group=topo.leaders)
    dist.broadcast(tensor, src=topo.head, group=topo.node)
    return tensor.div_(topo.world)


def flatten_grads(params):
    return torch.cat([p.grad.reshape(-1) for p in params])


def write_back(params, flat):
    at = 0
    for p in params:
        n = p.numel()
        p.grad.copy_(flat[at : at + n].view_as(p))
        at += n
