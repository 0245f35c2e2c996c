import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main(data):
    sampler = DistributedSampler(data, shuffle=True)
    dist.init_process_group("nccl")
    for batch in DataLoader(data, sampler=sampler):
        print(batch)


if __name__ == "__main__":
    main(list(range(8)))
