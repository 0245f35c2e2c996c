import torch
from torch.utils.data import Dataset


class Leaves(Dataset):
    """Small pictures of a texture per species; `domain` changes light and contrast."""

    def __init__(self, n, species, domain, seed, side=24):
        base = torch.Generator().manual_seed(species)
        freq = 1 + 4 * torch.rand(species, 2, generator=base)
        g = torch.Generator().manual_seed(seed)
        self.label = torch.randint(0, species, (n,), generator=g)
        phase = 6.28 * torch.rand(n, 2, 1, 1, generator=g)
        t = torch.linspace(0, 6.28, side)
        f = freq[self.label]
        self.image = torch.sin(f[:, 0, None, None] * t[None, :, None] + phase[:, 0]) \
            * torch.cos(f[:, 1, None, None] * t[None, None] + phase[:, 1])
        gain, light = (1.0, 0.0) if domain == "herbarium" else (0.6, 0.8)
        self.image = (gain * self.image + light + 0.3 * torch.randn(self.image.shape, generator=g)).unsqueeze(1)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.image[i], self.label[i]
