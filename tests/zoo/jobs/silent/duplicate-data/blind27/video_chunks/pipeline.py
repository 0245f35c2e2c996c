import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class ClipStore(Dataset):
    """Clips of a moving blob; the target is its velocity and its kind."""

    def __init__(self, count, frames=8, side=12, seed=0):
        rng = np.random.default_rng(seed)
        self.start = rng.uniform(2, side - 3, (count, 2))
        self.speed = rng.uniform(-0.6, 0.6, (count, 2))
        self.sigma = rng.uniform(0.8, 1.8, count)
        self.noise = rng.normal(scale=0.25, size=(count, frames, side, side)).astype(np.float32)
        self.frames = frames
        self.grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1)

    def __len__(self):
        return len(self.sigma)

    def __getitem__(self, i):
        t = np.arange(self.frames)[:, None]
        pos = self.start[i] + t * self.speed[i]
        dist2 = ((self.grid[None] - pos[:, None, None]) ** 2).sum(-1)
        clip = np.exp(-dist2 / (2 * self.sigma[i] ** 2)).astype(np.float32) + self.noise[i]
        return {"clip": torch.from_numpy(clip), "speed": torch.tensor(self.speed[i], dtype=torch.float32)}


def cycle(loader):
    epoch = 0
    while True:
        loader.sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def build_dataloader(config, rank, world, seed):
    dataset = ClipStore(config.clips, config.frames, config.side)
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank, shuffle=True, drop_last=True, seed=seed)
    return DataLoader(dataset, batch_size=config.batch_size, sampler=sampler, num_workers=config.num_workers,
                      persistent_workers=config.num_workers > 0, drop_last=True)
