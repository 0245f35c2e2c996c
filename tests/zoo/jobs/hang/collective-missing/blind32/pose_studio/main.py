import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from callbacks import BestModel, ProgressReporter, TrainingController
from trainer import Trainer


class Keypoints(Dataset):
    """One bright spot an animal's nose; the target is its blurred position."""

    def __init__(self, n=256, size=24):
        g = torch.Generator().manual_seed(0)
        self.xy = torch.randint(3, size - 3, (n, 2), generator=g)
        self.noise = 0.2 * torch.rand(n, 1, size, size, generator=g)
        self.grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"), -1).float()

    def __len__(self):
        return len(self.xy)

    def __getitem__(self, i):
        d = ((self.grid - self.xy[i].float()) ** 2).sum(-1)
        return self.noise[i] + torch.exp(-d / 2)[None], torch.exp(-d / 8)[None]


def unet():
    return nn.Sequential(nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.Conv2d(12, 12, 5, padding=2), nn.ReLU(),
                         nn.Conv2d(12, 1, 3, padding=1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=400)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--control", default="control")
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = Keypoints()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler)
    callbacks = [TrainingController(args.control), ProgressReporter(20), BestModel("best.pt")]
    Trainer(unet(), loader, sampler, args.lr, callbacks).fit(args.epochs)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
