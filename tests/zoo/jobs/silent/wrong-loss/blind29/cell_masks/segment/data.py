import torch
from torch.utils.data import Dataset

from .transforms import get_transforms


def draw_cells(n, size, seed):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    images, masks = torch.zeros(n, 1, size, size), torch.zeros(n, 1, size, size)
    for i in range(n):
        for _ in range(int(torch.randint(2, 6, (), generator=g))):
            cy, cx = (torch.rand(2, generator=g) * size).tolist()
            ry, rx = (2.5 + 4 * torch.rand(2, generator=g)).tolist()
            inside = (((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2) < 1
            images[i, 0][inside] += 0.5 + 0.4 * float(torch.rand((), generator=g))
            masks[i, 0][inside] = 1.0
    images += 0.15 * torch.randn(images.shape, generator=g)
    return images, masks


class CellDataset(Dataset):
    def __init__(self, n, split, size=32):
        self.images, self.masks = draw_cells(n, size, seed={"train": 1, "val": 2}[split])
        self.image_transform, self.mask_transform = get_transforms(split, size)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        image = self.image_transform(self.images[idx])
        mask = self.mask_transform(self.masks[idx])
        return {"image": image, "mask": mask}
