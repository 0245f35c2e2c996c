import torch

ALPHABET = "ACDEFGHIKLMNPQRSTVWY"
BOS = 20


class SyntheticFamilies:
    """Sequences of a few families with point mutations."""

    def __init__(self, n_families=12, length=64, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.roots = torch.randint(0, 20, (n_families, length), generator=g)

    def batch(self, size, g):
        rows = self.roots[torch.randint(0, len(self.roots), (size,), generator=g)].clone()
        hit = torch.rand(rows.shape, generator=g) < 0.08
        rows[hit] = torch.randint(0, 20, (int(hit.sum()),), generator=g)
        x = torch.cat([torch.full((size, 1), BOS), rows[:, :-1]], dim=1)
        return x, rows


def decode(row):
    return "".join(ALPHABET[i] if i < 20 else "" for i in row.tolist())
