import numpy as np


class Corpus:
    """Documents of very different lengths, the way crawled text comes."""

    def __init__(self, documents, vocab, seed):
        rng = np.random.default_rng(seed)
        self.lengths = rng.integers(40, 1600, size=documents)
        self.vocab, self.seed = vocab, seed

    def document(self, index):
        rng = np.random.default_rng((self.seed, index))
        start = rng.integers(0, self.vocab)
        steps = rng.choice([1, 1, 1, 2, 3], size=self.lengths[index])
        return ((start + np.cumsum(steps)) % self.vocab).astype(np.int32)

    def select(self, min_length):
        return np.flatnonzero(self.lengths >= min_length)
