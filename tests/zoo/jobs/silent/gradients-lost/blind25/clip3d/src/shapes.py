import torch
from torch.utils.data import Dataset


class Shapes(Dataset):
    """Ellipsoids, described by five words: three bucketed radii, a tilt and a size."""

    def __init__(self, n, seed, points=64):
        g = torch.Generator().manual_seed(seed)
        code = torch.randint(10, (n, 5), generator=g)
        u = torch.nn.functional.normalize(torch.randn(n, points, 3, generator=g), dim=-1)
        radii = 0.3 + 0.12 * code[:, :3].float()
        pts = u * radii[:, None, :]
        pts[..., 0] += 0.15 * code[:, 3:4].float() * pts[..., 2]
        self.points = pts * (0.6 + 0.1 * code[:, 4].float())[:, None, None]
        self.tokens = code + 10 * torch.arange(5)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        return self.points[i], self.tokens[i]
