import os

import numpy as np
import torch
from torch.utils.data import Dataset


def prepare(folder, cases=4, depth=40, size=64, seed=0):
    rng = np.random.default_rng(seed)
    for c in range(cases):
        image = rng.integers(0, 255, (depth, size, size)).astype(np.float32)
        np.savez_compressed(os.path.join(folder, f"case{c}.npz"), image=image, mask=(image > 128).astype(np.uint8))


class Slices(Dataset):
    def __init__(self, folder, depth=40, size=48):
        self.files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".npz"))
        self.depth, self.size = depth, size

    def __len__(self):
        return len(self.files) * self.depth

    def case(self, i):
        z = np.load(self.files[i])
        return z["image"], z["mask"]

    def __getitem__(self, i):
        image, mask = self.case(i // self.depth)
        k, s = i % self.depth, self.size
        return torch.from_numpy(image[k, None, :s, :s] / 255), torch.from_numpy(mask[k, :s, :s]).long()
