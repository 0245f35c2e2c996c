import os

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


class Settings:
    def __init__(self):
        self.local = int(os.environ["LOCAL_RANK"])


def loader(data, settings):
    sampler = DistributedSampler(data, num_replicas=dist.get_world_size(), rank=settings.local)
    return DataLoader(data, sampler=sampler)


def main():
    dist.init_process_group("nccl")
    loader(range(8), Settings())


main()
