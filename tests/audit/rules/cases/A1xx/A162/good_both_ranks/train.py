import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def loader_of(data, rank, world):
    sampler = DistributedSampler(data, num_replicas=world, rank=rank)
    return DataLoader(data, 8, sampler=sampler), sampler


def main():
    rank, local, world = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    loader, sampler = loader_of(torch.rand(64, 4), rank, world)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in loader:
            print(rank, x.sum().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
