import os

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main(data):
    sampler = DistributedSampler(data, num_replicas=int(os.environ["WORLD_SIZE"]), rank=int(os.environ["RANK"]))
    loader = DataLoader(data, sampler=sampler)
    check = DataLoader(data)  # the whole set, for rank 0
    dist.init_process_group("gloo")
    for batch in loader:
        print(batch, len(check))


if __name__ == "__main__":
    main(list(range(8)))
