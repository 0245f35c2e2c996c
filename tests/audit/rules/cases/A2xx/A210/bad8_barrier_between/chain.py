import torch.distributed as dist


def chain(x):
    rank, world = dist.get_rank(), dist.get_world_size()
    if rank != 0:
        dist.recv(x, src=rank - 1)
    dist.barrier()
    if rank != world - 1:
        dist.send(x, dst=rank + 1)
