import torch
import torch.distributed as dist



def fetch(x, y, peer):
    dist.isend(x, dst=peer)
    handle = dist.irecv(y, src=peer)
    return y * 2
