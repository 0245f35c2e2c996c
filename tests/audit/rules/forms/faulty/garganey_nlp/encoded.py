import hashlib
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


def words(text):
    return [int(hashlib.blake2s(w.encode(), digest_size=2).hexdigest(), 16) for w in text.lower().split()]


class Encoded(Dataset):
    def __init__(self, source, cache_dir, length=128):
        self.length = length
        tag = hashlib.sha1(f"{source}:{length}".encode()).hexdigest()[:12]
        cache = Path(cache_dir) / f"{tag}.npy"
        if not cache.exists():  # cause
            self._encode(Path(source), cache)  # cause
        self.rows = np.load(cache, mmap_mode="r")  # cause

    def _encode(self, source, cache):
        cache.parent.mkdir(parents=True, exist_ok=True)
        rows = []
        with open(source, encoding="utf-8") as f:
            for line in f:
                label, _, text = line.partition("\t")
                ids = words(text)[: self.length]
                rows.append([int(label)] + ids + [0] * (self.length - len(ids)))
        np.save(cache, np.asarray(rows, dtype=np.int32))  # cause

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = torch.from_numpy(np.array(self.rows[i], dtype=np.int64))
        return row[1:], row[0]
