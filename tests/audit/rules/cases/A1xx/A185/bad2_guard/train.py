"""Under a test of the rank, with the folder in the program."""
import argparse
import os

import torch
import torch.distributed as dist
from torchvision.datasets import CIFAR10
from torch.utils.data import DataLoader


CACHE = os.path.join(os.environ["TMPDIR"], "tokens.pt")


def main():
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        torch.save(torch.arange(9), CACHE)
    dist.barrier()
    tokens = torch.load(CACHE, weights_only=True)
    CIFAR10("/shared/cifar10", download=dist.get_rank() == 0)
    for x in DataLoader(tokens):
        print(x)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
