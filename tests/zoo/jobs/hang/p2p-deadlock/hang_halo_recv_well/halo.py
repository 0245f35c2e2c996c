import torch
import torch.distributed as dist


def exchange_halo(u, rank):
    """Replaces the outer cell at the side of the neighbour by the neighbour's edge."""
    neighbour = 1 - rank
    mine, ghost = (-2, -1) if rank == 0 else (1, 0)
    received = torch.empty(u.shape[:2])
    if rank == 0:
        dist.send(u[..., mine].contiguous(), dst=neighbour)
        dist.recv(received, src=neighbour)
    else:
        dist.recv(received, src=neighbour)
        dist.send(u[..., mine].contiguous(), dst=neighbour)
    u = u.clone()
    u[..., ghost] = received
    return u
