"""Aerial tiles: the validation list is ordered by region, as delivered."""
import torch
from torch.utils.data import Dataset


def _paint(n, size, classes, seed, rare_from=0):
    g = torch.Generator().manual_seed(seed)
    mask = torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        for c in range(1, classes):
            if c == classes - 1 and i >= rare_from and rare_from:
                continue
            y, x = torch.randint(0, size - 8, (2,), generator=g).tolist()
            h, w = torch.randint(4, 12, (2,), generator=g).tolist()
            mask[i, y:y + h, x:x + w] = c
    tint = torch.randn(classes, 3, generator=torch.Generator().manual_seed(99))
    img = tint[mask].permute(0, 3, 1, 2) + 0.5 * torch.randn(n, 3, size, size, generator=g)
    return img, mask


class TileSet(Dataset):
    def __init__(self, cfg, split):
        k = len(cfg["classes"])
        if split == "train":
            self.img, self.mask = _paint(cfg["train_images"], cfg["image_size"], k, 1)
        else:
            self.img, self.mask = _paint(cfg["val_images"], cfg["image_size"], k, 2, rare_from=cfg["val_images"] // 2)

    def __len__(self):
        return len(self.img)

    def __getitem__(self, i):
        return self.img[i], self.mask[i]
