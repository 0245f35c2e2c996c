import numpy as np
import torch
from torch.utils.data import Dataset

DTYPE = np.uint16


def produce(path, documents, length=256, vocab=64, seed=0):
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, 4, size=(documents, length))
    (steps.cumsum(1) % vocab).astype(DTYPE).tofile(path)


def prune(path, scores, keep, length=256):
    """Keeps the documents with the highest scores."""
    docs = np.fromfile(path, dtype=DTYPE).reshape(-1, length)
    best = np.sort(np.argsort(-scores)[:keep])
    docs[best].tofile(path)
    return len(best)


class Documents(Dataset):
    def __init__(self, path, documents, length=256, window=48):
        self.path, self.documents, self.length, self.window = path, documents, length, window
        self._map = None

    def __len__(self):
        return self.documents

    def __getitem__(self, i):
        if self._map is None:
            self._map = np.memmap(self.path, dtype=DTYPE, mode="r").reshape(-1, self.length)
        at = int(torch.randint(0, self.length - self.window - 1, (1,)))
        row = torch.from_numpy(self._map[i, at:at + self.window + 1].astype(np.int64))
        return row[:-1], row[1:]
