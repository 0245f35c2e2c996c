from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class DepthPairs(Dataset):
    def __init__(self, root, crop=224, seed=0):
        self.files = sorted(Path(root).glob("*.npz"))
        self.crop = crop
        self.draw = np.random.default_rng(seed)  # cause

    def __len__(self):
        return len(self.files)

    def _augment(self, rgb, depth):
        h, w = depth.shape
        top = int(self.draw.integers(0, h - self.crop + 1))  # cause
        left = int(self.draw.integers(0, w - self.crop + 1))  # cause
        rgb = rgb[:, top : top + self.crop, left : left + self.crop]
        depth = depth[top : top + self.crop, left : left + self.crop]
        if self.draw.random() < 0.5:  # cause
            rgb, depth = rgb[:, :, ::-1], depth[:, ::-1]
        gain = self.draw.uniform(0.8, 1.2, size=(3, 1, 1)).astype(np.float32)
        return np.ascontiguousarray(rgb * gain), np.ascontiguousarray(depth)

    def __getitem__(self, i):
        with np.load(self.files[i]) as z:
            rgb, depth = z["rgb"].astype(np.float32) / 255.0, z["depth"].astype(np.float32)
        rgb, depth = self._augment(rgb, depth)
        return torch.from_numpy(rgb), torch.from_numpy(depth)


def build(root, batch, seed):
    ds = DepthPairs(root, seed=seed)  # cause
    order = DistributedSampler(ds, shuffle=True, seed=seed, drop_last=True)
    return DataLoader(ds, batch_size=batch, sampler=order, num_workers=6, pin_memory=True), order  # cause
