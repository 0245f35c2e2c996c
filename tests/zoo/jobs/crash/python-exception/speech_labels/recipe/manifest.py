import random

import torch
from torch.nn.utils.rnn import pad_sequence

from recipe.vocab import LETTERS

WORDS = "we trained the model on many hours of read speech and it did well".split()


class Manifest:
    def __init__(self, size=240, seed=5):
        rng = random.Random(seed)
        self.rows = [" ".join(rng.choices(WORDS, k=4)) for _ in range(size)]
        self.rows[163] = "naïve " + self.rows[163]

    def shard(self, rank, world):
        return self.rows[rank::world]


def batches(rows, size):
    for start in range(0, len(rows), size):
        targets = [torch.tensor(LETTERS.encode(text)) for text in rows[start:start + size]]
        lengths = torch.tensor([len(t) for t in targets])
        features = [torch.randn(3 * n, 12) for n in lengths.tolist()]
        yield pad_sequence(features), lengths * 3, torch.cat(targets), lengths
