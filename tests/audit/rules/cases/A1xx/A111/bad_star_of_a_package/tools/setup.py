import torch.distributed as dist

from .models import *


def start():
    dist.init_process_group("gloo")
    return dist.get_rank()
