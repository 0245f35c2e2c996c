import numpy as np


class GridNav:
    """Agent on an n x n grid; reach the goal cell, -0.02 a step, +1 at the goal."""

    MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def __init__(self, n=6, limit=30, seed=0):
        self.n, self.limit = n, limit
        self.rng = np.random.default_rng(seed)

    def _obs(self):
        o = np.zeros((2, self.n, self.n), dtype=np.float32)
        o[0][tuple(self.pos)] = 1.0
        o[1][tuple(self.goal)] = 1.0
        return o.reshape(-1)

    def reset(self):
        self.pos = self.rng.integers(0, self.n, 2)
        self.goal = self.rng.integers(0, self.n, 2)
        while (self.pos == self.goal).all():
            self.goal = self.rng.integers(0, self.n, 2)
        self.t = 0
        return self._obs()

    def step(self, action):
        self.pos = np.clip(self.pos + np.array(self.MOVES[action]), 0, self.n - 1)
        self.t += 1
        reached = bool((self.pos == self.goal).all())
        reward = 1.0 if reached else -0.02
        return self._obs(), reward, reached, (not reached and self.t >= self.limit)
