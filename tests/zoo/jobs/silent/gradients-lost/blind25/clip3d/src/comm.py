import torch
import torch.distributed as dist


def broadcast_parameters(model):
    for t in model.state_dict().values():
        dist.broadcast(t, 0)


def average_gradients(model):
    world = dist.get_world_size()
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= world


def concat_all_gather(tensor):
    parts = [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    return torch.cat(parts, dim=0)
