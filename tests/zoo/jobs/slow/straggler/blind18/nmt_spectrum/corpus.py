import random

import torch


class Bitext:
    def __init__(self, n, vocab, seed):
        rng = random.Random(seed)
        self.vocab = vocab
        self.lengths = [min(64, 8 + int(rng.lognormvariate(2.7, 0.6))) for _ in range(n)]

    def batch(self, ids):
        width = max(self.lengths[i] for i in ids)
        x = torch.zeros(len(ids), width, dtype=torch.long)
        for row, i in enumerate(ids):
            g = torch.Generator().manual_seed(i)
            x[row, : self.lengths[i]] = torch.randint(1, self.vocab, (self.lengths[i],), generator=g)
        return x
