import collections
import random


def lines(n=600, seed=0):
    rnd = random.Random(seed)
    words = [f"tok{i}" for i in range(900)]
    return [" ".join(rnd.choices(words, weights=[1 / (i + 1) for i in range(900)], k=12)) for _ in range(n)]


class Corpus:
    def __init__(self, rows, rank, world):
        self.rows = rows[rank::world]

    def counts(self):
        return collections.Counter(w for row in self.rows for w in row.split())


class Vocab:
    def __init__(self, counts, min_count=2):
        kept = [w for w, c in counts.most_common() if c >= min_count]
        self.index = {w: i + 1 for i, w in enumerate(kept)}

    def __len__(self):
        return len(self.index) + 1

    def encode(self, row):
        return [self.index.get(w, 0) for w in row.split()]
