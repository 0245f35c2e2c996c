import torch
from torch.utils.data import Dataset


class Conformers(Dataset):
    """Fragments and proteins pockets in one set: positions, charges, energy."""

    def __init__(self, count=768, seed=4):
        g = torch.Generator().manual_seed(seed)
        small = torch.randint(8, 20, (count // 2,), generator=g)
        large = torch.randint(40, 60, (count - count // 2,), generator=g)
        self.sizes = torch.cat([small, large])[torch.randperm(count, generator=g)]
        self.items = []
        for n in self.sizes.tolist():
            pos = torch.randn(n, 3, generator=g)
            z = torch.randint(0, 5, (n,), generator=g)
            d = torch.cdist(pos, pos) + torch.eye(n)
            self.items.append((pos, z, (1.0 / d).mean() + 0.1 * z.float().mean()))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad_collate(items):
    n = max(len(z) for _, z, _ in items)
    pos = torch.zeros(len(items), n, 3)
    z = torch.zeros(len(items), n, dtype=torch.long)
    mask = torch.zeros(len(items), n)
    for i, (p, q, _) in enumerate(items):
        pos[i, :len(q)], z[i, :len(q)], mask[i, :len(q)] = p, q, 1.0
    return pos, z, mask, torch.stack([e for *_, e in items])
