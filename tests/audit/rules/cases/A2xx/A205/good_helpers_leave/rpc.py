"""The helpers leave early, by the barrier that rank 0 comes to at its end."""
import torch
import torch.distributed as dist
from torch.distributed import rpc


def run(pipe, inputs):
    if dist.get_rank() != 0:
        rpc.shutdown()
        dist.barrier()
        return
    for x in inputs:
        total = torch.zeros(1)
        if x.numel() > 8:
            dist.all_reduce(total)
        pipe(x)
    rpc.shutdown()
    dist.barrier()
