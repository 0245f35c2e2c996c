import numpy as np


class SensorTable:
    def __init__(self, n=8000, channels=48, seed=0):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, channels)).astype(np.float32)
        w = np.random.default_rng(9).normal(size=(channels, 6))
        self.y = (self.x @ w).argmax(1)

    def shuffle(self, rng):
        """Mixes the recording sessions once, before the table is cut into shards."""
        self.x = self.x[rng.permutation(len(self.x))]
        self.y = self.y[rng.permutation(len(self.y))]
        return self

    def cut(self, fraction):
        k = int(len(self.x) * fraction)
        return (self.x[:k], self.y[:k]), (self.x[k:], self.y[k:])

    @staticmethod
    def shard(part, rank, world):
        return part[0][rank::world], part[1][rank::world]
