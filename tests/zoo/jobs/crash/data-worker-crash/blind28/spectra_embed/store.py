"""Pairs of spectra on disk: one flat float32 file, so that workers share its pages."""
import json
from pathlib import Path

import numpy as np
from torch.utils.data import Dataset

BINS = 512


class PairStore:
    """The pool of training pairs. `rebuild` keeps only pairs that are still hard, as the miner asks for."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data = self.folder / "pairs.f32"
        self.meta = self.folder / "pairs.json"

    def create(self, count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        peaks = rng.random((count, 1, BINS), dtype=np.float32) ** 8
        noise = rng.normal(0, 0.02, (count, 2, BINS)).astype(np.float32)
        self._write((peaks + noise).astype(np.float32))

    def rebuild(self, keep: np.ndarray) -> None:
        kept = np.array(self.open()[keep])
        self._write(kept)

    def _write(self, pairs: np.ndarray) -> None:
        pairs.tofile(self.data)
        self.meta.write_text(json.dumps({"count": len(pairs)}))

    def __len__(self) -> int:
        return json.loads(self.meta.read_text())["count"]

    def open(self) -> np.memmap:
        return np.memmap(self.data, dtype=np.float32, mode="r", shape=(len(self), 2, BINS))


class SpectrumPairs(Dataset):
    def __init__(self, store: PairStore):
        self.store = store
        self.count = len(store)
        self.pairs = None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.pairs is None:
            self.pairs = self.store.open()
        pair = np.array(self.pairs[index])
        scale = np.abs(pair).max() + 1e-6
        return pair / scale, index
