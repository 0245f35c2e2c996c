import os
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


def encode(path):
    with open(path, "rb") as fh:
        for line in fh:
            yield from line
            yield 0


class PackedTokens(Dataset):
    def __init__(self, source, block, cache_dir=None):
        self.block = block
        self.source = Path(source)
        cache_dir = Path(cache_dir or os.environ.get("TOKEN_CACHE", "cache"))
        cache_dir.mkdir(parents=True, exist_ok=True)
        self.cache = cache_dir / f"{self.source.stem}.npy"
        self.ids = self._open()

    def _open(self):
        if not self.cache.exists():  # cause
            ids = np.fromiter(encode(self.source), dtype=np.uint16)
            np.save(self.cache, ids)  # cause
        return np.load(self.cache, mmap_mode="r")  # cause

    def __len__(self):
        return (len(self.ids) - 1) // self.block

    def __getitem__(self, i):
        at = i * self.block
        chunk = torch.from_numpy(self.ids[at : at + self.block + 1].astype(np.int64))
        return chunk[:-1], chunk[1:]
