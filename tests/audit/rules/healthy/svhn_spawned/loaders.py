import torch
import torch.distributed as dist
import torchvision.transforms as T
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import CIFAR10


def world():
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def cifar(root, train):
    steps = [T.ToTensor(), T.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26))]
    if train:
        steps = [T.RandomCrop(32, 4), T.RandomHorizontalFlip()] + steps
    return CIFAR10(root, train=train, download=False, transform=T.Compose(steps))


def make(root, batch_size):
    rank, size = world()
    train = cifar(root, True)
    sampler = DistributedSampler(train, num_replicas=size, rank=rank, shuffle=True)
    return DataLoader(train, batch_size, sampler=sampler, num_workers=4, drop_last=True), sampler
