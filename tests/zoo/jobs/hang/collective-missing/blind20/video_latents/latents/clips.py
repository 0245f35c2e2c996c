import hashlib

import numpy as np


class ClipCatalog:
    """Clips as the capture stations deliver them: each station has its own typical length."""

    STATION_FRAMES = (24, 900)

    def __init__(self, clips, dim, seed):
        self.dim, self.seed = dim, seed
        self.entries = [(f"clip{i:05d}", self.STATION_FRAMES[i % 2]) for i in range(clips)]

    def frames(self, index):
        name, count = self.entries[index]
        rng = np.random.default_rng((self.seed, index))
        return rng.standard_normal((count, self.dim), dtype=np.float32)

    def checksum(self, index):
        digest = hashlib.sha256()
        for frame in self.frames(index):
            digest.update(hashlib.sha256(frame.tobytes()).digest())
        return digest.hexdigest()
