import os

import torch
import torch.distributed as dist
from torchvision.datasets import CIFAR10


def fetch(root):
    os.makedirs(root, exist_ok=True)
    distributed = dist.is_available() and dist.is_initialized()
    rank = dist.get_rank() if distributed else 0
    if rank == 0:
        CIFAR10(root, train=True, download=True)
    if distributed:
        dist.barrier()


def by_variable(root):
    distributed = dist.is_initialized()
    rank = dist.get_rank() if distributed else int(os.environ.get("RANK", "0"))
    if rank == 0:
        CIFAR10(root, download=True)


def read(root):
    distributed = dist.is_initialized()
    if distributed:
        torch.save({}, os.path.join(root, "seen.pt"))
    found = CIFAR10(root, download=False)
    if found and distributed:
        dist.barrier()
    return found
