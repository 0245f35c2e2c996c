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


@torch.no_grad()
def all_gather_negatives(tensor):
    """Features of every rank as constants, this rank's block first."""
    rank, parts = dist.get_rank(), [torch.zeros_like(tensor) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, tensor)
    return torch.cat(parts[:rank] + parts[rank + 1:], dim=0)
