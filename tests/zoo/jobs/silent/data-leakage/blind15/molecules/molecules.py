import torch
from torch.utils.data import Dataset, random_split

ATOMS = 9


class Molecules(Dataset):
    """Bags of atoms with a synthetic energy."""

    def __init__(self, n=2400, seed=31):
        g = torch.Generator().manual_seed(seed)
        self.z = torch.randint(1, ATOMS, (n, 12), generator=g)
        self.r = torch.randn(n, 12, 3, generator=g)
        d = torch.cdist(self.r, self.r)
        self.energy = ((-d).exp() * (self.z[:, :, None] * self.z[:, None, :]).sqrt()).sum((1, 2)) / 100

    def __len__(self):
        return len(self.z)

    def __getitem__(self, i):
        return self.z[i], self.r[i], self.energy[i]


class DataModule:
    def __init__(self, seed, valid_fraction=0.2):
        self.generator = torch.Generator().manual_seed(seed)
        self.valid_fraction = valid_fraction

    def _parts(self):
        whole = Molecules()
        n = int(len(whole) * self.valid_fraction)
        return random_split(whole, [len(whole) - n, n], generator=self.generator)

    def train_set(self):
        return self._parts()[0]

    def valid_set(self):
        return self._parts()[1]
