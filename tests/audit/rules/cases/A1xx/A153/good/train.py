import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(settings):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    torch.cuda.set_device(rank % torch.cuda.device_count())
    device = torch.device(f"cuda:{local_rank}")
    print(f"rank {rank} uses cuda:{local_rank}")
    return DistributedDataParallel(torch.nn.Linear(2, 1).to(device), device_ids=[settings.gpu])


def worker(rank, world):
    torch.cuda.set_device(rank)
