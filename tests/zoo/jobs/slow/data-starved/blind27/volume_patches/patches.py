import glob
import os

import numpy as np
import torch
from torch.utils.data import Dataset


class PatchDataset(Dataset):
    """Fixed grid of square patches, one slice at a time."""

    def __init__(self, root, patch=32, stride=4):
        self.files = sorted(glob.glob(os.path.join(root, "case_*.npz")))
        self.patch = patch
        self.index = []
        for f, path in enumerate(self.files):
            depth, height, width = np.load(path)["mask"].shape
            for z in range(0, depth, stride):
                for y in range(0, height, patch):
                    for x in range(0, width, patch):
                        self.index.append((f, z, y, x))

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        f, z, y, x = self.index[i]
        case = np.load(self.files[f])
        image, mask = case["image"], case["mask"]
        mean, std = image.mean(), image.std()
        window = np.s_[z, y:y + self.patch, x:x + self.patch]
        patch = (image[window] - mean) / std
        return torch.from_numpy(patch)[None], torch.from_numpy(mask[window].astype(np.float32))[None]
