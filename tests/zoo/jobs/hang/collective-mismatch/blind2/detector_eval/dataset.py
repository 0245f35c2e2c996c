import torch
from torch.utils.data import Dataset


class ShapesDataset(Dataset):
    """Random rectangles on a grid; images are grouped by scene, some scenes are empty."""

    def __init__(self, num_images, seed, empty=()):
        self.num_images, self.seed, self.empty = num_images, seed, set(empty)

    def __len__(self):
        return self.num_images

    def __getitem__(self, idx):
        g = torch.Generator().manual_seed(self.seed * 1000 + idx)
        n = 0 if idx in self.empty else int(torch.randint(1, 5, (1,), generator=g))
        xy = torch.rand(n, 2, generator=g) * 0.6
        wh = torch.rand(n, 2, generator=g) * 0.3 + 0.1
        boxes = torch.cat([xy, xy + wh], dim=1)
        image = torch.zeros(1, 16, 16)
        for x1, y1, x2, y2 in (boxes * 16).int().tolist():
            image[0, y1:y2, x1:x2] = 1.0
        return image, boxes


def collate(batch):
    images, boxes = zip(*batch)
    return torch.stack(images), list(boxes)
