import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Slides(Dataset):
    """Pollen slides on a file server."""

    def __init__(self, count):
        self.grains = torch.randn(count, 48, generator=torch.Generator().manual_seed(5))

    def __len__(self):
        return len(self.grains)

    def __getitem__(self, index):
        time.sleep(0.005)  # the file server
        return self.grains[index], self.grains[index, :4].argmax()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    slides = Slides(1280)
    sampler = DistributedSampler(slides)
    loader = DataLoader(slides, batch_size=16, sampler=sampler, num_workers=1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for grains, kind in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(grains), kind).backward()
            optimizer.step()
            time.sleep(0.02)  # stands for a device that computes
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
