import random


def sentences(n, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        k = rng.randint(4, 12)
        out.append([f"w{int(rng.paretovariate(0.7)) % 900}" for _ in range(k)])
    return out


class Corpus:
    def __init__(self, n, seed, rank, world):
        self.full = n
        self.train = sentences(n, seed)[rank::world]
        self.dev = sentences(n // 10, seed + 1)
