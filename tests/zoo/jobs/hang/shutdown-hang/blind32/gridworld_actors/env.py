import numpy as np


class GridWorld:
    """An agent looks for the goal on a small torus; the observation is a picture of both."""

    def __init__(self, size=8, limit=40, seed=0):
        self.size, self.limit = size, limit
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.integers(0, self.size, 2)
        self.goal = self.rng.integers(0, self.size, 2)
        self.t = 0
        return self.picture()

    def picture(self):
        p = np.zeros((2, self.size, self.size), dtype=np.float32)
        p[0][tuple(self.pos)] = 1
        p[1][tuple(self.goal)] = 1
        return p

    def step(self, action):
        self.pos = (self.pos + [(0, 1), (0, -1), (1, 0), (-1, 0)][action]) % self.size
        self.t += 1
        won = bool((self.pos == self.goal).all())
        return self.picture(), 1.0 if won else -0.02, won or self.t >= self.limit
