"""Compressed spectrogram shards, kept in memory by a bounded cache that a thread fills ahead of training."""
import glob
import os
import threading
from collections import OrderedDict

import numpy as np


def synthesize(root, num_shards=10, per_shard=48, bins=64, frames=256, seed=0):
    os.makedirs(root, exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(num_shards):
        path = os.path.join(root, f"shard_{i:04d}.npz")
        if os.path.exists(path):
            continue
        label = rng.integers(0, 6, per_shard)
        spec = rng.standard_normal((per_shard, bins, frames)).astype(np.float32)
        for k, y in enumerate(label):
            spec[k, 8 * y : 8 * y + 10] += 1.5
        tmp = path + f".{os.getpid()}"
        with open(tmp, "wb") as f:
            np.savez_compressed(f, spec=spec, label=label)
        os.replace(tmp, path)


class ShardCache:
    def __init__(self, root, capacity):
        self.paths = sorted(glob.glob(os.path.join(root, "*.npz")))
        self.capacity = capacity
        self._entries = OrderedDict()
        self._lock = threading.Lock()

    def _read(self, index):
        with np.load(self.paths[index]) as z:
            return z["spec"], z["label"]

    def get(self, index):
        with self._lock:
            if index in self._entries:
                self._entries.move_to_end(index)
                return self._entries[index]
            entry = self._read(index)
            self._entries[index] = entry
            while len(self._entries) > self.capacity:
                self._entries.popitem(last=False)
            return entry

    def warm(self, indices):
        """Reads the shards in the background."""

        def fill():
            for i in indices:
                self.get(i)

        thread = threading.Thread(target=fill, name="shard-warmup", daemon=True)
        thread.start()
        return thread
