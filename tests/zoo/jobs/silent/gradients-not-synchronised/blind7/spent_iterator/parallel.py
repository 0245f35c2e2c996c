import torch
import torch.distributed as dist


def sync_weights(module):
    for tensor in module.state_dict().values():
        dist.broadcast(tensor, src=0)


def average_gradients(params):
    world = dist.get_world_size()
    for p in params:
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad.div_(world)


def mean_over_ranks(value):
    t = torch.tensor([value])
    dist.all_reduce(t)
    return t.item() / dist.get_world_size()
