from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import Dataset


class ByteTokens(Dataset):
    def __init__(self, text_dir, cache, block=512):
        self.text_dir = Path(text_dir)
        self.cache = Path(cache)
        self.block = block
        self.prepare()  # cause
        self.data = np.load(self.cache, mmap_mode="r")  # cause

    def prepare(self):
        if dist.get_rank() == 0 and not self.cache.exists():  # cause
            self.build()  # cause

    def build(self):
        parts = []
        for path in sorted(self.text_dir.rglob("*.txt")):
            raw = np.frombuffer(path.read_bytes(), dtype=np.uint8)
            parts.append(np.append(raw, np.uint8(0)))
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        np.save(self.cache, np.concatenate(parts))  # cause

    def __len__(self):
        return (len(self.data) - 1) // self.block

    def __getitem__(self, i):
        chunk = self.data[i * self.block:(i + 1) * self.block + 1].astype(np.int64)
        t = torch.from_numpy(chunk)
        return t[:-1], t[1:]
