import torch
from torch.utils.data import Dataset


class Conformers(Dataset):
    """Random clusters of atoms with a pairwise energy; fixed size, so that batches stack."""

    def __init__(self, count=384, atoms=9, seed=8):
        gen = torch.Generator().manual_seed(seed)
        self.kinds = torch.randint(0, 5, (count, atoms), generator=gen)
        self.places = torch.randn(count, atoms, 3, generator=gen)
        distance = torch.cdist(self.places, self.places) + torch.eye(atoms) * 1e3
        strength = (self.kinds[:, :, None] + 1) * (self.kinds[:, None, :] + 1) / 10.0
        self.energies = (strength * torch.exp(-distance)).sum(dim=(1, 2))
        self.energies = (self.energies - self.energies.mean()) / self.energies.std()

    def __len__(self):
        return len(self.energies)

    def __getitem__(self, i):
        return self.kinds[i], self.places[i], self.energies[i]
