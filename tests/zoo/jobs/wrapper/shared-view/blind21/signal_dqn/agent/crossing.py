import numpy as np


class Crossing:
    """Two roads that cross: cars queue on four approaches, the action says which pair has green."""

    observations = 6
    actions = 2

    def __init__(self, seed, limit=60):
        self.rng = np.random.default_rng(seed)
        self.limit = limit

    def reset(self):
        self.queues = self.rng.integers(0, 6, size=4).astype(np.float32)
        self.phase, self.clock = 0, 0
        return self._observe()

    def _observe(self):
        return np.concatenate([self.queues / 20.0, [self.phase], [self.clock / self.limit]]).astype(np.float32)

    def step(self, action):
        switch = action != self.phase
        self.phase = int(action)
        arrivals = self.rng.poisson([0.9, 0.7, 0.4, 0.3])
        self.queues = np.minimum(self.queues + arrivals, 20)
        if not switch:
            served = slice(0, 2) if self.phase == 0 else slice(2, 4)
            self.queues[served] = np.maximum(self.queues[served] - 3, 0)
        self.clock += 1
        reward = -float(self.queues.sum()) / 20.0
        return self._observe(), reward, self.clock >= self.limit
