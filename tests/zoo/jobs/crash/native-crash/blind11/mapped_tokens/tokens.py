import os
import random
import tempfile

import numpy as np
import torch


class TokenFile:
    """A rank's own copy of the tokens; new text is packed into it between epochs."""

    def __init__(self, rank):
        self.rank = rank
        self.path = os.path.join(tempfile.mkdtemp(), f"train_{rank}.bin")
        self.pack(2_000_000)
        self.data = np.memmap(self.path, dtype=np.uint16, mode="r")

    def pack(self, count):
        rng = np.random.default_rng(self.rank)
        rng.integers(0, 100, count, dtype=np.uint16).tofile(self.path)

    def refresh(self, epoch):
        if epoch == 2:
            self.pack(2_000_000 if self.rank != 1 else 1_200_000)

    def batch(self, size, block):
        starts = random.sample(range(len(self.data) - block - 1), size - 1) + [len(self.data) - block - 1]
        rows = [self.data[i:i + block + 1].astype(np.int64) for i in starts]
        both = torch.from_numpy(np.stack(rows))
        return both[:, :-1], both[:, 1:]
