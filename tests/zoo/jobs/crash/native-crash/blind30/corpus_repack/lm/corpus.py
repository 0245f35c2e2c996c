"""Token file: one flat uint16 array, documents one after the other, the order changes from epoch to epoch."""
import os
import random

import numpy as np

WORDS = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "nrsl"]
VOCAB = len(WORDS) + 2
EOD = 1


def documents(count, seed):
    rng = random.Random(seed)
    docs = []
    for _ in range(count):
        topic = rng.randrange(len(WORDS) - 40)
        docs.append([WORDS[topic + min(39, int(rng.expovariate(0.15)))] for _ in range(rng.randrange(15, 60))])
    return docs


class Corpus:
    def __init__(self, docs, path):
        self.docs, self.path = docs, path
        self.index = {w: i + 2 for i, w in enumerate(WORDS)}

    def _encode(self, doc):
        return np.array([self.index[w] for w in doc] + [EOD], dtype=np.uint16)

    def pack(self, seed):
        """Writes all documents in the order of this seed, so that windows cross other borders."""
        order = list(range(len(self.docs)))
        random.Random(seed).shuffle(order)
        with open(self.path, "wb") as f:
            for i in order:
                f.write(self._encode(self.docs[i]).tobytes())


class Windows:
    """Random windows of the training part, fixed windows of the validation part (the last tenth)."""

    def __init__(self, path, length):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")
        self.length = length
        self.split = int(0.9 * len(self.tokens))

    def train_batch(self, n, rng):
        starts = rng.integers(0, self.split - self.length - 1, n)
        return self._take(starts)

    def val_batches(self, n, count):
        starts = np.linspace(self.split, len(self.tokens) - self.length - 1, n * count).astype(int)
        for k in range(count):
            yield self._take(starts[k * n : (k + 1) * n])

    def _take(self, starts):
        rows = np.stack([self.tokens[s : s + self.length + 1] for s in starts]).astype(np.int64)
        return rows[:, :-1], rows[:, 1:]
