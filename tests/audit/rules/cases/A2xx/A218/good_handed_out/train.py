import torch
import torch.distributed as dist


def start(x):
    return dist.all_reduce(x, async_op=True)


class Mean:
    def hook(self, x):
        work = dist.all_reduce(x, async_op=True)
        return work


dist.init_process_group("nccl")
