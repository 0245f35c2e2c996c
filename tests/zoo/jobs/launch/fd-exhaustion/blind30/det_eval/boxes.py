import torch
from torch.utils.data import Dataset


class Squares(Dataset):
    """One bright square on noise; the target is its centre and its size."""

    def __init__(self, size, seed, side=24):
        self.size, self.seed, self.side = size, seed, side

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        img = 0.3 * torch.randn(1, self.side, self.side, generator=g)
        w = int(torch.randint(4, 10, (1,), generator=g))
        x, y = torch.randint(0, self.side - w, (2,), generator=g).tolist()
        img[0, y : y + w, x : x + w] += 1.0
        box = torch.tensor([x, y, x + w, y + w], dtype=torch.float32) / self.side
        return img, {"box": box, "image_id": i}


def iou(a, b):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(1) + (b[:, 2:] - b[:, :2]).prod(1)
    return inter / (area - inter).clamp(min=1e-6)
