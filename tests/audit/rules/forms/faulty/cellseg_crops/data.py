from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class CropFlip:
    def __init__(self, size, seed):
        self.size = size
        self.rng = np.random.default_rng(seed)  # cause

    def __call__(self, img, mask):
        top = self.rng.integers(0, img.shape[0] - self.size)  # cause
        left = self.rng.integers(0, img.shape[1] - self.size)
        window = np.s_[top:top + self.size, left:left + self.size]
        img, mask = img[window], mask[window]
        if self.rng.random() < 0.5:
            img, mask = img[:, ::-1], mask[:, ::-1]
        return img.copy(), mask.copy()


class Micrographs(Dataset):
    def __init__(self, root, augment):
        self.images = sorted(Path(root, "img").glob("*.npy"))
        self.masks = [Path(root, "mask", p.name) for p in self.images]
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, mask = self.augment(np.load(self.images[i]), np.load(self.masks[i]))
        return torch.from_numpy(img).float()[None] / 255, torch.from_numpy(mask).float()[None]


def train_loader(cfg):
    data = Micrographs(cfg.root, CropFlip(cfg.crop, cfg.seed))  # cause
    sampler = DistributedSampler(data, shuffle=True, seed=cfg.seed)
    return DataLoader(data, batch_size=cfg.batch, sampler=sampler, num_workers=8, persistent_workers=False)  # cause
