import numpy as np
import torch


class Sampler:
    def __init__(self, bank, batch, rank, world):
        self.rows = bank.view()
        self.batch = batch
        half = len(self.rows) // world
        self.lo, self.hi = rank * half, (rank + 1) * half
        self.rng = np.random.default_rng(rank)

    def draw(self):
        pick = self.rng.integers(self.lo, self.hi, self.batch)
        block = torch.from_numpy(np.ascontiguousarray(self.rows[np.sort(pick)]))
        return block[:, :-1], block[:, -1]
