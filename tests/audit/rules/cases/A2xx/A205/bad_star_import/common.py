import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def setup():
    dist.init_process_group("gloo")
    return dist.get_rank(), dist.get_world_size()
