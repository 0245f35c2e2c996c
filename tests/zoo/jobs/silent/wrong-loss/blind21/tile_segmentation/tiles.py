import numpy as np
import torch
from torch.utils.data import Dataset

from transforms import Compose, RandomBrightness, RandomFlip, RandomRot90


def draw_tile(rng, size, classes):
    """A tile with a few filled rectangles of land-cover classes; the mask holds the class of each pixel."""
    mask = np.zeros((size, size), dtype=np.int64)
    for _ in range(rng.integers(2, 5)):
        y, x = rng.integers(0, size - 8, size=2)
        h, w = rng.integers(5, 16, size=2)
        mask[y:y + h, x:x + w] = rng.integers(1, classes)
    palette = np.array([[0.1, 0.3, 0.2], [0.6, 0.5, 0.1], [0.3, 0.4, 0.8]], dtype=np.float32)
    image = palette[mask] + 0.05 * rng.standard_normal((size, size, 3)).astype(np.float32)
    return image.transpose(2, 0, 1).astype(np.float32), mask


class TileDataset(Dataset):
    def __init__(self, count, settings, seed, train):
        rng = np.random.default_rng(seed)
        self.items = [draw_tile(rng, settings.size, settings.classes) for _ in range(count)]
        self.image_transform = self.mask_transform = None
        if train:
            a = settings.augment
            geometry = [RandomFlip(a.flip_p)] + ([RandomRot90()] if a.rotate else [])
            self.image_transform = Compose(geometry + [RandomBrightness(a.brightness)])
            self.mask_transform = Compose(geometry)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        image, mask = self.items[index]
        image, mask = torch.from_numpy(image), torch.from_numpy(mask)
        if self.image_transform is not None:
            image = self.image_transform(image)
            mask = self.mask_transform(mask)
        return image.contiguous(), mask.contiguous()
