"""Each rank reads its own, and what one rank writes no other one reads."""
import argparse
import os

import torch
import torch.distributed as dist
from torchvision.datasets import CIFAR10
from torch.utils.data import DataLoader


def main():
    dist.init_process_group("nccl")
    data = CIFAR10(f"/tmp/cifar10_{os.environ['LOCAL_RANK']}", download=True)
    if dist.get_rank() == 0:
        torch.save(torch.arange(9), "/tmp/log.pt")
    if dist.get_rank() == 0:
        torch.save(torch.arange(9), "/tmp/both.pt")
    elif int(os.environ["LOCAL_RANK"]) == 0:
        torch.save(torch.arange(9), "/tmp/both.pt")
    dist.barrier()
    torch.load("/tmp/both.pt", weights_only=True)
    for x in DataLoader(data):
        print(x)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
