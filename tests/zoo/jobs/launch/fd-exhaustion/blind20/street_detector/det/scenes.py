import torch
from torch.utils.data import Dataset


class StreetScenes(Dataset):
    """One object a scene; the box is regressed, its kind is classified."""

    def __init__(self, count, size, kinds, seed):
        self.count, self.size, self.kinds, self.seed = count, size, kinds, seed

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(self.seed * 4001 + index)
        kind = int(torch.randint(self.kinds, (1,), generator=g))
        y, x = torch.randint(0, self.size - 6, (2,), generator=g).tolist()
        image = torch.randn(1, self.size, self.size, generator=g) * 0.3
        image[0, y:y + 4 + kind, x:x + 4 + kind] += 1.5
        box = torch.tensor([y, x, 4.0 + kind, 4.0 + kind]) / self.size
        return {"image": image, "box": box, "kind": kind}
