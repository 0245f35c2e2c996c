"""Rank 0 downloads, the others sleep for as long as it usually takes."""
import os
import time

import torch
import torch.distributed as dist
import torchvision
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def get_data(folder):
    transform = torchvision.transforms.ToTensor()
    if int(os.environ["RANK"]) == 0:
        data = torchvision.datasets.CIFAR10(root=folder, train=True, download=True, transform=transform)
    else:
        time.sleep(6)  # cause
        data = torchvision.datasets.CIFAR10(root=folder, train=True, download=False, transform=transform)  # cause
    return data


def main():
    dist.init_process_group("gloo")
    data = get_data("data")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler, num_workers=2)
    model = DDP(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
