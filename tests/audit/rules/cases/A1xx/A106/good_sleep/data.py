"""A sleep before a barrier, and one that lets rank 0 print first."""
import os
import time

import torch.distributed as dist
import torchvision


def get(folder):
    if int(os.environ["RANK"]) == 0:
        torchvision.datasets.CIFAR10(root=folder, download=True)
    else:
        time.sleep(6)
    dist.barrier()
    return torchvision.datasets.CIFAR10(root=folder)


def say(text):
    if dist.get_rank() == 0:
        print(text)
    else:
        time.sleep(0.1)
