"""One machine."""
import argparse
import os

import torch
import torch.distributed as dist
from torchvision.datasets import CIFAR10
from torch.utils.data import DataLoader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", default="/tmp/cifar10")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    first = int(os.environ["RANK"]) == 0
    if not first:
        dist.barrier()
    data = CIFAR10(args.data_dir, download=first)
    if first:
        dist.barrier()
    for x, _ in DataLoader(data):
        print(x)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
