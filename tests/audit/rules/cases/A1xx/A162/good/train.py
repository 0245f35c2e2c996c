import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    data = range(8)
    sampler = DistributedSampler(data, num_replicas=dist.get_world_size(), rank=dist.get_rank())
    local = data[local_rank :: torch.cuda.device_count()]
    return DataLoader(data, sampler=sampler), local


main()
