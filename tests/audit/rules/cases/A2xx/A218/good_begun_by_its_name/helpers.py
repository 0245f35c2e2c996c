import torch
import torch.distributed as dist

synchronize = torch.cuda.synchronize


def allreduce_async(x):
    x.div_(dist.get_world_size())
    dist.all_reduce(x, async_op=True)
