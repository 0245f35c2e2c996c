import torch.distributed as dist


def synchronise():
    dist.monitored_barrier()
