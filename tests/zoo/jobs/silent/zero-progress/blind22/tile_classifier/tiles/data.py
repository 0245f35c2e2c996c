import numpy as np
import torch
from torch.utils.data import Dataset


def fake_archive(n, seed):
    """Satellite tiles with a land-use class, as they come out of the archive."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 5, n, dtype=np.int32)
    tone = np.linspace(0.1, 0.9, 5, dtype=np.float32)[label]
    tiles = tone[:, None, None, None] + 0.3 * rng.standard_normal((n, 3, 16, 16), dtype=np.float32)
    return {"tiles": tiles.astype(np.float32), "landuse": label}


class TileSet(Dataset):
    def __init__(self, archive):
        self.tiles = torch.from_numpy(archive["tiles"])
        self.landuse = torch.from_numpy(archive["landuse"])

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, i):
        return self.tiles[i], self.landuse[i]
