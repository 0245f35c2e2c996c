import os

import numpy as np


def write_corpus(prefix, documents, length, vocab, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, vocab, size=documents * length, dtype=np.int32)
    tokens.tofile(prefix + ".bin")
    np.full(documents, length, dtype=np.int32).tofile(prefix + ".idx")


class MMapIndexedDataset:
    """Reads documents from <prefix>.bin, with the lengths in <prefix>.idx."""

    def __init__(self, prefix):
        self.sizes = np.fromfile(prefix + ".idx", dtype=np.int32)
        self.pointers = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.tokens = np.memmap(prefix + ".bin", dtype=np.int32, mode="r")

    def __len__(self):
        return len(self.sizes)

    def get(self, idx):
        start = self.pointers[idx]
        return self.tokens[start : start + self.sizes[idx]]
