import os
from datetime import timedelta

import torch
import torch.distributed as dist


def pick_device():
    index = int(os.environ.get("RANK", "0"))  # cause
    device = torch.device("cuda", index)  # cause
    torch.cuda.set_device(device)  # cause
    return device


def join(device, minutes=30):
    dist.init_process_group("nccl", timeout=timedelta(minutes=minutes), device_id=device)
    return dist.get_rank(), dist.get_world_size()
