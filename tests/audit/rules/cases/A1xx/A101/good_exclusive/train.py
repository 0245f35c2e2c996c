import argparse

import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def single(data):
    return DataLoader(data, sampler=DistributedSampler(data, 1, 0))


def main(args, data):
    if not args.distributed:
        loader = single(data)
    else:
        dist.init_process_group("nccl")
        loader = DataLoader(data, sampler=DistributedSampler(data))
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main(argparse.ArgumentParser().parse_args(), list(range(8)))
