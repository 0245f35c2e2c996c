import gc
import random

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from settings import Settings
from tiles import TileDataset
from unet import SmallUNet


class Trainer:
    def __init__(self, settings):
        self.s = settings
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(settings.seed)
        random.seed(settings.seed + self.rank)
        train = TileDataset(settings.tiles, settings, settings.seed, train=True)
        self.val = TileDataset(64, settings, settings.seed + 1, train=False)
        self.sampler = DistributedSampler(train, shuffle=True, seed=settings.seed)
        self.loader = DataLoader(train, batch_size=settings.batch_size, sampler=self.sampler)
        self.model = DistributedDataParallel(SmallUNet(settings.classes, settings.width))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.lr)

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        total = 0.0
        for image, mask in self.loader:
            loss = F.cross_entropy(self.model(image), mask)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        hits = torch.zeros(2)
        for image, mask in DataLoader(self.val, batch_size=32):
            hits[0] += (self.model.module(image).argmax(1) == mask).sum()
            hits[1] += mask.numel()
        return (hits[0] / hits[1]).item()

    def fit(self):
        for epoch in range(self.s.epochs):
            loss = self.train_epoch(epoch)
            accuracy = self.validate()
            if self.rank == 0:
                print(f"epoch {epoch} loss {loss:.4f} pixel accuracy {accuracy:.4f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Trainer(Settings()).fit()
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()
