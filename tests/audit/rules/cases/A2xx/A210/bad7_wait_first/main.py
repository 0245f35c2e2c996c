import torch
import torch.distributed as dist



def swap(x, y):
    peer = dist.get_rank() ^ 1
    handle = dist.isend(x, dst=peer)
    handle.wait()
    dist.recv(y, src=peer)
