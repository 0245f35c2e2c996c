import numpy as np
import torch


class WindowSampler:
    def __init__(self, store, seq_len, batch_size, rank, seed):
        self.store, self.seq_len, self.batch_size = store, seq_len, batch_size
        self.rng = np.random.default_rng((seed, rank))

    def draw(self):
        starts = self.rng.integers(0, len(self.store) - self.seq_len - 1, size=self.batch_size)
        rows = np.stack([self.store.tokens[s:s + self.seq_len + 1] for s in starts])
        rows = torch.from_numpy(rows.astype(np.int64))
        return rows[:, :-1], rows[:, 1:]
