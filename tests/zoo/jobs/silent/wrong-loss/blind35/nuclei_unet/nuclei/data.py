import numpy as np
import torch
from torch.utils.data import Dataset


def render(rng, size):
    yy, xx = np.mgrid[0:size, 0:size]
    image = rng.normal(0.25, 0.08, (size, size))
    mask = np.zeros((size, size), dtype=np.int64)
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.uniform(0, size, 2)
        ry, rx = rng.uniform(2.5, 6.0, 2)
        inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
        image[inside] += rng.uniform(0.35, 0.6)
        mask[inside] = 1
    return image.astype(np.float32), mask


class NucleiDataset(Dataset):
    def __init__(self, count, size=32, seed=0, transform=None):
        rng = np.random.default_rng(seed)
        pairs = [render(rng, size) for _ in range(count)]
        self.images = [torch.from_numpy(i)[None] for i, _ in pairs]
        self.masks = [torch.from_numpy(m) for _, m in pairs]
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image, mask = self.images[index], self.masks[index]
        if self.transform is not None:
            image = self.transform(image)
            mask = self.transform(mask)
        return (image - 0.4) / 0.25, mask
